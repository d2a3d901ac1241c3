import type { HeldKeys } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { Scope, Sql, Tx } from '../../db/connection.ts';
import { charged } from './charged-store.ts';

/** Why a mandate is no longer used. `stopped_…`: somebody's own decision. */
export type EndReason =
  | 'stopped_by_customer'
  | 'stopped_by_merchant'
  | 'revoked_on_chain'
  | 'wallet_changed'
  | 'above_cap'
  | 'currency_changed'
  | 'plan_ended'
  | 'expired'
  | 'customer_erased'
  | 'past_due';

/** A row of `mandates`. Addresses in lower case; money and token amounts are decimal strings. */
export type MandateRow = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  plan_id: string;
  account_id: string;
  chain_id: number;
  token_address: Hex;
  contract_address: Hex;
  payer: Hex;
  payee: Hex;
  /** The relayer's address, the only one that may charge. */
  executor: Hex;
  cap_micro: string;
  min_interval_s: number;
  starts_at: Date;
  ends_at: Date;
  plan_ref: Buffer;
  salt: Buffer;
  hash: Buffer;
  signature: Buffer;
  /** The amount that `cap_micro` was computed from: the plan's terms when the customer agreed. */
  cap_fiat_int: string;
  fiat_code: string;
  reserve_percent: number;
  /** How many charges the customer allows, from the agreement on; null: without limit. */
  allowed_charges: number | null;
  agreed_at: Date;
  /** `replaced`: the customer has agreed again. */
  state: 'active' | 'stopped' | 'replaced' | 'ended';
  ended_at: Date | null;
  end_reason: EndReason | null;
  /** The payer's signature of the revocation, if the payer stopped it with the wallet. */
  stop_signature: Buffer | null;
  revoke_due_at: Date | null;
  revoke_failures: number;
  revoke_relay_id: string | null;
  revoked_at: Date | null;
};

const columns = (sql: Sql | Tx) => sql`a.*, a.chain_id::float8 as chain_id`;
const inScope = (tx: Sql | Tx, { partnerId, testMode }: Scope) =>
  tx`a.partner_id = ${partnerId} and a.test_mode = ${testMode}`;

/** The mandate under which a plan may be charged; null if none is in use. */
export async function selectActive(tx: Tx, scope: Scope, planId: string): Promise<MandateRow | null> {
  const [row] = await tx<MandateRow[]>`
    select ${columns(tx)} from mandates a
    where ${inScope(tx, scope)} and a.plan_id = ${planId} and a.state = 'active'`;
  return row ?? null;
}

/** The latest mandate of a plan, in use or not; null if nobody ever agreed. */
export async function selectLatest(tx: Tx, scope: Scope, planId: string): Promise<MandateRow | null> {
  const [row] = await tx<MandateRow[]>`
    select ${columns(tx)} from mandates a
    where ${inScope(tx, scope)} and a.plan_id = ${planId} order by a.agreed_at desc, a.id desc limit 1`;
  return row ?? null;
}

/** A mandate of a plan by the hash that was signed, in use or not. */
export async function selectByHash(tx: Tx, scope: Scope, planId: string, hash: Buffer): Promise<MandateRow | null> {
  const [row] = await tx<MandateRow[]>`
    select ${columns(tx)} from mandates a
    where ${inScope(tx, scope)} and a.plan_id = ${planId} and a.hash = ${hash}`;
  return row ?? null;
}

export type NewMandate = Pick<
  MandateRow,
  | 'id'
  | 'plan_id'
  | 'account_id'
  | 'chain_id'
  | 'token_address'
  | 'contract_address'
  | 'payer'
  | 'payee'
  | 'executor'
  | 'cap_micro'
  | 'min_interval_s'
  | 'starts_at'
  | 'ends_at'
  | 'plan_ref'
  | 'salt'
  | 'hash'
  | 'signature'
  | 'cap_fiat_int'
  | 'fiat_code'
  | 'reserve_percent'
  | 'allowed_charges'
  | 'agreed_at'
>;

