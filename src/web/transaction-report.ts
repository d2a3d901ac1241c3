import type { ChainConfig } from '../config/chains.ts';
import { type Html, html } from '../lib/text/html.ts';
import type { Reason } from '../payments/rules.ts';
import type { Moved, StoredTransfer, TransactionReport } from '../payments/transaction-report.ts';
import { commonTexts } from '../texts/common.ts';
import { card, field, type StateKind, shortAddress, stateLine } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill, fillHtml, type Words } from '../ui/language.ts';

/** What differs between the pages that look a transaction up. */
export type ReportPage = {
  path: string;
  request: (id: string) => string;
  unmatched: (row: StoredTransfer) => string;
  reasons: Record<Reason, string>;
  transaction: (chain: ChainConfig | undefined, hash: string) => Html;
  /** Networks of the mode, as people name them. */
  networks: string;
};

/** The field for a transaction hash. */
export function lookUpForm(words: Words, path: string, typed = ''): Html {
  const { lookUp: t } = commonTexts(words);
  return html`
    <form class="card" method="get" action="${path}">
      ${field({
        name: 'hash',
        label: t.title,
        hint: t.hint,
        value: typed,
        attributes: 'required maxlength="100" autocomplete="off" spellcheck="false" dir="ltr"',
      })}
      <button class="second">${t.do}</button>
    </form>
  `;
}

/** Explains a transaction: its state, what it transferred, whom it concerns here, and what to do. */
export function transactionReport(words: Words, report: TransactionReport, hash: string, page: ReportPage): Html {
  const { lookUp: t } = commonTexts(words);
  const { state, chain, stored, moved } = report;
  const network = chain?.name ?? '';
  const verdicts = stored.map((row) => storedVerdict(words, row, page));
  const isPublic = verdicts.length === 0 || state === 'limited' || state === 'unavailable';
  return card(
    html`<p>${chain ? html`${network}: ` : null}${page.transaction(chain ?? undefined, hash)}</p>`,
    html`${verdicts}`,
    isPublic && publicVerdict(words, report, page),
    moved.length > 0 &&
      html`
        <h2>${t.moved}</h2>
        <ul class="stack">${moved.map((one) => html`<li>${movedLine(words, one)}</li>`)}</ul>
      `,
  );
}

/** The verdict on a stored transfer: which request it pays, or why it pays none. */
function storedVerdict(words: Words, row: StoredTransfer, page: ReportPage): Html {
  const { lookUp: t } = commonTexts(words);
  const toRequest = (id: string, text: string) => html`<a href="${page.request(id)}">${text}</a>`;
  if (row.request_id !== null) return stateLine('paid', t.paysRequest, toRequest(row.request_id, t.toRequest));
  if (row.judged_at === null) return stateLine('confirming', t.soon, t.soonRest);
  const reason = fill(commonTexts(words).common.sentence, { text: page.reasons[row.reason ?? 'no_match'] });
  const candidate = row.candidate_request_id && html` ${toRequest(row.candidate_request_id, t.toCandidate)}`;
  if (row.isRefunded) return stateLine('ended', t.refunded, html`${reason}${candidate}`);
  const link = html`<a href="${page.unmatched(row)}">${t.toUnmatched}</a>`;
  return stateLine('attention', t.unmatched, html`${reason} ${link}${candidate}`);
}

/** The verdict on a transaction without a stored transfer, from the chains alone. */
function publicVerdict(words: Words, report: TransactionReport, page: ReportPage): Html {
  const { state, chain, moved, isOtherMode } = report;
  const { lookUp: t } = commonTexts(words);
  const values = { network: chain?.name ?? '', networks: page.networks };
  const say = (kind: StateKind, [title, rest]: readonly [string, string]) =>
    stateLine(kind, fill(title, values), fill(rest, values));
  if (state === 'malformed') return say('attention', [t.malformed, t.malformedRest]);
  if (state === 'limited') return say('attention', [t.limited, t.tryLater]);
  if (state === 'unavailable') return say('attention', [t.unavailable, t.tryLater]);
  if (state === 'unknown') return say('attention', [t.unknown, t.unknownRest]);
  if (isOtherMode) return say('attention', [t.otherMode, t.otherModeRest]);
  if (state === 'pending') return say('confirming', [t.pending, t.pendingRest]);
  if (state === 'failed') return say('failed', [t.failed, t.failedRest]);
  const own = moved.filter(({ isOwn }) => isOwn);
  if (own.length === 0) return say('ended', [t.foreign, t.foreignRest]);
  if (own.every(({ symbol }) => symbol === null)) return say('attention', [t.wrongToken, t.wrongTokenRest]);
  return report.isToBeRead ? say('confirming', [t.soon, t.soonRest]) : say('attention', [t.unwatched, t.unwatchedRest]);
}

function movedLine(words: Words, { symbol, tokenAddress, value, from, to, isOwn }: Moved): Html {
  const { lookUp: t } = commonTexts(words);
  const what =
    symbol === null
      ? fillHtml(t.otherToken, { token: shortAddress(tokenAddress) })
      : html`<strong>${groupMicro(words, value)} ${symbol}</strong>`;
  const way = fillHtml(t.fromTo, { from: shortAddress(from), to: shortAddress(to) });
  return html`${what} ${way} ${isOwn && html`<strong>${t.own}</strong>`}`;
}
