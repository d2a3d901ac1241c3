import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { RequestKey } from '../../requests/proof.ts';
import { type Chosen, readChoices } from '../candidates.ts';
import { decide, type IntendedTransfer } from '../decide.ts';
import { Decisions } from '../decisions.ts';
import { type ChainView, readChainView } from '../proof/heads.ts';
import { isSameRow, type TransferRow } from '../transfers.ts';
import { type LockedBatch, lockBatch } from './lock.ts';
import { selectRefunded } from './store.ts';

/**
 * Matches transfers of a chain in one transaction over all scopes, in their order, each as if it were matched alone.
 * Two kinds are left to be matched alone: those that somebody else has locked, and parts after which an amount must be
 * reserved.
 *
 * @param confirmed those that all endpoints have agreed on
 * @param skipped requests of which a transfer was left; their later ones are left too, to keep the order. This adds
 * more
 * @returns those that were matched
 */
export function matchTogether(
  ctx: Context,
  chain: ChainConfig,
  rows: readonly TransferRow[],
  confirmed: ReadonlySet<TransferRow>,
  skipped: Set<string>,
): Promise<TransferRow[]> {
  const testMode = rows[0]?.test_mode ?? false;
  return ctx.db.transaction(async (tx) => {
    const chosen = await readChoices(tx, chain, rows);
    // A refund is started under its payment's lock, so no new one can start from here on.
    const held = await lockBatch(tx, requestsOf(chosen), rows);
    const [view, refunded] = await Promise.all([readChainView(ctx, tx, testMode), selectRefunded(tx, rows)]);
    const batch = new Batch(held, view);
    for (const one of chosen) {
      const isRefunded = refunded.some((other) => isSameRow(other, one.row));
      if (!batch.take(one, { isRefunded, confirmed: confirmed.has(one.row) }, skipped) && one.choice.requestId)
        skipped.add(one.choice.requestId);
    }
    await batch.decisions.write(tx, ctx, 'pending');
    return batch.taken;
  });
}

/** Each request once; a transfer's request is in the transfer's scope. */
function requestsOf(chosen: readonly Chosen[]): RequestKey[] {
  const all = chosen.flatMap(({ row: { partner_id, test_mode }, choice }): [string, RequestKey][] =>
    choice.requestId === null ? [] : [[choice.requestId, { partner_id, test_mode, id: choice.requestId }]],
  );
  return [...new Map(all).values()];
}

/** Decides the outcome of locked transfers and requests, one transfer after the other. Nothing is written yet. */
class Batch {
  readonly taken: TransferRow[] = [];
  readonly decisions = new Decisions();
  readonly #held: LockedBatch;
  readonly #view: ChainView;

  constructor(held: LockedBatch, view: ChainView) {
    this.#held = held;
    this.#view = view;
  }

  /** False if it is left to be matched alone. */
  take(
    { row, choice }: Chosen,
    known: Pick<IntendedTransfer, 'isRefunded' | 'confirmed'>,
    skipped: ReadonlySet<string>,
  ): boolean {
    const current = this.#held.transfer(row);
    if (current?.block_hash !== row.block_hash || current.request_id !== null || current.judged_at !== null)
      return false;
    const { requestId } = choice;
    if (requestId === null) this.decisions.reject(current, null, choice.reason);
    else if (skipped.has(requestId) || !this.#decide(requestId, { row: current, rule: choice.rule, ...known }))
      return false;
    this.taken.push(row);
    return true;
  }

  #decide(requestId: string, meant: IntendedTransfer): boolean {
    const held = this.#held.requests.get(requestId);
    const decision = held && decide(held, meant, this.#view);
    if (!decision || decision.kind === 'gone' || (decision.kind === 'applied' && decision.restMicro !== null))
      return false;
    if (decision.kind === 'rejected') this.decisions.reject(meant.row, requestId, decision.reason);
    else {
      this.decisions.apply(held, meant, decision);
      this.#held.requests.set(requestId, decision.after);
    }
    return true;
  }
}
