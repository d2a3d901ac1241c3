import { usdcBalance } from '../../src/sandbox/wallet.ts';
import { dustMicro } from './dust.ts';
import { deepestFinality, expectedProof, isOnChain, type Order, type Payment, paidMicro } from './model.ts';
import { blockOf } from './payments.ts';
import type { Stage } from './stage.ts';

type TransferRow = {
  tx_hash: string;
  request_id: string | null;
  counts: boolean;
  value: string;
  to_address: string;
  block_number: string;
  reason: string | null;
  is_final: boolean;
  is_judged: boolean;
};

/** The differences between the service and the model. They must disappear by themselves within a time limit. */
export type Difference = { what: string; missing?: Pick<Payment, 'txHash' | 'order'>; order?: Order };

/** Compares every order and payment with what the service stores, once nothing is broken any more. */
export async function differences(stage: Stage): Promise<Difference[]> {
  const { owner } = stage.database;
  const rows = await owner<TransferRow[]>`
    select tx_hash, request_id, counts, value::text as value, to_address, block_number::text as block_number, reason,
      final_at is not null as is_final, judged_at is not null as is_judged
    from transfers where value <> ${String(dustMicro)}`;
  const stored = new Map(rows.map((row) => [row.tx_hash, row]));
  const found: Difference[] = [];
  for (const payment of stage.model.payments) found.push(...compare(payment, stored.get(payment.txHash)));
  const known = new Set(stage.model.payments.map(({ txHash }) => txHash));
  for (const { tx_hash: hash } of rows) if (!known.has(hash)) found.push({ what: `nobody paid ${hash}` });
  found.push(...(await compareDust(stage)));
  found.push(...(await compareOrders(stage, rows)));
  const gaps = await owner<{ token: string }[]>`
    select token_address as token from tokens_read where back_at is not null`;
  for (const { token } of gaps) found.push({ what: `blocks that were read without ${token} are not searched for it` });
  const late = await owner<{ id: string }[]>`
    select id from webhook_deliveries where state <> 'delivered' limit 5`;
  for (const { id } of late) found.push({ what: `event ${id} was not delivered` });
  return found;
}

/** Each of the smallest transfers is stored once, in its block, and pays nothing. */
async function compareDust({ database, model }: Stage): Promise<Difference[]> {
  const rows = await database.owner<{ tx_hash: string; block: string; many: number; unmatched: number }[]>`
    select tx_hash, block_number::text as block, count(*)::int as many,
      (count(*) filter (where judged_at is not null and request_id is null))::int as unmatched
    from transfers where value = ${String(dustMicro)} group by tx_hash, block_number`;
  const stored = Map.groupBy(rows, (row) => row.tx_hash);
  const found: Difference[] = [];
  for (const { txHash, order, transfers, block } of model.dust) {
    const [row, second] = stored.get(txHash) ?? [];
    const isRight = block === null ? !row : row?.block === String(block) && row.unmatched === transfers && !second;
    const told = row ? `${row.unmatched} of ${row.many} unmatched in ${row.block}` : 'nothing';
    const what = `of ${transfers} smallest transfers of ${txHash} in ${block} there is ${told}`;
    if (!isRight) found.push(row ? { what } : { what, missing: { txHash, order } });
  }
  return found;
}

/** One payment and its row. A final payment stays stored, even if a reorganisation removed it. */
function compare(payment: Payment, row: TransferRow | undefined): Difference[] {
  const { txHash, order, how, block } = payment;
  const name = `${how} payment ${txHash} of ${order.id}`;
  if (!row) return isOnChain(payment) ? [{ what: `${name} was not found`, missing: payment }] : [];
  if (!row.is_final && (block === null || Number(row.block_number) !== block))
    return [{ what: `${name} is stored in block ${row.block_number}, and stands in ${block}` }];
  if (!row.is_judged) return [{ what: `${name} was not judged` }];
  if (row.request_id !== null && row.request_id !== order.id) return [{ what: `${name} pays ${row.request_id}` }];
  return [];
}

