import type { Hex } from '../../chain/rpc.ts';
import type { Sql, Tx } from '../../db/connection.ts';
import { isArriving } from '../../payments/arriving.ts';
import { seenStatus } from '../../requests/expiry.ts';
import { charged, chargedAt, type MandateRow, type PermitRow } from '../mandates/read.ts';
import type { ClaimKey, CollectionRow, Owner } from './store.ts';

/** A charge that this node has claimed, with the data of its request. Amounts are decimal strings of micro units. */
export type ChargeFactsRow = CollectionRow & {
  due_at: Date;
  usdc_micro: string;
  fiat_int: string;
  fiat_code: string;
  wallet_address: string;
  wallet_chain_ids: number[] | null;
  reference: Uint8Array;
  status: 'requested' | 'opened' | 'expired' | 'voided';
  proof_status: 'none' | 'attached' | 'verified';
  counted_micro: string;
  payment_seen: boolean;
  merchant_disabled: boolean;
  partner_disabled: boolean;
};

/**
 * How long after the first report a reported transaction delays a charge. This is limited because anybody can report.
 */
const reportedHours = 24;

/** The sum of the transfers that count for a request `r`. */
export const countedOf = (sql: Sql | Tx) => sql`
  (select coalesce(sum(t.value), 0) from transfers t
    where t.partner_id = r.partner_id and t.test_mode = r.test_mode and t.request_id = r.id and t.counts)::text`;

/** Whether a payment of a request `r` was read and not matched yet, or is being relayed for its customer. */
const isBeingPaid = (sql: Sql | Tx) => sql`
  (${isArriving(sql)} or exists (select from relay_transactions b
    where b.partner_id = r.partner_id and b.test_mode = r.test_mode and b.subject_id = r.id
      and b.purpose = 'authorization' and b.state in ('allotted', 'sent', 'mined')))`;

/** As `isBeingPaid`, or whether somebody has reported a payment of the request that was not read. */
export const isPaymentSeen = (sql: Sql) => sql`
  (${isBeingPaid(sql)} or exists (select from payment_hints h
    where h.partner_id = r.partner_id and h.test_mode = r.test_mode and h.request_id = r.id
      and h.state in ('seen', 'mined') and h.heard_at > now() - ${`${reportedHours} hours`}::interval
      and not exists (select from transfers t where (t.chain_id, t.tx_hash) = (h.chain_id, h.tx_hash))))`;

/** Reads everything that is stored and decides about claimed charges. Charges that have moved on are missing. */
export function selectChargeFacts(sql: Sql, claims: ClaimKey[]): Promise<ChargeFactsRow[]> {
  return sql<ChargeFactsRow[]>`
    select c.*, r.usdc_micro, r.fiat_int, r.fiat_code, r.wallet_address, r.wallet_chain_ids, r.reference, r.proof_status,
      ${seenStatus(sql)} as status, ${countedOf(sql)} as counted_micro,
      ${isPaymentSeen(sql)} as payment_seen,
      m.disabled_by_partner or m.disabled_by_operator as merchant_disabled, w.disabled_at is not null as partner_disabled
    from unnest(${claims.map((one) => one.partner_id)}::uuid[], ${claims.map((one) => one.test_mode)}::boolean[],
        ${claims.map((one) => one.request_id)}::uuid[], ${claims.map((one) => one.due_at.toISOString())}::timestamptz[])
        as k (partner_id, test_mode, request_id, due_at)
      join collections c using (partner_id, test_mode, request_id, due_at)
      join requests r on (r.partner_id, r.test_mode, r.id) = (c.partner_id, c.test_mode, c.request_id)
      join merchants m on (m.partner_id, m.test_mode, m.id) = (c.partner_id, c.test_mode, c.account_id)
      join partners w on w.id = c.partner_id`;
}

/** A mandate, how many charges were taken under it, and when the newest of them had been made; null without any. */
export type UsableMandate = MandateRow & { charged: number; charged_at: Date | null };

/** The active mandates of the plans of claimed charges. */
export function selectMandates(sql: Sql, rows: { partner_id: string; test_mode: boolean; plan_id: string }[]) {
  return sql<UsableMandate[]>`
    select a.*, a.chain_id::float8 as chain_id, ${charged(sql)} as charged, ${chargedAt(sql)} as charged_at
    from unnest(${rows.map((one) => one.partner_id)}::uuid[], ${rows.map((one) => one.test_mode)}::boolean[],
        ${rows.map((one) => one.plan_id)}::uuid[]) as k (partner_id, test_mode, plan_id)
      join mandates a using (partner_id, test_mode, plan_id)
    where a.state = 'active'`;
}

