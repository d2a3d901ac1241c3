import { type Html, html } from '../lib/text/html.ts';
import type { Outcome } from '../payments/outcome.ts';
import { payTexts } from '../texts/pay.ts';
import { checksummed } from '../ui/address.ts';
import { card, field, hiddenField } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { type FoundPayment, foundPayment, foundTitle } from './found-payment.ts';
import { knownToWallets } from './options.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { isOver, type PayState, payable } from './state.ts';

/** The result of a transaction hash or a signature that was submitted. */
export type Answer = {
  typed: string;
  outcome: Outcome | { kind: 'tooMany' };
  /**
   * The transfer for which a signature is still needed, with the last signature that failed; null if none is needed.
   */
  toSign: (Outcome & { kind: 'needs_signature'; signature: string }) | null;
};

/**
 * Outcomes that are notices: something is under way or was accepted, or the customer or the service must do something
 * first. All others are faults beside the field.
 */
const notices: string[] = [
  ...['pending_in_mempool', 'seen', 'counted', 'underpaid', 'unavailable', 'needs_signature', 'minted'],
];

/** "Not seen yet?": takes a transaction hash and says in plain words what the transaction is worth. */
export function proofForm(checkout: Checkout, answer: Answer | null): Html | null {
  const { state, words, url } = checkout;
  const { proof } = payTexts(words);
  const text = answer && outcomeText(checkout, answer.outcome);
  const isNotice = answer !== null && notices.includes(answer.outcome.kind);
  const fault = text !== null && !isNotice ? text : undefined;
  const note = isNotice && noteOf(checkout, answer.outcome, text);
  if (isSeen(state)) {
    // Nothing needs to be submitted any more. The result of a submission is still shown, unless the page's state says
    // the same.
    const isShownAlready = state.kind === 'seen' && answer?.outcome.kind === 'pending_in_mempool';
    return text === null || isShownAlready ? null : card(html`<p role="status">${text}</p>`);
  }
  const ended = isOver(state) || payable(state) === 'no';
  const path = payPagePath(url);
  return html`
    <details class="card proof"${(answer || ended) && html` open`}>
      <summary>${ended ? proof.headingEnded : proof.headingWaiting}</summary>
      ${note}
      ${answer?.toSign && signatureForm(checkout, answer.toSign, fault)}
      ${form({
        action: `${path}/proof`,
        inside: field({
          name: 'tx_hash',
          label: proof.hash,
          hint: proof.hashHint,
          value: answer?.typed ?? '',
          fault: answer?.toSign ? undefined : fault,
          attributes:
            'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="100" dir="ltr" placeholder="0x…"',
        }),
        submit: proof.look,
        second: true,
      })}
    </details>
  `;
}

/** Whether a payment of everything that is due is known, so that nobody has to report it. */
function isSeen(state: PayState): boolean {
  if (state.kind === 'seen' || state.kind === 'sending') return payable(state) === 'no';
  return state.kind === 'confirming' || state.kind === 'paid' || state.kind === 'too_late';
}

/**
 * The result of a submission. If money was found that matches nothing, also what to do, unless the page says it
 * already.
 */
function noteOf(checkout: Checkout, outcome: Answer['outcome'], text: string | null): Html {
  const { state, words, merchant } = checkout;
  if (!('usdcMicro' in outcome)) return html`<p role="status">${text}</p>`;
  const isShownAlready = state.kind === 'near' && state.payment.usdcMicro === outcome.usdcMicro;
  return html`
    <div class="stack" role="status">
      ${isShownAlready ? html`<p>${text}</p>` : foundPayment(checkout, foundBy(checkout, outcome.usdcMicro))}
      ${outcome.kind === 'minted' && html`<p class="quiet">${fill(payTexts(words).proof.minted, { merchant })}</p>`}
    </div>
  `;
}

const foundBy = ({ progress }: Checkout, usdcMicro: bigint): FoundPayment => ({
  usdcMicro,
  askedMicro: progress.dueMicro - progress.undoubtedMicro,
});

/**
 * The payer's wallet proves by a signature what the transaction does not show. The form has a button for each wallet of
 * this browser, and a field to paste a signature from elsewhere.
 */
function signatureForm(checkout: Checkout, toSign: NonNullable<Answer['toSign']>, fault?: string): Html {
  const { words, url, chains } = checkout;
  const { proof } = payTexts(words);
  const { chainId, txHash, ordinal, from, signature } = toSign;
  const data = checkout.claimData({ chainId, txHash, ordinal });
  const chain = chains.find((one) => one.chainId === chainId);
  const known = JSON.stringify(chain ? knownToWallets(chain) : null);
  return html`
    <details class="sign"${(fault !== undefined || signature !== '') && html` open`}>
    <summary>${proof.signHeading}</summary>
    <form
      method="post"
      action="${payPagePath(url)}/claim"
      class="claim"
      data-from="${checksummed(from)}"
      data-typed="${data}"
      data-chain="${known}"
    >
      ${hiddenField('chain_id', String(chainId))}
      ${hiddenField('tx_hash', txHash)}
      ${hiddenField('ordinal', String(ordinal))}
      <p class="quiet">${fill(proof.signHint, { address: checksummed(from) })}</p>
      <div class="wallets" hidden></div>
      <p class="told" role="status" hidden></p>
      <details class="elsewhere" open>
        <summary>${proof.elsewhere}</summary>
        <p class="quiet">${proof.elsewhereRest}</p>
        <pre>${data}</pre>
        ${field({
          name: 'signature',
          label: proof.signature,
          value: signature,
          fault,
          attributes: 'required autocomplete="off" spellcheck="false" placeholder="0x…"',
        })}
        <button class="second">${proof.sign}</button>
      </details>
    </form>
    </details>
  `;
}

function outcomeText(checkout: Checkout, outcome: Answer['outcome']): string {
  const { words, merchant } = checkout;
  const { proof } = payTexts(words);
  if ('usdcMicro' in outcome) return foundTitle(checkout, foundBy(checkout, outcome.usdcMicro));
  const isVerified = outcome.kind === 'counted' && outcome.proofStatus === 'verified';
  const text = isVerified ? proof.verified : proof[outcome.kind];
  const amount = outcome.kind === 'underpaid' ? groupMicro(words, outcome.missingMicro) : '';
  return fill(text, { merchant, amount });
}
