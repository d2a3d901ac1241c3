import { type Html, html } from '../../lib/text/html.ts';
import type { TransferProgress, UnmatchedProgress } from '../../payments/proof/progress.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import { isRefundSent } from '../../refunds/read.ts';
import type { DifferingReplays } from '../../requests/replay.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { stateLine } from '../../ui/components.ts';
import { ago, groupMicro } from '../../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../../ui/language.ts';
import { refundLine } from './refunded.ts';
import type { History } from './timeline.ts';

/** What about a request needs attention, in plain words; null if nothing does. */
export function requestConcerns(words: Words, history: History, replays: DifferingReplays | null): Html | null {
  const lines = [
    ...amountLines(words, history),
    ...history.progress.unmatched.map((transfer) => unmatchedLine(words, history, transfer)),
    replays && replayLine(words, replays, history.now),
  ].filter((line) => line !== null);
  return lines.length > 0 ? html`<section class="card">${lines}</section>` : null;
}

function amountLines(words: Words, history: History): Html[] {
  const { row, progress } = history;
  const { request } = portalTexts(words);
  const usdc = (micro: bigint) => groupMicro(words, micro);
  const { receivedMicro, missingMicro, overpaidMicro, dueMicro } = progress;
  if (overpaidMicro > 0n) {
    const title = fill(request.over, { amount: usdc(overpaidMicro) });
    return [withRefund(words, history, progress.transfers.at(-1), title, request.overRest)];
  }
  if (receivedMicro === 0n || missingMicro === 0n) return [];
  const isOpen = row.status === 'requested' || row.status === 'opened';
  const rest = fill(isOpen ? request.missingRest : request.missingEnded, {
    received: usdc(receivedMicro),
    due: usdc(dueMicro),
  });
  return [stateLine('attention', fill(request.missing, { amount: usdc(missingMicro) }), rest)];
}

/** Money that needs attention until its refund is sent. After that, the state of the refund. */
function withRefund(
  words: Words,
  { refunds, chains }: History,
  transfer: TransferProgress | undefined,
  title: string,
  rest: string,
): Html {
  const refund = transfer && refunds.get(writeTransferKey(transfer));
  if (!refund) return stateLine('attention', title, rest);
  const isDone = isRefundSent(refund);
  return html`
    <div>
      ${stateLine(isDone ? 'ended' : 'attention', title, isDone ? null : rest)}
      <div class="after-state">${refundLine(words, refund, chains)}</div>
    </div>
  `;
}

function unmatchedLine(words: Words, history: History, transfer: UnmatchedProgress): Html {
  const { reason, usdcMicro } = transfer;
  const { request, reasons } = portalTexts(words);
  const amount = groupMicro(words, usdcMicro);
  const [title, rest] = {
    late: [request.late, request.lateRest],
    voided: [request.voided, request.voidedRest],
    already_paid: [request.twice, request.twiceRest],
  }[reason as string] ?? [request.stray, request.strayRest];
  const why = fill(commonTexts(words).common.sentence, { text: reasons[reason] });
  return withRefund(words, history, transfer, title ?? '', fill(rest ?? '', { amount, reason: why }));
}

function replayLine(words: Words, { times, last_at, last_fields }: DifferingReplays, now: Date): Html {
  const { request } = portalTexts(words);
  const fields = html`${last_fields.map((name, i) => html`${i > 0 && ', '}<code>${name}</code>`)}`;
  const rest = fillHtml(request.replayedRest, { time: ago(words, last_at, now), fields });
  return stateLine('attention', fillCount(words, request.replayed, times), rest);
}
