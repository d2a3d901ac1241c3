import type { Hex } from '../../chain/rpc.ts';
import type { Sql, Tx } from '../../db/connection.ts';
import { charged, uncollected } from './charged-store.ts';

/** Identifies an allowance: payer, token and contract. */
export type AllowanceKey = { chainId: number; token: Hex; payer: Hex; contract: Hex };

/** The latest EIP-2612 permit of a payer. `value` covers all mandates of that payer; `deadline` is in unix seconds. */
export type PermitRow = { value: string; nonce: string; deadline: string; signature: Buffer; signed_at: Date };

export async function selectPermitOf(sql: Sql | Tx, key: AllowanceKey): Promise<PermitRow | null> {
  const [row] = await sql<PermitRow[]>`
    select value, nonce, deadline, signature, signed_at from permits
    where chain_id = ${key.chainId} and token_address = ${key.token} and payer = ${key.payer}
      and contract_address = ${key.contract}`;
  return row ?? null;
}

/** Stores a permit in place of an earlier one. */
export async function upsertPermit(tx: Sql | Tx, key: AllowanceKey, permit: PermitRow): Promise<void> {
  await tx`
    insert into permits (chain_id, token_address, payer, contract_address, value, nonce, deadline, signature, signed_at)
    values (${key.chainId}, ${key.token}, ${key.payer}, ${key.contract}, ${permit.value}, ${permit.nonce},
      ${permit.deadline}, ${permit.signature}, ${permit.signed_at})
    on conflict (chain_id, token_address, payer, contract_address) do update
      set value = excluded.value, nonce = excluded.nonce, deadline = excluded.deadline,
        signature = excluded.signature, signed_at = excluded.signed_at`;
}

/**
 * Deletes a permit for less than is needed. If a payer has approved more with a transaction, using the permit would
 * undo that.
 */
export async function deletePermitBelow(tx: Sql | Tx, key: AllowanceKey, neededMicro: bigint): Promise<void> {
  await tx`
    delete from permits
    where chain_id = ${key.chainId} and token_address = ${key.token} and payer = ${key.payer}
      and contract_address = ${key.contract} and value < ${neededMicro.toString()}::numeric`;
}

/** The allowance that a payer's mandates need. `micro`: the sum; null if one of them is without limit. */
export type OpenSum = { mandates: number; micro: bigint | null };

/**
 * The allowance that a payer's mandates in use need, over all partners: for each, the cap times the charges that are
 * left of those that it allows, or that its plan has left. One that was made counts until it is collected. The given
 * plan is left out, because it is about to get another mandate.
 */
export async function sumOfOpen(sql: Sql | Tx, key: AllowanceKey, withoutPlanId: string): Promise<OpenSum> {
  const [row] = await sql<{ mandates: number; unlimited: boolean; micro: string }[]>`
    select count(*)::int as mandates, coalesce(bool_or(a.allowed_charges is null), false) as unlimited,
      coalesce(sum(a.cap_micro * greatest(0, least(a.allowed_charges - ${charged(sql)},
        p.max_charges - p.charges + ${uncollected(sql)}))), 0)::text as micro
    from mandates a join plans p on (p.partner_id, p.test_mode, p.id) = (a.partner_id, a.test_mode, a.plan_id)
    where a.chain_id = ${key.chainId} and a.token_address = ${key.token} and a.payer = ${key.payer}
      and a.contract_address = ${key.contract} and a.state = 'active' and a.plan_id <> ${withoutPlanId}`;
  if (!row) return { mandates: 0, micro: 0n };
  return { mandates: row.mandates, micro: row.unlimited ? null : BigInt(row.micro) };
}

/** Until the transaction ends, nobody else changes what this payer has agreed to, so the sum is exact. */
export async function lockPayer(tx: Tx, { chainId, token, payer, contract }: AllowanceKey): Promise<void> {
  const name = `mandates ${chainId} ${token} ${payer} ${contract}`;
  await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
}
