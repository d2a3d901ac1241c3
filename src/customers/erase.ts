import type { Actor, AuditEntry } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { isOneAddress } from '../lib/text/email.ts';
import { deleteCustomerMails, deletePlanMails } from '../mail/outbox.ts';
import {
  type CustomerPlan,
  erasePlans,
  findChargesOfPlans,
  findPlansOfCustomer,
  findRequestsBeside,
} from '../plans/customer.ts';
import { dropReceipts } from '../receipts/drop.ts';
import { type CustomerKey, type CustomerRequest, eraseFromRequests, findOfCustomer } from '../requests/customer.ts';

/** How much was erased of requests, and the mails and messages made of them. */
export type Erased = { requests: number; mails: number; messages: number };
/** As `Erased`, for all data of a customer, with the number of plans. */
export type CustomerErased = Erased & { plans: number };

const batch = 500;
const maxBeside = 10_000;
const minDigits = 5;

/** A customer as a person types it; null for anything but an e-mail address, a phone number or a request id. */
export function customerKey(by: CustomerKey['by'], typed: string): CustomerKey | null {
  const text = typed.trim();
  if (by === 'email') return isOneAddress(text) ? { by, value: text } : null;
  if (by === 'request') return isUuid(text) ? { by, value: text.toLowerCase() } : null;
  const digits = text.replace(/\D/g, '');
  return digits.length >= minDigits && digits.length <= 50 ? { by, value: digits } : null;
}

/**
 * What is known of a customer, from at most `batch` requests and plans and one more: how many partners, and since when.
 */
export async function findCustomer(
  ctx: Pick<Context, 'db'>,
  key: CustomerKey,
): Promise<{ requests: number; plans: number; more: boolean; partners: number; since: Date | null }> {
  const plans = await findPlansOfCustomer(ctx.db.sql, key, batch + 1);
  const rows = await requestsOf(ctx.db.sql, key, plans);
  const times = [...plans, ...rows].map(({ created_at }) => created_at.getTime());
  return {
    requests: Math.min(rows.length, batch),
    plans: Math.min(plans.length, batch),
    more: rows.length > batch || plans.length > batch,
    partners: new Set([...plans, ...rows].map(({ partner_id }) => partner_id)).size,
    since: times.length > 0 ? new Date(Math.min(...times)) : null,
  };
}

/**
 * The requests of a customer, at most `limit`. A charge leads to its plan, and a plan to all of its charges: those made
 * after its mails were stopped lack the customer's address.
 */
async function requestsOf(
  sql: Sql | Tx,
  key: CustomerKey,
  plans: CustomerPlan[],
  limit = batch + 1,
): Promise<CustomerRequest[]> {
  const beside =
    key.by === 'request'
      ? await findRequestsBeside(sql, key.value, maxBeside)
      : await findChargesOfPlans(sql, plans, limit);
  return findOfCustomer(sql, key, beside, limit);
}

/**
 * Erases the personal data of one customer with all partners, about 500 requests and plans at a time. Requests lose
 * name, e-mail address, phone number, memo and language, and the mails and messages made from them are deleted. Plans
 * lose their name, customer, e-mail address and phone number, and end. Amounts, times, states, wallets and
 * transactions stay, and so does the metadata, which is the partner's own. A second call finds nothing and changes
 * nothing. The logs of the operators and of each partner record the erasure, but not the customer.
 */