export async function insertMandate(tx: Tx, scope: Scope, one: NewMandate): Promise<MandateRow> {
  const [row] = await tx<MandateRow[]>`
    insert into mandates as a (partner_id, test_mode, id, plan_id, account_id, chain_id, token_address,
      contract_address, payer, payee, executor, cap_micro, min_interval_s, starts_at, ends_at, plan_ref, salt, hash,
      signature, cap_fiat_int, fiat_code, reserve_percent, allowed_charges, agreed_at)
    values (${scope.partnerId}, ${scope.testMode}, ${one.id}, ${one.plan_id}, ${one.account_id}, ${one.chain_id},
      ${one.token_address}, ${one.contract_address}, ${one.payer}, ${one.payee}, ${one.executor}, ${one.cap_micro},
      ${one.min_interval_s}, ${one.starts_at}, ${one.ends_at}, ${one.plan_ref}, ${one.salt}, ${one.hash},
      ${one.signature}, ${one.cap_fiat_int}, ${one.fiat_code}, ${one.reserve_percent}, ${one.allowed_charges},
      ${one.agreed_at})
    returning ${columns(tx)}`;
  if (!row) throw new Error('a mandate was not stored');
  return row;
}

/** How often a plan's customer has agreed since a time. */
export async function countAgreed(tx: Tx, scope: Scope, planId: string, since: Date): Promise<number> {
  const [row] = await tx<{ agreed: number }[]>`
    select count(*)::int as agreed from mandates a
    where ${inScope(tx, scope)} and a.plan_id = ${planId} and a.agreed_at > ${since}`;
  return row?.agreed ?? 0;
}

/** Ends a plan's mandate because the customer agrees again; does nothing if none is in use. */
export async function updateReplaced(tx: Tx, scope: Scope, planId: string, now: Date): Promise<void> {
  await tx`
    update mandates a set state = 'replaced', ended_at = ${now}, revoke_due_at = ${now}
    where ${inScope(tx, scope)} and a.plan_id = ${planId} and a.state = 'active'`;
}

/** Locks a mandate's plan until the transaction ends. */
export async function lockPlanOfMandate(tx: Tx, scope: Scope, id: string): Promise<void> {
  await tx`
    select from plans p where p.partner_id = ${scope.partnerId} and p.test_mode = ${scope.testMode}
      and p.id = (select a.plan_id from mandates a where ${inScope(tx, scope)} and a.id = ${id}) for update`;
}

/**
 * Ends a mandate.
 *
 * @param revoke whether it must still be revoked on the chain
 * @returns the mandate; null if it was no longer in use
 */
export async function updateEnded(
  tx: Tx,
  scope: Scope,
  id: string,
  end: { reason: EndReason; now: Date; revoke: boolean; stopSignature: Buffer | null },
): Promise<MandateRow | null> {
  const state = end.reason === 'stopped_by_customer' || end.reason === 'stopped_by_merchant' ? 'stopped' : 'ended';
  const [row] = await tx<MandateRow[]>`
    update mandates a set state = ${state}, ended_at = ${end.now}, end_reason = ${end.reason},
      stop_signature = ${end.stopSignature}, revoke_due_at = ${end.revoke ? end.now : null},
      revoked_at = ${end.reason === 'revoked_on_chain' ? end.now : null}
    where ${inScope(tx, scope)} and a.id = ${id} and a.state = 'active'
    returning ${columns(tx)}`;
  return row ?? null;
}

/** Ends the mandates of erased customers' plans, of any partner. */
export async function endOfErased(tx: Tx, planIds: string[], now: Date): Promise<void> {
  await tx`
    update mandates a set state = 'ended', ended_at = ${now}, end_reason = 'customer_erased', revoke_due_at = ${now}
    where a.plan_id = any(${planIds}::uuid[]) and a.state = 'active'`;
}

/** Allows this many charges beside those that were taken already; null: without limit. */
export async function updateAllowed(tx: Tx, scope: Scope, id: string, charges: number | null): Promise<boolean> {
  const { count } = await tx`
    update mandates a set allowed_charges = ${charges}::int + ${charged(tx)}
    where ${inScope(tx, scope)} and a.id = ${id} and a.state = 'active'`;
  return count === 1;
}

/** A mandate that a loop must handle. */
export type DueMandate = { partner_id: string; test_mode: boolean; id: string };
type Turns = { ofOne: number; all: number };

/**
 * Mandates whose revocation is due, alternating between partners, the longest due first. The executor can revoke, and
 * any address can with the payer's signature; what no key of this node can revoke is left to other nodes.
 */
