import type { Sql } from '../../db/connection.ts';
import { seenStatus } from '../../requests/expiry.ts';
import { type ChargeFactsRow, countedOf, isPaymentSeen } from './charge-facts-store.ts';
import { isOver } from './queue-store.ts';
import type { CollectionReason } from './rules.ts';

/** What a charge waits for or is stopped by, as it is judged before it is sent. */
type Judged = Pick<
  ChargeFactsRow,
  | ('status' | 'proof_status' | 'usdc_micro' | 'counted_micro' | 'payment_seen')
  | ('merchant_disabled' | 'partner_disabled')
>;

/** A relayed charge or authorization, and what has become of its request since. */
export type RelayedRow = Judged & {
  id: string;
  purpose: 'charge' | 'authorization';
  data: Uint8Array;
  /** Null while the plan goes on. */
  plan_over: 'plan_paused' | 'plan_ended' | null;
  mandate_active: boolean;
};

/** The calls among these that pay a request: authorizations, and charges that are under way. */
export function selectRelayed(sql: Sql, relayIds: readonly string[]): Promise<RelayedRow[]> {
  return sql<RelayedRow[]>`
    select b.id, b.purpose, b.data, r.proof_status, ${seenStatus(sql)} as status, r.usdc_micro,
      ${countedOf(sql)} as counted_micro, ${isPaymentSeen(sql)} as payment_seen,
      case when ${isOver(sql)} then 'plan_' || p.state end as plan_over, a.state = 'active' as mandate_active,
      m.disabled_by_partner or m.disabled_by_operator as merchant_disabled, w.disabled_at is not null as partner_disabled
    from relay_transactions b
      join requests r on (r.partner_id, r.test_mode, r.id) = (b.partner_id, b.test_mode, b.subject_id)
      join merchants m on (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
      join partners w on w.id = r.partner_id
      left join collections c on c.relay_id = b.id and c.state = 'sent'
      left join plans p on (p.partner_id, p.test_mode, p.id) = (c.partner_id, c.test_mode, c.plan_id)
      left join mandates a on (a.partner_id, a.test_mode, a.id) = (c.partner_id, c.test_mode, c.mandate_id)
    where b.id = any(${[...relayIds]}::uuid[])
      and (b.purpose = 'authorization' or (b.purpose = 'charge' and c.relay_id is not null))`;
}

/** Stores with each charge what has overtaken its transaction, or that nothing has. */
export async function updateOvertaken(
  sql: Sql,
  charges: readonly { row: RelayedRow; reason: CollectionReason | null }[],
  now: Date,
): Promise<void> {
  if (charges.length === 0) return;
  await sql`
    update collections c set reason = k.reason,
      reason_at = case when k.reason is not null then ${now}::timestamptz end
    from unnest(${charges.map(({ row }) => row.id)}::uuid[], ${charges.map(({ reason }) => reason)}::text[])
      as k (relay_id, reason)
    where c.relay_id = k.relay_id and c.state = 'sent' and c.reason is distinct from k.reason`;
}
