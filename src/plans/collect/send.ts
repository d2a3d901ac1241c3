import { dispatchAll, enqueueCalls, type RelayCall, RelayRefusal } from '../../chain/relay/relay.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { type ChargeFactsRow, type Locked, lockToSend, type UsableMandate } from './charge-facts-store.ts';
import { postpone, releaseClaim } from './outcome.ts';
import { updateSent } from './store.ts';

/** A charge whose transaction was simulated, and how much gas it used. */
export type Ready = {
  one: { row: ChargeFactsRow; mandate: UsableMandate };
  call: RelayCall;
  amountMicro: bigint;
  gas: bigint;
};

/**
 * Stores charges together with their transactions, and only then sends them; after a crash in between the relayer's
 * loop sends them. An obstacle to one of them does not delay the others.
 *
 * @param ready charges of one partner and mode, by one executor, at most one per wallet
 * @returns how many were sent
 */
export async function sendAll(ctx: Context, ready: readonly Ready[]): Promise<number> {
  let relayIds: string[] = [];
  try {
    relayIds = await store(ctx, ready);
  } catch (error) {
    if (ready.length > 1 && !isUnreachable(error)) return sendEach(ctx, ready);
    if (!(error instanceof RelayRefusal)) throw error;
    for (const { one } of ready) {
      if (error.reason === 'queue') await releaseClaim(ctx, one);
      else await postpone(ctx, one, 'relayer_unready', null);
    }
  }
  if (relayIds.length > 0) await dispatchAll(ctx, relayIds);
  return relayIds.length;
}

async function sendEach(ctx: Context, ready: readonly Ready[]): Promise<number> {
  let sent = 0;
  for (const each of ready) {
    try {
      sent += await sendAll(ctx, [each]);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      // It is taken again once its lease is over.
      ctx.log.error({ err: error, request_id: each.one.row.request_id }, 'a charge could not be sent');
    }
  }
  return sent;
}

/**
 * Stores all in one transaction, under the locks of requests, mandates and charges, so that nothing is charged that was
 * paid, stopped or taken by another node meanwhile. Such a charge is taken again once its lease is over.
 */
async function store(ctx: Context, ready: readonly Ready[]): Promise<string[]> {
  const owner = ready[0]?.one.row;
  if (!owner) return [];
  return ctx.db.transaction(async (tx) => {
    const locked = await lockToSend(
      tx,
      owner,
      ready.map(({ one }) => one),
    );
    const open = ready.filter(({ one, amountMicro }) => isOpen(locked.get(one.row.request_id), amountMicro));
    if (open.length === 0) return [];
    const relayIds = await enqueueCalls(ctx, tx, open);
    await updateSent(
      tx,
      owner,
      open.map(({ one }, i) => ({ ...one, relayId: relayIds[i] as string })),
    );
    return relayIds;
  });
}

function isOpen(locked: Locked | undefined, amountMicro: bigint): boolean {
  if (locked?.proof_status !== 'none' || (locked.status !== 'requested' && locked.status !== 'opened')) return false;
  return BigInt(locked.usdc_micro) - BigInt(locked.counted_micro) === amountMicro;
}
