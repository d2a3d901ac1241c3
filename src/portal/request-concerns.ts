import { type Html, html } from '../lib/html.ts';
import type { UnmatchedProgress } from '../payments/progress.ts';
import type { DifferingReplays } from '../requests/replay.ts';
import { stateLine } from '../ui/components.ts';
import { ago, groupMicro } from '../ui/formats.ts';
import { fill, fillHtml, type Words } from '../ui/language.ts';
import type { History } from './timeline.ts';

/** What about a request wants a person's eye, in plain words; null when nothing does. */
export function requestConcerns(words: Words, history: History, replays: DifferingReplays | null): Html | null {
  const lines = [
    ...amountLines(words, history),
    ...history.progress.unmatched.map((transfer) => strayLine(words, transfer)),
    replays && replayLine(words, replays, history.now),
  ].filter((line) => line !== null);
  return lines.length > 0 ? html`<section class="card">${lines}</section>` : null;
}

function amountLines(words: Words, { row, progress }: History): Html[] {
  const { request } = words.t.portal;
  const usdc = (micro: bigint) => groupMicro(words, micro);
  const { receivedMicro, missingMicro, overpaidMicro, dueMicro } = progress;
  if (overpaidMicro > 0n) {
    return [stateLine('attention', fill(request.over, { amount: usdc(overpaidMicro) }), request.overRest)];
  }
  if (receivedMicro === 0n || missingMicro === 0n) return [];
  const isOpen = row.status === 'requested' || row.status === 'opened';
  const rest = fill(isOpen ? request.missingRest : request.missingEnded, {
    received: usdc(receivedMicro),
    due: usdc(dueMicro),
  });
  return [stateLine('attention', fill(request.missing, { amount: usdc(missingMicro) }), rest)];
}

function strayLine(words: Words, { reason, usdcMicro }: UnmatchedProgress): Html {
  const { request, reasons } = words.t.portal;
  const amount = groupMicro(words, usdcMicro);
  const [title, rest] = {
    late: [request.late, request.lateRest],
    voided: [request.voided, request.voidedRest],
    already_paid: [request.twice, request.twiceRest],
  }[reason as string] ?? [request.stray, request.strayRest];
  const why = fill(words.t.common.sentence, { text: reasons[reason] });
  return stateLine('attention', title ?? '', fill(rest ?? '', { amount, reason: why }));
}

function replayLine(words: Words, { times, last_at, last_fields }: DifferingReplays, now: Date): Html {
  const { request } = words.t.portal;
  const fields = html`${last_fields.map((name, i) => html`${i > 0 && ', '}<code>${name}</code>`)}`;
  const rest = fillHtml(request.replayedRest, { time: ago(words, last_at, now), fields });
  return stateLine('attention', fill(request.replayed, { times }), rest);
}