async function compareOrders({ database, model }: Stage, rows: TransferRow[]): Promise<Difference[]> {
  const found: Difference[] = [];
  const states = await database.owner<{ id: string; key: string; status: string; proof: string }[]>`
    select id, idempotency_key as key, status, proof_status as proof from requests where idempotency_key like 'faults-%'`;
  const byKey = Map.groupBy(states, ({ key }) => key);
  const counted = Map.groupBy(
    rows.filter((row) => row.counts),
    (row) => row.request_id,
  );
  const reasons = new Map(rows.map((row) => [row.tx_hash, row.reason]));
  const final = new Set(rows.filter((row) => row.is_final).map((row) => row.tx_hash));
  for (const order of model.orders) {
    const [state, second] = byKey.get(order.key) ?? [];
    if (second) found.push({ what: `the key ${order.key} made two requests` });
    if (!state || order.id === null) found.push({ what: `${order.key} was never acknowledged` });
    else {
      const own = counted.get(order.id) ?? [];
      const micro = own.reduce((sum, { value }) => sum + BigInt(value), 0n);
      found.push(...judge(order, state, { micro, final }, reasons));
    }
  }
  return found;
}

function judge(
  order: Order,
  { status, proof }: { status: string; proof: string },
  { micro, final }: { micro: bigint; final: ReadonlySet<string> },
  reasons: Map<string, string | null>,
): Difference[] {
  const expected = expectedProof(order);
  const name = `request ${order.id} (${order.payments.map((one) => describe(one, reasons.get(one.txHash))).join(', ') || 'unpaid'})`;
  if ((order.cancelled === 'yes') !== (status === 'voided')) return [{ what: `${name} is ${status}` }];
  if (proof === 'verified' && expected !== 'none') order.wasVerified = true;
  else if (proof !== (expected === 'either' ? 'none' : expected))
    return [{ what: `${name} is ${proof} instead of ${expected}: ${micro} of ${order.dueMicro}`, order }];
  // A part that was final counts on when a deeper reorganisation takes it.
  const paid = paidMicro(order, (one) => isOnChain(one) || (order.lostFinal && final.has(one.txHash)));
  if (proof === 'none' && order.cancelled !== 'yes' && micro !== paid)
    return [{ what: `${name} counts ${micro} instead of ${paid}`, order }];
  return [];
}

const describe = ({ how, usdcMicro, block, refund, claimed }: Payment, reason: string | null | undefined): string =>
  `${how} ${usdcMicro} in ${block}${reason ? ` (${reason})` : ''}${claimed ? ' claimed' : ''}${refund === 'yes' ? ' refunded' : ''}`;

/** Reads the chain positions of all payments that can still move again. */
export async function lookAtChain(stage: Stage, head: number, buriedDepth: number): Promise<void> {
  for (const payment of stage.model.loose) {
    payment.block = await blockOf(stage, payment.txHash, 'here');
    if (payment.block !== null && payment.block <= head - buriedDepth) stage.model.loose.delete(payment);
  }
}

/** After this many blocks more, every payment is final. */
export const blocksToFinality = deepestFinality + 1;

/** The money of each merchant's wallet on each chain is what the service stored of it, less what was sent back. */
export async function compareSums(stage: Stage): Promise<string[]> {
  const rows = await stage.database.owner<{ tx_hash: string; to_address: string; chain_id: string; value: string }[]>`
    select tx_hash, to_address, chain_id, sum(value)::text as value from transfers group by 1, 2, 3`;
  const { payments, dust } = stage.model;
  const standing = [...payments, ...dust].filter(({ block }) => block !== null);
  const onChain = new Set(standing.map(({ txHash }) => txHash));
  const sums = new Map<string, bigint>();
  const add = (at: string, micro: bigint) => sums.set(at, (sums.get(at) ?? 0n) + micro);
  for (const row of rows) if (onChain.has(row.tx_hash)) add(`${row.to_address} ${row.chain_id}`, BigInt(row.value));
  for (const { refundHash, order, usdcMicro } of payments) {
    if (refundHash && (await blockOf(stage, refundHash, 'here')) !== null)
      add(`${order.wallet.address} ${stage.chain.chain.chainId}`, -usdcMicro);
  }
  const wrong: string[] = [];
  for (const { address } of stage.wallets) {
    for (const { chain } of [stage.chain, stage.elsewhere]) {
      const micro = await usdcBalance(chain, address);
      const sum = sums.get(`${address} ${chain.chainId}`) ?? 0n;
      if (micro !== sum) wrong.push(`the wallet ${address} holds ${micro} on ${chain.chainId}, and ${sum} is stored`);
    }
  }
  return wrong;
}
