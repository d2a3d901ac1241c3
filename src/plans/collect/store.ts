import type { Scope, Sql, Tx } from '../../db/connection.ts';
import type { RequestRow } from '../../requests/store.ts';
import type { MandateRow } from '../mandates/read.ts';
import type { CollectionReason, CollectionState } from './rules.ts';

/** The data of a charge's request for a mail. */
export type MailedRequest = Pick<RequestRow, 'id' | 'fiat_int' | 'fiat_code' | 'expires_at'>;

/** A row of `collections`. */
export type CollectionRow = {
  partner_id: string;
  test_mode: boolean;
  request_id: string;
  plan_id: string;
  account_id: string;
  number: number;
  mandate_id: string;
  chain_id: string;
  state: CollectionState;
  /** When it is tried; for a taken one, until when nobody else takes it. */
  due_at: Date | null;
  attempts: number;
  failing_since: Date | null;
  waits: number;
  reason: CollectionReason | null;
  reason_at: Date | null;
  relay_id: string | null;
  /** Whether the last transaction was reverted, or no endpoint took it, for a reason that is not known yet. */
  reverted: boolean;
  made_at: Date;
  ended_at: Date | null;
};

const inScope = (tx: Sql | Tx, { partnerId, testMode }: Scope) =>
  tx`c.partner_id = ${partnerId} and c.test_mode = ${testMode}`;

export type NewCollection = {
  requestId: string;
  planId: string;
  accountId: string;
  number: number;
  mandateId: string;
  chainId: number;
  now: Date;
};

/** Makes a charge due at once. */
export async function insertCollection(tx: Tx, scope: Scope, one: NewCollection): Promise<void> {
  await tx`
    insert into collections (partner_id, test_mode, request_id, plan_id, account_id, number, mandate_id, chain_id, due_at,
      made_at)
    values (${scope.partnerId}, ${scope.testMode}, ${one.requestId}, ${one.planId}, ${one.accountId}, ${one.number},
      ${one.mandateId}, ${one.chainId}, ${one.now}, ${one.now})`;
}

/** Identifies a claimed charge; an unchanged `due_at` (`leaseUntil`) shows that nobody else has claimed it since. */
export type ClaimKey = { partner_id: string; test_mode: boolean; request_id: string; due_at: Date };

/** The partner and mode of charges that are sent together. */
export type Owner = Pick<ClaimKey, 'partner_id' | 'test_mode'>;

/** The condition that a charge is still claimed by the same node. */
const isStillClaimed = (tx: Tx, { partner_id, test_mode, request_id, due_at }: ClaimKey) => tx`
  c.partner_id = ${partner_id} and c.test_mode = ${test_mode} and c.request_id = ${request_id} and c.state = 'waiting'
    and c.due_at = ${due_at}`;

/**
 * Stores which transactions make charges, in the database transaction that stores them. The charges are of one partner
 * and mode.
 */
export async function updateSent(
  tx: Tx,
  { partner_id, test_mode }: Owner,
  sent: readonly { row: ClaimKey; relayId: string; mandate: MandateRow }[],
): Promise<void> {
  const { count } = await tx`
    update collections c set state = 'sent', due_at = null, relay_id = k.relay_id, mandate_id = k.mandate_id,
      chain_id = k.chain_id, waits = 0, reason = null, reason_at = null
    from unnest(${sent.map(({ row }) => row.request_id)}::uuid[],
        ${sent.map(({ row }) => row.due_at.toISOString())}::timestamptz[], ${sent.map((one) => one.relayId)}::uuid[],
        ${sent.map(({ mandate }) => mandate.id)}::uuid[], ${sent.map(({ mandate }) => mandate.chain_id)}::bigint[])
      as k (request_id, due_at, relay_id, mandate_id, chain_id)
    where c.partner_id = ${partner_id} and c.test_mode = ${test_mode} and c.request_id = k.request_id
      and c.due_at = k.due_at and c.state = 'waiting'`;
  if (count !== sent.length) throw new Error('a charge changed while it was locked');
}

/** Postpones a charge; false if another node has taken it. */
export async function updateDelayed(
  tx: Tx,
  claim: ClaimKey,
  { reason, now, dueAt }: { reason: CollectionReason; now: Date; dueAt: Date },
): Promise<boolean> {
  const { count } = await tx`
    update collections c set due_at = ${dueAt}, waits = c.waits + 1, reason = ${reason}, reason_at = ${now}
    where ${isStillClaimed(tx, claim)}`;
  return count === 1;
}

