import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../lib/text/html.ts';
import type { TestReport } from '../sandbox/test-panel.ts';
import { commonTexts } from '../texts/common.ts';
import { payTexts } from '../texts/pay.ts';
import { card, descriptionList, mono } from '../ui/components.ts';
import { fill, fillHtml } from '../ui/language.ts';
import { sendPage } from '../web/layout.ts';
import { relayOrigin } from '../web/phone-wallets.ts';
import { payPagePath } from './paths.ts';
import { paymentMethodsOf } from './payment-methods.ts';
import { type Answer, proofForm } from './proof-form.ts';
import type { Checkout } from './read.ts';
import { receiptCard } from './receipt.ts';
import { isEnded, isOver, payable } from './state.ts';
import { statusMessageOf, statusTitleOf } from './status-message.ts';
import { summary } from './summary.ts';
import { transactionFact } from './transactions.ts';

/** A part of the page that is replaced separately when it changes. */
export type Fragment = { name: string; version: string; html: string };

type FragmentName = 'summary' | 'news' | 'ways' | 'waiting' | 'receipt' | 'proof' | 'test' | 'payee';

function renderFragments(checkout: Checkout): Record<FragmentName, Html | null> {
  return {
    summary: summary(checkout),
    news: isNews(checkout) ? statusMessageOf(checkout) : null,
    ways: paymentMethodsOf(checkout),
    waiting: isNews(checkout) ? null : card(statusMessageOf(checkout)),
    receipt: receiptOf(checkout),
    proof: proofForm(checkout, null),
    test: checkout.testPanel?.(checkout, null) ?? null,
    payee: isEnded(checkout.state) ? null : payeeLine(checkout),
  };
}

/**
 * The receipt, and before it the transactions under way. They are not among the news, which are read out as a whole at
 * each confirmation.
 */
function receiptOf(checkout: Checkout): Html | null {
  if (checkout.state.kind === 'paid') return receiptCard(checkout);
  return checkout.state.kind === 'confirming' ? card(descriptionList([transactionFact(checkout)])) : null;
}

/** The current parts of a page. Typed input is not part of a version. */
export function fragmentsOf(checkout: Checkout): Fragment[] {
  return Object.entries(renderFragments(checkout)).map(([name, fragment]) => ({
    name,
    version: versionOf(name, fragment, checkout),
    html: fragment?.text ?? '',
  }));
}

/** Whether something has happened. If so, it comes first on the page. */
const isNews = ({ state, troubled }: Checkout) => state.kind !== 'waiting' || troubled !== null;

function versionOf(name: string, fragment: Html | null, { state }: Checkout): string {
  // The countdown runs in the browser, so the time that is left is not part of the version.
  const text =
    name === 'summary'
      ? `${state.kind} ${payable(state)} ${'missingMicro' in state && state.missingMicro}`
      : (fragment?.text ?? '');
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}

/** The title of the page's tab: what is to be done, or the page's first words about what happened, and who is paid. */
export function payPageTitle(checkout: Checkout): string {
  const { state, words, merchant } = checkout;
  const { pay } = payTexts(words);
  if (state.kind === 'waiting') return fill(pay.title, { merchant });
  if (state.kind === 'paid') return fill(pay.titlePaid, { merchant });
  return `${statusTitleOf(checkout, state)} · ${merchant}`;
}

/**
 * The pay page, from top to bottom: what has happened, who is paid and how much, how to pay, that nothing has arrived
 * yet, the receipt, and "not seen yet?".
 */
export function sendPayPage(
  reply: FastifyReply,
  status: number,
  checkout: Checkout,
  answer: Answer | null = null,
  testReport: TestReport | null = null,
): FastifyReply {
  const { row, words, branding, url } = checkout;
  const path = payPagePath(url);
  const fragments = renderFragments(checkout);
  // The result of a form is shown in its fragment but not part of its version. So it stays until the fragment itself
  // changes.
  const answered: Partial<typeof fragments> = {
    ...(answer && { proof: proofForm(checkout, answer) }),
    ...(testReport && { test: checkout.testPanel?.(checkout, testReport) ?? null }),
  };
  const fragment = (name: FragmentName, attributes: Html | null = null) =>
    html`
      <div
        class="fragment"
        data-part="${name}"
        data-version="${versionOf(name, fragments[name], checkout)}"${attributes}
      >
        ${answered[name] ?? fragments[name]}
      </div>
    `;
  return sendPage(reply, status, {
    title: payPageTitle(checkout),
    whose: null,
    words,
    branding,
    testMode: row.test_mode,
    island: 'pay',
    connectTo: relayOrigin(checkout.walletConnect),
    path,
    refreshSeconds: isOver(checkout.state) || answer ? undefined : 20,
    body: html`
      <div id="checkout" class="fragments" data-path="${path}" data-texts="${JSON.stringify(islandTexts(checkout))}">
        <p class="told" role="status" data-silence hidden></p>
        <p class="told" role="alert" data-warning hidden></p>
        <p class="hidden" role="status" data-say></p>
        ${card(fragment('news', html` role="status" aria-live="polite"`), html`<hr class="rule">`, fragment('summary'))}
        ${fragment('ways')}
        ${fragment('waiting')}
        ${fragment('receipt')}
        ${fragment('proof')}
        ${fragment('test')}
        ${fragment('payee')}
      </div>
      ${footer(checkout)}
    `,
  });
}

/** Texts for browser code. */
function islandTexts({ words }: Checkout): Record<string, string> {
  const { statusMessage } = payTexts(words);
  return {
    ...payTexts(words).wallet,
    copied: commonTexts(words).common.copied,
    offline: statusMessage.offline,
    unreachable: statusMessage.unreachable,
    unanswered: statusMessage.unanswered,
  };
}

/** To whom a payment goes; not where none is expected. */
const payeeLine = ({ words, merchant }: Checkout): Html =>
  html`<p class="foot">${fill(payTexts(words).pay.straight, { merchant })}</p>`;

function footer({ row, words, branding }: Checkout): Html {
  const { pay } = payTexts(words);
  return html`
    <footer class="foot">
      <p>
        ${row.merchant_name !== null && html`${fill(pay.through, { partner: branding.name })} · `}
        ${fillHtml(pay.details, { number: mono(row.id) })}
      </p>
    </footer>
  `;
}
