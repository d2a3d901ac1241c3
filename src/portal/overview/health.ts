import { silentChains } from '../../chain/silence.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { dayMs, minuteMs } from '../../lib/durations.ts';
import type { Mode } from '../../lib/mode.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { maxSummed, sumUnmatched, type UnmatchedSum } from '../../payments/unmatched/browse.ts';
import { type ConcernCounts, maxRequestsCounted } from '../../requests/lists/figures.ts';
import { portalTexts } from '../../texts/portal.ts';
import { type StateKind, stateLine } from '../../ui/components.ts';
import { countedUpTo, formatRemaining, groupMicro } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { readDeliveryHealth } from '../../webhooks/health.ts';
import type { DeliveryHealth } from '../../webhooks/health-store.ts';

type Line = { kind: StateKind; title: string; rest: string; link?: { path: string; label: string } };

/** How long an event may wait without a failure before the page mentions it. */
const slowMs = 5 * minuteMs;
const unmatchedSinceMs = 30 * dayMs;

/** Whether everything is fine: one line if it is, otherwise one line for each problem. */
export async function healthOf(
  ctx: Context,
  scope: Scope,
  mode: Mode,
  words: Words,
  concerns: ConcernCounts,
): Promise<Html> {
  const now = ctx.clock.now();
  const [delivery, chains, unmatched] = await Promise.all([
    readDeliveryHealth(ctx, scope),
    silentChains(ctx, mode),
    sumUnmatched(ctx, scope, new Date(now.getTime() - unmatchedSinceMs)),
  ]);
  const { overview } = portalTexts(words);
  const lines = [
    ...webhookLines(words, delivery, now),
    ...chains.map(({ chain }): Line => {
      return { kind: 'attention', title: fill(overview.chain, { network: chain.name }), rest: overview.chainRest };
    }),
    unmatchedLine(words, unmatched),
    ...concernLines(words, concerns),
  ].filter((line) => line !== null);
  if (lines.length === 0) lines.push({ kind: 'paid', title: overview.fine, rest: overview.fineRest });
  return html`
    <section class="card">
      ${lines.map(
        ({ kind, title, rest, link }) =>
          html`
            <div>
              ${stateLine(kind, title, rest)}
              ${link && html`<p class="after-state"><a href="${link.path}">${link.label}</a></p>`}
            </div>
          `,
      )}
    </section>
  `;
}

const counted = (words: Words, count: number) => ({ count: countedUpTo(words, count, maxRequestsCounted) });

/** How many events wait for the endpoint; empty if none does. */
export function waitingText(words: Words, { waiting }: Pick<DeliveryHealth, 'waiting'>): string {
  return waiting === 0
    ? ''
    : fillCount(words, portalTexts(words).overview.eventsWaiting, waiting, counted(words, waiting));
}

/** How often the endpoint failed and, while events wait for it, that they are sent again: those used up are not. */
export function failingText(words: Words, health: Pick<DeliveryHealth, 'failures' | 'waiting'>): string {
  const { overview } = portalTexts(words);
  const failures = fillCount(words, overview.failuresInARow, health.failures);
  return health.waiting === 0
    ? failures
    : fill(overview.failingRest, { failures, waiting: waitingText(words, health) });
}

/** How many events are used up, and what to do about them; empty if none is. */
function exhaustedLines(words: Words, { exhausted }: DeliveryHealth, link: Line['link']): Line[] {
  const { overview } = portalTexts(words);
  if (exhausted === 0) return [];
  const title = fillCount(words, overview.exhausted, exhausted, counted(words, exhausted));
  return [{ kind: 'attention', title, rest: overview.exhaustedRest, link }];
}

function webhookLines(words: Words, health: DeliveryHealth, now: Date): Line[] {
  const { overview } = portalTexts(words);
  const link = { path: '/portal/webhooks', label: overview.toWebhooks };
  const waiting = waitingText(words, health);
  const exhausted = exhaustedLines(words, health, link);
  if (health.url === null) {
    const toSet = { ...link, label: overview.setUrl };
    const rest = fill(overview.noUrlRest, { waiting }).trim();
    return [{ kind: 'attention', title: overview.noUrl, rest, link: toSet }, ...exhausted];
  }
  if (health.disabled_at) {
    const rest = health.disabled_reason === 'gone' ? overview.disabledGone : overview.disabledSilent;
    return [{ kind: 'failed', title: overview.disabled, rest: fill(rest, { waiting }), link }, ...exhausted];
  }
  const lines: Line[] = [];
  if (health.failures > 0)
    lines.push({ kind: 'attention', title: overview.failing, rest: failingText(words, health), link });
  lines.push(...exhausted);
  const waitedMs = health.oldest_waiting_at ? now.getTime() - health.oldest_waiting_at.getTime() : 0;
  if (lines.length > 0 || waitedMs < slowMs) return lines;
  const rest = fillCount(words, overview.waitingRest, health.waiting, {
    ...counted(words, health.waiting),
    time: formatRemaining(words, waitedMs),
  });
  return [{ kind: 'attention', title: overview.waiting, rest, link }];
}

function unmatchedLine(words: Words, sums: UnmatchedSum[]): Line | null {
  const { overview } = portalTexts(words);
  const payments = sums.reduce((sum, one) => sum + one.payments, 0);
  if (payments === 0) return null;
  // The value of other tokens is unknown, so they do not count.
  const micro = sums.reduce((sum, one) => sum + (one.reason === 'wrong_token' ? 0n : BigInt(one.usdc_micro)), 0n);
  return {
    kind: 'attention',
    title: fillCount(words, overview.unmatched, payments, counted(words, payments)),
    rest: fill(payments < maxSummed ? overview.unmatchedRest : overview.unmatchedLeast, {
      amount: groupMicro(words, micro),
    }),
    link: { path: '/portal/unmatched', label: overview.toUnmatched },
  };
}

function concernLines(words: Words, counts: ConcernCounts): Line[] {
  const { overview } = portalTexts(words);
  const links = { underpaid: overview.toUnderpaid, overpaid: overview.toUnderpaid, replayed: overview.toReplayed };
  return (['underpaid', 'overpaid', 'replayed'] as const)
    .filter((concern) => counts[concern] > 0)
    .map((concern) => ({
      kind: 'attention',
      title: fillCount(words, overview[concern], counts[concern], counted(words, counts[concern])),
      rest: overview[`${concern}Rest`],
      link: { path: `/portal/requests?concern=${concern}`, label: links[concern] },
    }));
}
