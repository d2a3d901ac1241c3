import { type Html, html } from '../lib/text/html.ts';
import type { Outcome } from '../payments/outcome.ts';
import { payTexts } from '../texts/pay.ts';
import { checksummed } from '../ui/address.ts';
import { card, field, hiddenField } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill } from '../ui/language.ts';
import { type Found, foundPayment, foundTitle } from './found.ts';
import { knownToWallets } from './options.ts';
import { payPagePath } from './paths.ts';
import type { Checkout } from './read.ts';
import { isOver, type PayState, payable } from './state.ts';

/** What came of a transaction hash, or of a signature, that was handed in. */
export type Answer = {
  typed: string;
  outcome: Outcome | { kind: 'tooMany' };
  /** What a signature is still asked for, and the one that did not do; null where none is. */
  toSign: (Outcome & { kind: 'needs_signature'; signature: string }) | null;
};

/** What is on its way, or waits for us is a notice. Everything else is a fault beside the field. */
const notices: string[] = [
  ...['pending_in_mempool', 'seen', 'counted', 'underpaid', 'unavailable', 'needs_signature', 'minted'],
];

/** "Not seen yet?": takes a transaction hash and says in plain words what it is worth. */
export function proofForm(checkout: Checkout, answer: Answer | null): Html | null {
  const { state, words, url } = checkout;
  const { proof } = payTexts(words);
  const text = answer && outcomeText(checkout, answer.outcome);
  const isNotice = answer !== null && notices.includes(answer.outcome.kind);
  const fault = text !== null && !isNotice ? text : undefined;
  const note = isNotice && noteOf(checkout, answer.outcome, text);
  if (isSeen(state)) {
    // Nothing is to be handed in any more; what came of it is still said, unless the page's state says the same.
    const isTold = state.kind === 'seen' && answer?.outcome.kind === 'pending_in_mempool';
    return text === null || isTold ? null : card(html`<p role="status">${text}</p>`);
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

/** Whether a payment of all that is due is known: nobody has to name it. */
function isSeen(state: PayState): boolean {
  if (state.kind === 'seen' || state.kind === 'sending') return payable(state) === 'no';
  return state.kind === 'confirming' || state.kind === 'paid' || state.kind === 'too_late';
}

/** What came of it; where money was found that matches nothing, also what to do. That stands on the page only once. */
function noteOf(checkout: Checkout, outcome: Answer['outcome'], text: string | null): Html {
  const { state, words, merchant } = checkout;
  if (!('usdcMicro' in outcome)) return html`<p role="status">${text}</p>`;
  const isTold = state.kind === 'near' && state.payment.usdcMicro === outcome.usdcMicro;
  return html`
    <div class="stack" role="status">
      ${isTold ? html`<p>${text}</p>` : foundPayment(checkout, foundBy(checkout, outcome.usdcMicro))}
      ${outcome.kind === 'minted' && html`<p class="quiet">${fill(payTexts(words).proof.minted, { merchant })}</p>`}
    </div>
  `;
}

const foundBy = ({ progress }: Checkout, usdcMicro: bigint): Found => ({
  usdcMicro,
  askedMicro: progress.dueMicro - progress.soundMicro,
});

/**
 * The payer's wallet proves by a signature what the transaction does not show: with a button per wallet of this
 * browser, or signed elsewhere and pasted.
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