export async function eraseCustomer(
  ctx: Context,
  actor: Actor,
  key: CustomerKey,
): Promise<CustomerErased & { more: boolean }> {
  return ctx.db.transaction(async (tx) => {
    const plans = await findPlansOfCustomer(tx, key, batch + 1);
    // A plan is forgotten with the last of its charges, which only it may lead to.
    const isLast = (await requestsOf(tx, key, plans)).length <= batch;
    // Plans come first: a charge in progress holds its plan until its request is visible.
    const forgotten = isLast ? await erasePlans(tx, plans.slice(0, batch), ctx.clock.now()) : [];
    // Each plan may have had one charge in progress, to which it leads no longer.
    const most = batch + forgotten.length;
    const rows = await requestsOf(tx, key, plans, most + 1);
    const done: { scope: Scope; erased: CustomerErased }[] = [];
    for (const group of byScope(forgotten, rows.slice(0, most))) done.push(await eraseGroup(tx, group));
    const total = { requests: 0, plans: 0, mails: 0, messages: 0 };
    for (const { erased } of done)
      for (const name of ['requests', 'plans', 'mails', 'messages'] as const) total[name] += erased[name];
    // The logs come last and in one order, that of `byScope`: their ends stay locked until commit.
    await audit(ctx, tx, actor, erasureEntry(null, key, total));
    for (const { scope, erased } of done) await audit(ctx, tx, actor, erasureEntry(scope, key, erased));
    return { ...total, more: rows.length > most || plans.length > batch };
  });
}

/** Shorter than a proxy usually waits for an answer. */
const oneActMs = 20_000;

/**
 * Erases a customer's data in batches, each in a transaction of its own, until nothing is left or an operator has
 * waited long enough.
 *
 * @returns what all batches erased, and whether something is left
 */
export async function eraseForAWhile(
  ctx: Context,
  actor: Actor,
  key: CustomerKey,
  forMs = oneActMs,
): Promise<CustomerErased & { more: boolean }> {
  const startedAt = performance.now();
  const total = { requests: 0, plans: 0, mails: 0, messages: 0 };
  for (;;) {
    const { more, ...erased } = await eraseCustomer(ctx, actor, key);
    for (const name of ['requests', 'plans', 'mails', 'messages'] as const) total[name] += erased[name];
    const isStuck = erased.requests + erased.plans === 0;
    if (!more || isStuck || performance.now() - startedAt >= forMs) return { ...total, more };
  }
}

type Group = { scope: Scope; plans: CustomerPlan[]; requests: CustomerRequest[] };

/** What belongs together, in the order of partner and mode. */
export function byScope(plans: CustomerPlan[], requests: CustomerRequest[]): Group[] {
  const groups = new Map<string, Group>();
  const groupOf = (row: CustomerPlan | CustomerRequest): Group => {
    const name = `${row.partner_id} ${row.test_mode}`;
    const group = groups.get(name) ?? { scope: scopeOfRow(row), plans: [], requests: [] };
    groups.set(name, group);
    return group;
  };
  for (const plan of plans) groupOf(plan).plans.push(plan);
  for (const request of requests) groupOf(request).requests.push(request);
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group);
}

async function eraseGroup(
  tx: Tx,
  { scope, plans, requests }: Group,
): Promise<{ scope: Scope; erased: CustomerErased }> {
  const ids = requests.map(({ id }) => id);
  const erased = await eraseRequests(tx, scope, ids);
  const mails = await deletePlanMails(
    tx,
    scope,
    plans.map(({ id }) => id),
  );
  return { scope, erased: { ...erased, mails: erased.mails + mails, plans: plans.length } };
}

/**
 * The requests come before their mails: whoever writes a mail for a request holds the request's row until the mail is
 * visible.
 */
export async function eraseRequests(tx: Tx, scope: Scope, ids: string[]): Promise<Erased> {
  const erased = await eraseFromRequests(tx, scope, ids);
  return {
    requests: erased.length,
    mails: await deleteCustomerMails(tx, scope, ids),
    messages: await dropReceipts(tx, scope, ids),
  };
}

function erasureEntry(scope: Scope | null, { by, value }: CustomerKey, erased: CustomerErased): AuditEntry {
  return {
    action: 'customer.erased',
    partnerId: scope?.partnerId ?? null,
    testMode: scope?.testMode ?? null,
    // The id of a request says nothing of a person.
    object: { kind: 'customer', id: by === 'request' ? value : by },
    details: { by, ...erased },
  };
}
