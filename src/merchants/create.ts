import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Caller } from '../auth/gate.ts';
import type { Context } from '../context.ts';
import { isStored } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { type FieldFault, refuse, refuseFields } from '../errors.ts';
import { isZeroAddress } from '../lib/ids.ts';
import { isCountry } from '../lib/text/countries.ts';
import { isOneAddress } from '../lib/text/email.ts';
import { currencyFaults } from '../rates/currency-field.ts';
import { type CreateMerchantFacts, walletOf } from './create-facts-store.ts';
import { readMerchant } from './read.ts';
import { insertMerchant, type MerchantView, type NewMerchant, selectWalletHolder, type WalletHolder } from './store.ts';

const textFields = [
  'email',
  'display_name',
  'business_name',
  'country',
  'phone',
  'website',
  'instagram',
  'industry',
] as const;

/**
 * Creates a merchant that its user must complete, or returns the one that already has the wallet.
 *
 * @throws Refusal wallet_address_conflict, invalid_request
 */
export async function createMerchant(
  ctx: Context,
  call: {
    caller: Caller;
    id: string;
    actor: Actor;
    facts: CreateMerchantFacts;
    body: Record<string, unknown>;
    faults: FieldFault[];
  },
): Promise<{ row: MerchantView; replayed: boolean }> {
  const { id, caller, facts, body } = call;
  if (facts.holder) return heldBy(ctx, caller.scope, facts.holder);
  const instead = facts.currencies_instead ? `use one of ${facts.currencies_instead}` : 'ask the operator';
  const faults = [
    ...call.faults,
    ...valueFaults(body, call.faults),
    ...walletFaults(ctx, walletOf(body)),
    ...currencyFaults('display_currency', body.display_currency, facts.currency_known, instead),
  ];
  if (faults.length > 0) throw refuseFields(faults);

  const wallet = walletOf(body);
  const merchant: NewMerchant = {
    ...Object.fromEntries(textFields.map((name) => [name, body[name] ?? null])),
    app_mode: (body.app_mode as NewMerchant['app_mode'] | undefined) ?? 'personal',
    display_currency: (body.display_currency as string | undefined) ?? caller.currency,
    wallet_address: wallet,
  };
  if (!(await store(ctx, call.actor, caller.scope, id, merchant)))
    return heldBy(ctx, caller.scope, await selectWalletHolder(ctx.db.sql, wallet ?? ''));
  return { row: await mustRead(ctx, caller.scope, id), replayed: false };
}

/**
 * The faults of values that match the contract's patterns but are still of no use.
 *
 * @param known the faults of the contract
 */
export function valueFaults(fields: { email?: unknown; country?: unknown }, known: FieldFault[]): FieldFault[] {
  const { email, country } = fields;
  const hasNone = (name: string) => !known.some(({ field }) => field === name);
  const faults: FieldFault[] = [];
  // No mail is sent to a list. The merchant would wait in vain for the code that onboarding mails to it.
  if (typeof email === 'string' && hasNone('email') && !isOneAddress(email))
    faults.push({ field: 'email', message: 'must be one e-mail address, without a name, brackets or commas' });
  if (typeof country === 'string' && hasNone('country') && !isCountry(country))
    faults.push({ field: 'country', message: 'is not a country’s code in ISO 3166-1 alpha-2, such as DE or GB' });
  return faults;
}

/**
 * Nobody can sign with the zero address, nor with the contract of a token. Programs send these if they know no wallet,
 * or mistake the asset for one. All their merchants would then be one and the same.
 */
function walletFaults({ chains }: Context, wallet: string | null): FieldFault[] {
  if (wallet === null) return [];
  const fault = (message: string) => [{ field: 'wallet_address', message }];
  if (isZeroAddress(wallet)) return fault('is the zero address, which is nobody’s: leave the field out');
  const isToken = [...chains.test, ...chains.live].some(({ tokens }) =>
    tokens.some(({ address }) => address === wallet),
  );
  return isToken ? fault('is the contract of a token, which is nobody’s wallet: leave the field out') : [];
}

/** Creates a merchant without a wallet, for callers outside the API. */
export async function createShell(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  details: Partial<NewMerchant> & { display_currency: string },
) {
  const { row } = await createShellOnce(ctx, actor, scope, randomUUID(), details);
  return row;
}

/** Creates a merchant with a given id, or returns the one that was created with it. */
export async function createShellOnce(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  id: string,
  details: Partial<NewMerchant> & { display_currency: string },
): Promise<{ row: MerchantView; repeated: boolean }> {
  let repeated = false;
  try {
    await store(ctx, actor, scope, id, { app_mode: 'business', ...details });
  } catch (error) {
    if (!isStored(error, 'merchants')) throw error;
    repeated = true;
  }
  return { row: await mustRead(ctx, scope, id), repeated };
}

/** Stores a merchant; false if its wallet was taken in the meantime. */
function store(ctx: Context, actor: Actor, scope: Scope, id: string, merchant: NewMerchant): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    if (!(await insertMerchant(tx, scope, id, merchant))) return false;
    await audit(ctx, tx, actor, {
      ...scope,
      action: 'merchant.created',
      object: { kind: 'merchant', id },
      details: {},
    });
    return true;
  });
}

/**
 * The merchant that holds a wallet, if it belongs to the caller and the same mode. Throws wallet_address_conflict
 * otherwise.
 */
async function heldBy(ctx: Context, scope: Scope, holder: WalletHolder | null) {
  if (!holder || holder.partner_id !== scope.partnerId || holder.test_mode !== scope.testMode) {
    throw refuse('wallet_address_conflict');
  }
  return { row: await mustRead(ctx, scope, holder.account_id), replayed: true };
}

async function mustRead(ctx: Context, scope: Scope, id: string): Promise<MerchantView> {
  const row = await readMerchant(ctx, scope, id);
  if (!row) throw new Error(`merchant ${id} vanished`); // merchants are never deleted
  return row;
}