/** Releases a claimed charge, to be claimed again at a time, as if it had not been tried. */
export async function updateClaimReleased(tx: Tx, claim: ClaimKey, dueAt: Date): Promise<void> {
  await tx`update collections c set due_at = ${dueAt} where ${isStillClaimed(tx, claim)}`;
}

/** Hands a charge to the loop of another chain, where its plan's mandate now is. */
export async function updateMoved(tx: Tx, claim: ClaimKey, mandate: MandateRow, now: Date): Promise<void> {
  await tx`
    update collections c set chain_id = ${mandate.chain_id}, mandate_id = ${mandate.id}, due_at = ${now}
    where ${isStillClaimed(tx, claim)}`;
}

/**
 * Counts a failed attempt. `dueAt`: the time of the next one; null after the last. False if another node has taken it.
 */
export async function updateFailed(
  tx: Tx,
  claim: ClaimKey,
  { reason, since, now, dueAt }: { reason: CollectionReason; since: Date; now: Date; dueAt: Date | null },
): Promise<boolean> {
  const { count } = await tx`
    update collections c set attempts = c.attempts + 1, failing_since = ${since}, waits = 0, reason = ${reason},
      reason_at = ${now}, reverted = false, due_at = ${dueAt},
      state = ${dueAt ? 'waiting' : 'past_due'}, ended_at = ${dueAt ? null : now}
    where ${isStillClaimed(tx, claim)}`;
  return count === 1;
}

/** Ends a taken charge; false if another node has taken it. */
export async function updateEnded(
  tx: Tx,
  claim: ClaimKey,
  { state, reason, now }: { state: CollectionState; reason: CollectionReason | null; now: Date },
): Promise<boolean> {
  const { count } = await tx`
    update collections c set state = ${state}, due_at = null, ended_at = ${now}, reverted = false, reason = ${reason},
      reason_at = ${reason === null ? null : now}
    where ${isStillClaimed(tx, claim)}`;
  return count === 1;
}

/** Stops the waiting charges of a plan; a sent one goes on until the chain has decided. */
export async function stopWaiting(
  tx: Tx,
  scope: Scope,
  planId: string,
  { reason, now }: { reason: CollectionReason; now: Date },
): Promise<void> {
  await tx`
    update collections c set state = 'stopped', due_at = null, ended_at = ${now}, reason = ${reason}, reason_at = ${now}
    where ${inScope(tx, scope)} and c.plan_id = ${planId} and c.state = 'waiting'`;
}

/** Reads the data of a charge's request for a mail. */
export async function selectMailed(tx: Tx, scope: Scope, requestId: string): Promise<MailedRequest> {
  const [row] = await tx<MailedRequest[]>`
    select r.id, r.fiat_int, r.fiat_code, r.expires_at from requests r
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${requestId}`;
  if (!row) throw new Error(`there is no request ${requestId}`);
  return row;
}

/** The charge of a plan that has failed or was postponed, and waits for its next attempt. */
export type TroubledRow = { plan_id: string; reason: CollectionReason; due_at: Date };

/** For each of these plans, the oldest charge that waits for another attempt. */
export function selectTroubled(tx: Tx, scope: Scope, planIds: string[]): Promise<TroubledRow[]> {
  return tx<TroubledRow[]>`
    select distinct on (c.plan_id) c.plan_id, c.reason, c.due_at from collections c
    where ${inScope(tx, scope)} and c.plan_id = any(${planIds}::uuid[]) and c.state = 'waiting' and c.reason is not null
    order by c.plan_id, c.number`;
}

/** When charges were last made under a mandate, or now while one is under way; null if none was made. */
export async function selectLastCharge(tx: Tx, scope: Scope, mandate: Pick<MandateRow, 'id' | 'plan_id'>, now: Date) {
  const [row] = await tx<{ at: Date | null }[]>`
    select max(case when c.state = 'sent' then ${now} else c.ended_at end) as at from collections c
    where ${inScope(tx, scope)} and c.plan_id = ${mandate.plan_id} and c.mandate_id = ${mandate.id}
      and c.state in ('sent', 'charged')`;
  return row?.at ?? null;
}
