import type { Act, Actor } from '../audit/actions.ts';
import { writeAudit } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { isOneAddress } from '../lib/email.ts';
import { isUuid } from '../lib/ids.ts';
import { deleteCustomerMails } from '../mail/outbox.ts';
import { type CustomerKey, type CustomerRequest, eraseFromRequests, findOfCustomer } from '../requests/customer.ts';
import { updateDropped } from './store.ts';

/** How much was erased. `more`: there is more than one call takes; call again. */
export type Erased = { requests: number; mails: number; messages: number };

const batch = 500;
const leastDigits = 5;

/** A customer as a person types it; null for what is no e-mail address, no number of a phone and no id of a request. */
export function customerKey(by: CustomerKey['by'], typed: string): CustomerKey | null {
  const text = typed.trim();
  if (by === 'email') return isOneAddress(text) ? { by, value: text.toLowerCase() } : null;
  if (by === 'request') return isUuid(text) ? { by, value: text.toLowerCase() } : null;
  const digits = text.replace(/\D/g, '');
  return digits.length >= leastDigits && digits.length <= 50 ? { by, value: digits } : null;
}

/** What is known of a customer: how many requests, at most `batch` and one more, of how many partners, since when. */
export async function findCustomer(
  ctx: Pick<Context, 'db'>,
  key: CustomerKey,
): Promise<{ requests: number; more: boolean; partners: number; since: Date | null }> {
  const rows = await findOfCustomer(ctx.db.sql, key, batch + 1);
  const times = rows.map(({ created_at }) => created_at.getTime());
  return {
    requests: Math.min(rows.length, batch),
    more: rows.length > batch,
    partners: new Set(rows.map(({ partner_id }) => partner_id)).size,
    since: times.length > 0 ? new Date(Math.min(...times)) : null,
  };
}

/**
 * Erases the personal data of one customer with all partners, at most 500 requests at a time: name, e-mail address, phone
 * number, memo and language of its requests, and the mails and messages made of them. Amounts, times, states, wallets and
 * transactions stay, and so does the metadata, which is the partner's own. A second call finds nothing and changes nothing.
 * The logs of the operators and of each partner say that it was done, not to whom.
 */
export async function eraseCustomer(ctx: Context, key: CustomerKey, actor: Actor): Promise<Erased & { more: boolean }> {
  return ctx.db.transaction(async (tx) => {
    const rows = await findOfCustomer(tx, key, batch + 1);
    const found = rows.slice(0, batch);
    const scopes = [...Map.groupBy(found, ({ partner_id, test_mode }) => `${partner_id} ${test_mode}`).values()];
    const done: { scope: Scope; erased: Erased }[] = [];
    for (const group of scopes) done.push(await eraseGroup(tx, group));
    const total = { requests: 0, mails: 0, messages: 0 };
    for (const { erased } of done)
      for (const name of ['requests', 'mails', 'messages'] as const) total[name] += erased[name];
    // The logs come last and in one order: their ends stay locked until commit.
    await writeAudit(ctx, tx, actor, told(null, key, total));
    for (const { scope, erased } of done) await writeAudit(ctx, tx, actor, told(scope, key, erased));
    return { ...total, more: rows.length > batch };
  });
}

async function eraseGroup(tx: Tx, rows: CustomerRequest[]): Promise<{ scope: Scope; erased: Erased }> {
  const scope = scopeOfRow(rows[0] as CustomerRequest);
  return {
    scope,
    erased: await eraseRequests(
      tx,
      scope,
      rows.map(({ id }) => id),
    ),
  };
}

/** The requests come first: who makes a mail of one holds its row until the mail can be seen. */
export async function eraseRequests(tx: Tx, scope: Scope, ids: string[]): Promise<Erased> {
  const erased = await eraseFromRequests(tx, scope, ids);
  return {
    requests: erased.length,
    mails: await deleteCustomerMails(tx, scope, ids),
    messages: await updateDropped(tx, scope, ids),
  };
}

function told(scope: Scope | null, { by, value }: CustomerKey, erased: Erased): Act {
  return {
    action: 'customer.erased',
    partnerId: scope?.partnerId ?? null,
    testMode: scope?.testMode ?? null,
    // The id of a request says nothing of a person.
    object: { kind: 'customer', id: by === 'request' ? value : by },
    details: { by, ...erased },
  };
}
