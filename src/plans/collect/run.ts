import { canRelay, relayerAddresses } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { workThrough } from '../../lib/work-through.ts';
import type { PermitRow } from '../mandates/read.ts';
import { type Attempt, attempt } from './attempt.ts';
import { type PermitOf, selectKnown, selectMandates, selectPermits } from './known-store.ts';
import { collectionsDue, selectDecided, takeDue, updateCharged, updateReturned } from './queue-store.ts';

export { collectionsDue };

/** How many charges of a chain are under way together, and how many of one partner are taken at once. */
const mostUnderWay = 12;
const mostOfOne = 6;
/** A charge in hand is left alone by other nodes for so long; after a crash it is taken again. */
const leaseMs = minuteMs;
const decidedBatch = 500;

/**
 * Makes the charges of a chain that are due, several side by side and partners in turn, and ends those that the chain
 * has decided about. A charge that fails is stored as such and delays no other.
 *
 * @returns how many transactions were sent or decided
 */
export async function collectDue(ctx: Context, chain: ChainConfig, signal: AbortSignal): Promise<number> {
  const decided = await settleDecided(ctx, chain);
  const ready = await readyAddresses(ctx, chain);
  const sent = await workThrough(
    signal,
    async (underWay) => (underWay > mostUnderWay / 2 ? [] : take(ctx, chain, mostUnderWay - underWay)),
    async (one) => {
      try {
        return await attempt(ctx, chain, one, ready);
      } catch (error) {
        // It is taken again when its time in hand is over.
        const level = isUnreachable(error) ? 'warn' : 'error';
        ctx.log[level]({ err: error, request_id: one.row.request_id }, 'a charge could not be attempted');
        return false;
      }
    },
  );
  return decided + sent;
}

/** Those of the relayer's addresses that can send now: one without coin does not keep another's charges back. */
async function readyAddresses(ctx: Context, chain: ChainConfig): Promise<ReadonlySet<Hex>> {
  const addresses = relayerAddresses(ctx);
  const answers = await Promise.all(addresses.map((address) => canRelay(ctx, chain, address)));
  return new Set(addresses.filter((_, i) => answers[i]));
}

async function take(ctx: Context, chain: ChainConfig, room: number): Promise<Attempt[]> {
  const now = ctx.clock.now();
  const limits = { now, leaseUntil: new Date(now.getTime() + leaseMs), ofOne: mostOfOne, all: room };
  const taken = await takeDue(ctx.db, chain.chainId, limits);
  if (taken.length === 0) return [];
  const rows = await selectKnown(ctx.db.sql, taken);
  const mandates = await selectMandates(ctx.db.sql, rows);
  const permits = await selectPermits(ctx.db.sql, mandates);
  return rows.map((row) => {
    const mandate = mandates.find((one) => one.partner_id === row.partner_id && one.plan_id === row.plan_id) ?? null;
    return { row, mandate, permit: permits.find((one) => isOf(one, mandate)) ?? null };
  });
}

const isOf = (permit: PermitOf & PermitRow, mandate: Attempt['mandate']) =>
  mandate !== null &&
  Number(permit.chain_id) === Number(mandate.chain_id) &&
  permit.token_address === mandate.token_address &&
  permit.payer === mandate.payer &&
  permit.contract_address === mandate.contract_address;

/** Ends the charges that are final. Those whose transaction moved nothing are tried again, or told why not. */
async function settleDecided(ctx: Context, chain: ChainConfig): Promise<number> {
  const rows = await selectDecided(ctx.db.sql, chain.chainId, decidedBatch);
  const now = ctx.clock.now();
  const isFinal = (row: { relay_state: string }) => row.relay_state === 'final';
  await updateCharged(ctx.db.sql, rows.filter(isFinal), now);
  await updateReturned(
    ctx.db.sql,
    rows.filter((row) => !isFinal(row)),
    now,
  );
  return rows.length;
}
