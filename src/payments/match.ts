import { scopeOfRow } from '../auth/scope.ts';
import { finalNumber } from '../chain/finality.ts';
import { allChains, type ChainConfig, isTestChain } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { isConflict } from '../db/conflict.ts';
import { type Since, wholeQueue } from '../db/due.ts';
import { chunksOf } from '../lib/chunks.ts';
import { withinOr } from '../lib/time.ts';
import { applyTransfer } from './apply.ts';
import { matchTogether } from './batches/match.ts';
import { batchSize, reportBatch } from './batches/report.ts';
import { readChoices } from './candidates.ts';
import { crossCheck, emptyCrossCheck } from './proof/cross-check.ts';
import { needsCrossCheck, readHeads } from './proof/heads.ts';
import { postpone, selectPending } from './queue-store.ts';
import type { Reason } from './rules.ts';
import { updateMatches } from './store.ts';
import { keyOf, type TransferRow } from './transfers.ts';

/** Per chain and pass; the next pass takes the rest. */
const passSize = 500;
/** This many are matched one by one in a pass, for about a second. Payments that arrive meanwhile wait for its end. */
const maxOneByOne = 100;
/**
 * This many batches are matched at once. All transfers of a partner are in one lane, so none waits for another lane.
 */
const lanes = 2;
/** How long endpoints are queried in one pass. */
const crossCheckMs = 1_500;
/** How often a transfer of a token that this node does not know is tried before it is unmatched: for about an hour. */
const maxUnknownTokenTries = 60;

/**
 * Matches the transfers that the watcher found, oldest first: each is applied to the request it is meant for, or
 * unmatched with a reason. Any number of processes can do so at once.
 *
 * @param chains side by side; all of them unless said
 * @param since from when on transfers that wait are read
 * @returns how many were matched
 */
export async function matchPending(ctx: Context, chains = allChains(ctx.chains), since = wholeQueue): Promise<number> {
  let matched = 0;
  for (const count of await Promise.all(chains.map((chain) => matchChain(ctx, chain, since())))) matched += count;
  return matched;
}

async function matchChain(ctx: Context, chain: ChainConfig, since: Since): Promise<number> {
  const own = { chainId: chain.chainId, testMode: isTestChain(ctx.chains, chain) };
  const pending = await selectPending(ctx.db, own, passSize, since);
  // Whoever read it has the token in its CHAINS_FILE. That file may be about to reach this node.
  const hasUnknownToken = (row: TransferRow) => row.looks < maxUnknownTokenTries && !hasToken(chain, row);
  const withUnknownToken = pending.filter(hasUnknownToken);
  const rows = pending.filter((row) => !hasUnknownToken(row));
  const agreed = await crossCheckFinal(ctx, chain, rows);
  const unmatchedYet = await matchBatches(ctx, chain, rows, agreed);
  let matched = rows.length - unmatchedYet.length;
  const postponed: TransferRow[] = [];
  // The remaining transfers are not postponed: the next pass takes them, with those that have arrived since.
  for (const row of unmatchedYet.slice(0, maxOneByOne)) {
    try {
      if (await matchOne(ctx, chain, row, agreed.has(row))) matched++;
      else postponed.push(row);
    } catch (error) {
      if (isConflict(error)) continue;
      // A transfer that cannot be matched must not delay the others.
      ctx.log.error({ err: error, transfer: keyOf(row) }, 'a transfer could not be matched');
      postponed.push(row);
    }
  }
  await postpone(ctx.db, [...postponed, ...withUnknownToken], 'pending');
  return matched;
}

const hasToken = (chain: ChainConfig, row: TransferRow) =>
  chain.tokens.some(({ address }) => address === row.token_address);

/**
 * Matches transfers in batches over all scopes.
 *
 * @returns what is left to match one by one, in order: transfers that a batch does not handle, and batches in which one
 * failed
 */
async function matchBatches(
  ctx: Context,
  chain: ChainConfig,
  rows: readonly TransferRow[],
  agreed: ReadonlySet<TransferRow>,
): Promise<TransferRow[]> {
  const done = new Set<TransferRow>();
  const skipped = new Set<string>();
  const matchLane = async (own: readonly TransferRow[]) => {
    for (const batch of chunksOf(own, batchSize)) {
      try {
        for (const row of await matchTogether(ctx, chain, batch, agreed, skipped)) done.add(row);
      } catch (error) {
        reportBatch(ctx, error);
      }
    }
  };
  await Promise.all(Map.groupBy(rows, laneOf).values().map(matchLane));
  return rows.filter((row) => !done.has(row));
}

const laneOf = ({ partner_id }: TransferRow) => Number.parseInt(partner_id.slice(-2), 16) % lanes;

/**
 * Asks all endpoints about transfers that are final already. Nobody waits for slow endpoints: what they have not
 * confirmed in time is verified later.
 */
async function crossCheckFinal(ctx: Context, chain: ChainConfig, rows: TransferRow[]): Promise<Set<TransferRow>> {
  const [first] = rows;
  if (!first) return new Set();
  if (!needsCrossCheck(chain)) return new Set(rows);
  const heads = await readHeads(ctx.db.sql, chain.chainId);
  const final = heads ? finalNumber(chain.finality, heads) : -1;
  const checks = emptyCrossCheck();
  const asked = rows.filter((row) => Number(row.block_number) <= final);
  await withinOr(crossCheck(chain, asked, crossCheckMs, checks), crossCheckMs, null);
  return checks.agreed;
}

function matchOne(ctx: Context, chain: ChainConfig, row: TransferRow, confirmed: boolean): Promise<boolean> {
  const scope = scopeOfRow(row);
  return ctx.db.scoped(scope, async (tx) => {
    const [chosen] = await readChoices(tx, chain, [row]);
    if (!chosen) return false;
    const unmatched = async (reason: Reason, candidateId: string | null) => {
      const match = { row, result: { requestId: null, candidateId, reason } };
      return (await updateMatches(tx, 'pending', [match], ctx.clock.now())) > 0;
    };
    const { choice } = chosen;
    if (choice.requestId === null) return unmatched(choice.reason, null);
    const { requestId, rule } = choice;
    const applying = { row, requestId, rule, from: 'pending', confirmed, asPart: true } as const;
    const applied = await applyTransfer(tx, ctx, scope, applying);
    if (applied.kind === 'rejected') return unmatched(applied.reason, requestId);
    return applied.kind === 'applied';
  });
}