export type PermitOf = PermitRow & { chain_id: number; token_address: Hex; payer: Hex; contract_address: Hex };

/** The permits that the payers of these mandates signed last. */
export function selectPermits(sql: Sql, rows: MandateRow[]) {
  return sql<PermitOf[]>`
    select s.*, s.chain_id::float8 as chain_id from permits s
    where (s.chain_id, s.token_address, s.payer, s.contract_address) in (
      select * from unnest(${rows.map((one) => one.chain_id)}::bigint[], ${rows.map((one) => one.token_address)}::text[],
        ${rows.map((one) => one.payer)}::text[], ${rows.map((one) => one.contract_address)}::text[]))`;
}

/** The data that must be unchanged when a transaction sends a charge. */
export type Locked = {
  status: ChargeFactsRow['status'];
  proof_status: string;
  usdc_micro: string;
  counted_micro: string;
};

/**
 * Locks the requests of charges of one partner and mode, their mandates, the wallets that pay and the charges
 * themselves, in the order that everybody uses.
 *
 * @returns by request. Missing if the charge or its mandate has changed, or while another charge of the wallet is not
 * mined, which may spend the money that the simulation found
 */
export async function lockToSend(
  tx: Tx,
  { partner_id, test_mode }: Owner,
  charges: readonly { row: ClaimKey; mandate: MandateRow }[],
): Promise<Map<string, Locked>> {
  const requestIds = charges.map(({ row }) => row.request_id);
  const requests = await tx<(Omit<Locked, 'counted_micro'> & { id: string })[]>`
    select r.id, r.proof_status, r.usdc_micro, ${seenStatus(tx)} as status from requests r
    where r.partner_id = ${partner_id} and r.test_mode = ${test_mode} and r.id = any(${requestIds}::uuid[])
    order by r.id for update`;
  // Separate statements, so that each sees what was committed while the one before it waited.
  const active = await tx<{ id: string }[]>`
    select a.id from mandates a where a.partner_id = ${partner_id} and a.test_mode = ${test_mode}
      and a.id = any(${charges.map(({ mandate }) => mandate.id)}::uuid[]) and a.state = 'active' order by a.id for share`;
  const wallets = new Set(charges.map(({ mandate }) => `charge ${mandate.chain_id} ${mandate.payer}`));
  await tx`select pg_advisory_xact_lock(hashtextextended(k.wallet, 0)) from unnest(${[...wallets].sort()}::text[]) as k (wallet)`;
  const rows = await tx<{ request_id: string; counted_micro: string; arriving: boolean; busy: boolean }[]>`
    select c.request_id, ${countedOf(tx)} as counted_micro, ${isBeingPaid(tx)} as arriving, ${isBusy(tx)} as busy
    from unnest(${requestIds}::uuid[], ${charges.map(({ row }) => row.due_at.toISOString())}::timestamptz[],
        ${charges.map(({ mandate }) => mandate.id)}::uuid[]) as k (request_id, due_at, mandate_id)
      join collections c on c.partner_id = ${partner_id} and c.test_mode = ${test_mode}
        and c.request_id = k.request_id and c.due_at = k.due_at and c.state = 'waiting'
      join requests r on (r.partner_id, r.test_mode, r.id) = (c.partner_id, c.test_mode, c.request_id)
      join mandates a on (a.partner_id, a.test_mode, a.id) = (c.partner_id, c.test_mode, k.mandate_id)
    order by c.request_id for update of c`;
  const free = new Map(rows.flatMap((row) => (row.arriving || row.busy ? [] : [[row.request_id, row.counted_micro]])));
  const usable = new Set(active.map(({ id }) => id));
  const isUsable = new Map(charges.map(({ row, mandate }) => [row.request_id, usable.has(mandate.id)]));
  return new Map(
    requests.flatMap(({ id, ...request }) => {
      const counted = free.get(id);
      return counted === undefined || !isUsable.get(id) ? [] : [[id, { ...request, counted_micro: counted }] as const];
    }),
  );
}

/** Whether a charge of the wallet of a mandate `a` is under way and not mined, over all partners. */
const isBusy = (tx: Tx) => tx`
  exists (select from mandates b
    join collections o on (o.partner_id, o.test_mode, o.plan_id) = (b.partner_id, b.test_mode, b.plan_id)
    join relay_transactions t on t.id = o.relay_id
    where b.chain_id = a.chain_id and b.token_address = a.token_address and b.payer = a.payer and b.state = 'active'
      and o.state = 'sent' and t.state in ('allotted', 'sent'))`;
