import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { attachProofs, type RequestKey } from '../../requests/proof.ts';
import { attachment, type HeldRequest, judgeTransfer, provenBy, withApplied } from '../apply.ts';
import { type Chosen, readChoices } from '../candidates.ts';
import { completeProofs, type Settled } from '../complete.ts';
import { type ChainView, readChainView } from '../proof/heads.ts';
import { undoubtedMicroOf } from '../rest.ts';
import { completing, type Rule, restMicro } from '../rules.ts';
import { type MatchResult, updateMatches } from '../store.ts';
import { isSameRow, type TransferRow } from '../transfers.ts';
import { type Held, lockBatch } from './lock.ts';
import { selectRefunded } from './store.ts';

/**
 * Matches transfers of a chain in one transaction over all scopes, in their order, each as if it were matched alone.
 * Two kinds are left to be matched alone: those that somebody else has locked, and parts after which an amount must be
 * reserved.
 *
 * @param confirmed those that all endpoints have agreed on
 * @param passed requests of which a transfer was left; their later ones are left too, to keep the order. This adds more
 * @returns those that were matched
 */
export function matchTogether(
  ctx: Context,
  chain: ChainConfig,
  rows: readonly TransferRow[],
  confirmed: ReadonlySet<TransferRow>,
  passed: Set<string>,
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
      if (!batch.take(one, { isRefunded, confirmed: confirmed.has(one.row) }, passed) && one.choice.requestId)
        passed.add(one.choice.requestId);
    }
    const { matches, verified, attached } = batch.verdicts();
    if (matches.length === 0) return [];
    const [count, attachedNow, verifiedNow] = await Promise.all([
      updateMatches(tx, 'pending', matches, ctx.clock.now()),
      attachProofs(tx, attached),
      completeProofs(tx, ctx, verified),
    ]);
    if (count < matches.length || attachedNow < attached.length || verifiedNow.size < verified.length)
      throw new Error('something that was locked has changed');
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

type Known = { isRefunded: boolean; confirmed: boolean };
/** A request that is paid now: by settled transfers, or to be attached unless it already is. */
type Proved = { held: HeldRequest; settled: TransferRow[] | null; last: TransferRow; attaches: boolean };

/** Decides the outcome of locked transfers and requests, one transfer after the other. Nothing is written yet. */
class Batch {
  readonly taken: TransferRow[] = [];
  readonly #held: Held;
  readonly #view: ChainView;
  readonly #matches: { row: TransferRow; result: MatchResult }[] = [];
  readonly #proved = new Map<string, Proved>();

  constructor(held: Held, view: ChainView) {
    this.#held = held;
    this.#view = view;
  }

  /** False if it is left to be matched alone. */
  take({ row, choice }: Chosen, known: Known, passed: ReadonlySet<string>): boolean {
    const current = this.#held.transfer(row);
    if (current?.block_hash !== row.block_hash || current.request_id !== null || current.judged_at !== null)
      return false;
    const result =
      choice.requestId === null
        ? { requestId: null, candidateId: null, reason: choice.reason }
        : !passed.has(choice.requestId) && this.#judge(current, choice.requestId, choice.rule, known);
    if (!result) return false;
    this.#matches.push({ row: current, result });
    this.taken.push(row);
    return true;
  }

  #judge(current: TransferRow, requestId: string, rule: Rule, { isRefunded, confirmed }: Known): MatchResult | null {
    const held = this.#held.requests.get(requestId);
    if (!held) return null;
    const { request, counted } = held;
    const applicability = judgeTransfer(current, held, rule, isRefunded);
    if (!applicability) return null;
    if (!applicability.counts) return { requestId: null, candidateId: requestId, reason: applicability.reason };
    const after = withApplied(counted, current);
    const due = BigInt(request.usdc_micro);
    if (applicability.completes) {
      const settled = provenBy(request, after, this.#view, { row: current, confirmed });
      const isPaid = completing(settled, due) !== null;
      const attaches = this.#proved.get(requestId)?.attaches ?? request.proof_status === 'none';
      this.#proved.set(requestId, { held, settled: isPaid ? settled : null, last: current, attaches });
      held.request = { ...request, proof_status: isPaid ? 'verified' : 'attached' };
    } else if (request.proof_status === 'none' && restMicro(due, undoubtedMicroOf(after)) !== null) return null;
    held.counted = after;
    return { requestId, rule, reason: null };
  }

  verdicts() {
    const verified: Settled[] = [];
    const attached: ReturnType<typeof attachment>[] = [];
    for (const { held, settled, last, attaches } of this.#proved.values()) {
      if (settled) verified.push({ request: held.request, settled });
      else if (attaches) attached.push(attachment(held.request, held.counted, last));
    }
    return { matches: this.#matches, verified, attached };
  }
}
