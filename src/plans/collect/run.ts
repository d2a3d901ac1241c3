import { canRelay, heldKeys, maxWaitingOf, relayerAddresses } from '../../chain/relay/relay.ts';
import type { Hex } from '../../chain/rpc.ts';
import { type ChainConfig, isTestChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { workThrough } from '../../lib/concurrency/work-through.ts';
import { minuteMs } from '../../lib/durations.ts';
import { type Attempt, attemptAll } from './attempt.ts';
import { type PermitOf, selectChargeFacts, selectMandates, selectPermits } from './charge-facts-store.ts';
import {
  claimDueCharges,
  collectionsDue,
  selectDecided,
  updateBlocked,
  updateCharged,
  updateReturned,
} from './queue-store.ts';

export { collectionsDue };

/**
 * How many charges of a chain are claimed at once; how many of one partner, which are made together; and how many such
 * groups are under way at once.
 */
const maxClaimed = 96;
const maxOfOne = 16;
const maxGroups = 12;
/** How long other nodes leave a claimed charge alone; after a crash it is claimed again. */
const leaseMs = minuteMs;
const decidedBatch = 500;
/** How many due charges of one partner a pass looks at, for those that wait for an earlier one of their plan. */
const maxBlocked = 500;

/**
 * Makes the due charges of a chain and ends those that the chain has decided. Alternates between partners; charges of
 * one partner that are claimed together are made together, in parallel with those of others. A charge that fails is
 * stored as failed and delays no other.
 *
 * @returns how many transactions were sent or decided, and how many charges wait for an earlier one of their plan
 */
export async function collectDue(ctx: Context, chain: ChainConfig, signal: AbortSignal): Promise<number> {
  const decided = await settleDecided(ctx, chain);
  const ready = await readyAddresses(ctx, chain);
  let groups: Attempt[][] = [];
  let sent = 0;
  await workThrough(
    signal,
    async (running) => {
      const room = maxGroups - running;
      if (groups.length === 0 && room > 0) groups = await claim(ctx, chain);
      return groups.splice(0, room);
    },
    async (group) => {
      try {
        const more = await attemptAll(ctx, chain, group, ready);
        sent += more; // after the wait, because groups run at once
      } catch (error) {
        // They are claimed again once their lease is over.
        const level = isUnreachable(error) ? 'warn' : 'error';
        ctx.log[level]({ err: error, partner_id: group[0]?.row.partner_id }, 'charges could not be attempted');
      }
      return true;
    },
  );
  return decided + sent + (await postponeBlocked(ctx, chain));
}

/** A charge that is taken ends soon, so charges that wait for it are not postponed and follow at once. */
function postponeBlocked(ctx: Context, chain: ChainConfig): Promise<number> {
  const now = ctx.clock.now();
  const soon = new Date(now.getTime() + 2 * leaseMs);
  return updateBlocked(ctx.db, chain.chainId, { now, soon, ofOne: maxBlocked });
}

/** Those of the relayer's addresses that can send now, so that one without coin does not delay another's charges. */
async function readyAddresses(ctx: Context, chain: ChainConfig): Promise<ReadonlySet<Hex>> {
  const addresses = relayerAddresses(ctx);
  const answers = await Promise.all(addresses.map((address) => canRelay(ctx, chain, address)));
  return new Set(addresses.filter((_, i) => answers[i]));
}

/** Claims due charges, grouped by partner, mode and executor. */
async function claim(ctx: Context, chain: ChainConfig): Promise<Attempt[][]> {
  const now = ctx.clock.now();
  const limits = {
    ...{ now, leaseUntil: new Date(now.getTime() + leaseMs), ofOne: maxOfOne, all: maxClaimed },
    testMode: isTestChain(ctx.chains, chain),
    waiting: maxWaitingOf('charge'),
    keys: heldKeys(ctx, now),
  };
  const claims = await claimDueCharges(ctx.db, chain.chainId, limits);
  if (claims.length === 0) return [];
  const rows = await selectChargeFacts(ctx.db.sql, claims);
  const mandates = await selectMandates(ctx.db.sql, rows);
  const permits = await selectPermits(ctx.db.sql, mandates);
  const attempts = rows.map((row): Attempt => {
    const mandate = mandates.find((one) => one.partner_id === row.partner_id && one.plan_id === row.plan_id) ?? null;
    return { row, mandate, permit: permits.find((one) => isOf(one, mandate)) ?? null };
  });
  const groups = Map.groupBy(attempts, ({ row, mandate }) =>
    [row.partner_id, row.test_mode, mandate?.executor ?? ''].join(' '),
  );
  return [...groups.values()];
}

const isOf = (permit: PermitOf, mandate: Attempt['mandate']) =>
  mandate !== null &&
  permit.chain_id === mandate.chain_id &&
  permit.token_address === mandate.token_address &&
  permit.payer === mandate.payer &&
  permit.contract_address === mandate.contract_address;

/**
 * Ends the charges that are final. Those whose transaction moved nothing are tried again, unless their plan was paused
 * or ended meanwhile.
 *
 * @returns how many the chain had decided
 */
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