export function selectRevokeDue(
  sql: Sql,
  now: Date,
  { addresses, leftSince }: HeldKeys,
  limits: Turns,
): Promise<DueMandate[]> {
  return sql<DueMandate[]>`
    select due.partner_id, due.test_mode, due.id
    from partners w cross join (values (false), (true)) mode (test)
      cross join lateral (
        select a.partner_id, a.test_mode, a.id, row_number() over (order by a.revoke_due_at) as turn from mandates a
        where a.partner_id = w.id and a.test_mode = mode.test and a.revoke_due_at <= ${now}
          and (a.executor = any(${addresses}::text[]) or a.revoke_due_at <= ${leftSince}
            or (a.stop_signature is not null and ${addresses.length > 0}))
        order by a.revoke_due_at limit ${limits.ofOne}) due
    order by due.turn, random() limit ${limits.all}`;
}

/**
 * Mandates in use that have expired, or whose merchant now has another wallet, alternating between partners. Which
 * wallets the mandates of each merchant name is read by stepping through an index, so the cost grows with the merchants
 * that have mandates, not with the mandates.
 *
 * @param limits `except`: mandates that could not be ended
 */
export function selectOutdated(
  sql: Sql,
  now: Date,
  limits: Turns & { except: readonly string[] },
): Promise<(DueMandate & { reason: 'expired' | 'wallet_changed' })[]> {
  const ofPartner = sql`a.partner_id = w.id and a.test_mode = mode.test and a.state = 'active'`;
  const isWanted = sql`a.id <> all(${[...limits.except]}::uuid[])`;
  return sql<(DueMandate & { reason: 'expired' | 'wallet_changed' })[]>`
    select w.id as partner_id, mode.test as test_mode, due.id, due.reason
    from partners w cross join (values (false), (true)) mode (test)
      cross join lateral (
        select found.id, found.reason, row_number() over () as turn from (
          (select a.id, 'expired' as reason from mandates a
            where ${ofPartner} and a.ends_at <= ${now} and ${isWanted} order by a.ends_at limit ${limits.ofOne})
          union all
          (with recursive payees as (
            (select a.account_id, a.payee from mandates a where ${ofPartner} order by a.account_id, a.payee limit 1)
            union all
            select next.* from payees p cross join lateral (
              select a.account_id, a.payee from mandates a
              where ${ofPartner} and (a.account_id, a.payee) > (p.account_id, p.payee)
              order by a.account_id, a.payee limit 1) next)
          select a.id, 'wallet_changed' from payees p
            join merchants m on m.partner_id = w.id and m.test_mode = mode.test and m.id = p.account_id
              and m.wallet_address is distinct from p.payee
            cross join lateral (
              select a.id from mandates a
              where ${ofPartner} and a.account_id = p.account_id and a.payee = p.payee and a.ends_at > ${now}
                and ${isWanted}
              limit ${limits.ofOne}) a
            limit ${limits.ofOne})
        ) found limit ${limits.ofOne}) due
    order by due.turn, random() limit ${limits.all}`;
}

/** A mandate whose revocation must be handled; null if that is no longer so. */
export async function readRevokeDue(tx: Tx, scope: Scope, id: string): Promise<MandateRow | null> {
  const [row] = await tx<MandateRow[]>`
    select ${columns(tx)} from mandates a
    where ${inScope(tx, scope)} and a.id = ${id} and a.revoke_due_at is not null`;
  return row ?? null;
}

/** Locks a mandate whose revocation is due; null if somebody else has locked it. */
export async function lockRevoke(tx: Tx, scope: Scope, id: string, now: Date): Promise<MandateRow | null> {
  const [row] = await tx<MandateRow[]>`
    select ${columns(tx)} from mandates a
    where ${inScope(tx, scope)} and a.id = ${id} and a.revoke_due_at <= ${now} for update skip locked`;
  return row ?? null;
}

/**
 * Stores the state of a mandate's revocation, unless another node has replaced the call that sends it since the mandate
 * was read. A null `dueAt` ends it.
 */
export async function updateRevoke(
  tx: Tx,
  scope: Scope,
  { id, revoke_relay_id: call }: Pick<MandateRow, 'id' | 'revoke_relay_id'>,
  change: { relayId: string | null; failures: number; dueAt: Date | null; revokedAt: Date | null },
): Promise<void> {
  await tx`
    update mandates a set revoke_relay_id = ${change.relayId}, revoke_failures = ${change.failures},
      revoke_due_at = ${change.dueAt}, revoked_at = ${change.revokedAt}
    where ${inScope(tx, scope)} and a.id = ${id} and a.revoke_relay_id is not distinct from ${call}`;
}
