import { offeredChains, offeredTokens } from '../chain/offered.ts';
import { type ChainConfig, findChain, nameOfChain } from '../config/chains.ts';
import { type Html, html } from '../lib/text/html.ts';
import type { TransferProgress } from '../payments/proof/progress.ts';
import { payTexts } from '../texts/pay.ts';
import { checksummed } from '../ui/address.ts';
import { type StateKind, stateLine } from '../ui/components.ts';
import { groupMicro, joinWithOr } from '../ui/formats.ts';
import { fill, fillCount } from '../ui/language.ts';
import { foundPayment, foundTitle } from './found-payment.ts';
import type { Checkout } from './read.ts';
import { isAnyShort, refundSentences, sentRefundOf } from './refunded.ts';
import { isEnded, isOver, likelyPayment, type PayState, payable } from './state.ts';
import { explorerLink } from './transactions.ts';

type StatusMessage = { shape: StateKind; title: string; rest: string | null };

/** What is happening, in words, and what else the customer should know. */
export function statusMessageOf(checkout: Checkout): Html {
  const { state, words } = checkout;
  if (state.kind === 'near') {
    return html`${foundPayment(checkout, state.payment)}${checkout.troubled && trouble(checkout.troubled, words)}`;
  }
  const { shape, title, rest } = messageOf(checkout, state);
  const done = state.kind === 'confirming' && state.needed !== null ? state.seen / state.needed : undefined;
  return html`
    ${stateLine(shape, title, rest, 'strong', done)}
    ${hidesReversal(checkout) && reversal(words)}
    ${extra(checkout)}
    ${checkout.troubled && !isOver(state) && trouble(checkout.troubled, words)}
  `;
}

/**
 * Whether a reorganisation removed the payment of a request whose state says something else. Its customer must know
 * before they pay again or ask for a new request.
 */
const hidesReversal = ({ row, state }: Checkout) =>
  row.proof_note === 'reorged' && (state.kind === 'part' || state.kind === 'expired');

function reversal(words: Checkout['words']): Html {
  const { statusMessage } = payTexts(words);
  return stateLine('attention', statusMessage.reorged, statusMessage.reorgedRest);
}

/** What is happening, in one line. */
export function statusTitleOf(checkout: Checkout, state: PayState): string {
  return state.kind === 'near' ? foundTitle(checkout, state.payment) : messageOf(checkout, state).title;
}

function messageOf(checkout: Checkout, state: Exclude<PayState, { kind: 'near' }>): StatusMessage {
  const { words, merchant } = checkout;
  const { statusMessage } = payTexts(words);
  const usdc = (micro: bigint) => groupMicro(words, micro);
  const due = usdc(checkout.progress.dueMicro);
  const part = (paidMicro: bigint) => fill(statusMessage.expiredPartial, { paid: usdc(paidMicro), due, merchant });
  switch (state.kind) {
    case 'waiting':
      return { shape: 'waiting', title: statusMessage.waiting, rest: statusMessage.waitingRest };
    case 'seen':
      return {
        shape: 'confirming',
        title: fill(statusMessage.seen, { network: nameOfChain(checkout.chains, state.submitted.chainId) }),
        rest: payable(state) === 'no' ? statusMessage.seenRest : statusMessage.seenOpenRest,
      };
    case 'sending': {
      const title = fill(statusMessage.sending, { network: nameOfChain(checkout.chains, state.authorization.chainId) });
      const rest = state.open === 'no' ? statusMessage.sendingRest : statusMessage.sendingLongRest;
      return { shape: 'confirming', title, rest };
    }
    case 'unsent':
      return {
        shape: 'failed',
        title: statusMessage.unsent,
        rest: state.holds ? statusMessage.unsentHoldsRest : statusMessage.unsentRest,
      };
    case 'confirming':
      return confirmingMessage(checkout, state);
    case 'paid':
      return {
        shape: 'paid',
        title: statusMessage.paid,
        // Not beside money that the customer can ask for.
        rest: fill(isOwed(checkout) ? statusMessage.paidOwedRest : statusMessage.paidRest, { merchant }),
      };
    case 'part': {
      const rest = fill(statusMessage.partialRest, { paid: usdc(state.paidMicro), due });
      return { shape: 'attention', title: fill(statusMessage.partial, { amount: usdc(state.missingMicro) }), rest };
    }
    case 'expired': {
      const rest = state.paidMicro > 0n ? part(state.paidMicro) : fill(statusMessage.expiredRest, { merchant });
      return { shape: 'ended', title: statusMessage.expired, rest };
    }
    case 'voided': {
      const rest = state.paidMicro > 0n ? part(state.paidMicro) : statusMessage.voidedRest;
      return { shape: 'ended', title: statusMessage.voided, rest };
    }
    case 'too_late': {
      const isRefunded = lateOf(checkout).every((late) => sentRefundOf(checkout, late));
      const rest = isRefunded ? null : fill(statusMessage.tooLateRest, { amount: usdc(state.micro), merchant });
      return { shape: 'attention', title: state.voided ? statusMessage.voidedPaid : statusMessage.tooLate, rest };
    }
    case 'reorged':
      return { shape: 'attention', title: statusMessage.reorged, rest: statusMessage.reorgedRest };
    case 'failed': {
      const rest = fill(statusMessage.failedRest, { network: nameOfChain(checkout.chains, state.submitted.chainId) });
      return { shape: 'failed', title: statusMessage.failed, rest };
    }
    case 'replaced':
      return { shape: 'attention', title: statusMessage.replaced, rest: statusMessage.replacedRest };
    case 'gone':
      return { shape: 'attention', title: statusMessage.gone, rest: statusMessage.goneRest };
    case 'stray':
      return strayMessage(checkout, state.payment);
  }
}

function confirmingMessage(checkout: Checkout, state: Extract<PayState, { kind: 'confirming' }>): StatusMessage {
  const { statusMessage } = payTexts(checkout.words);
  const { needed, seen } = state;
  const message = { shape: 'confirming', title: statusMessage.confirming } as const;
  const network = nameOf(checkout, state.chainId);
  // Nothing is known of a network that the operator has removed; the operator is told what waits for it.
  if (network === null) return { ...message, rest: statusMessage.confirmingRest };
  const count =
    needed === null
      ? fill(statusMessage.confirmingTag, { network })
      : fillCount(checkout.words, statusMessage.confirmingCount, needed, { seen, network });
  return { ...message, rest: `${count} ${statusMessage.confirmingRest}` };
}

/** A payment on a network, or in a token, that does not count. */
function strayMessage(checkout: Checkout, payment: Extract<PayState, { kind: 'stray' }>['payment']): StatusMessage {
  const { words, merchant, chains } = checkout;
  const { statusMessage } = payTexts(words);
  const { kind, chainName: network, tokenAddress, symbol } = payment;
  if (kind === 'wrong_network') {
    const names = offeredChains(chains, null).map(({ name }) => name);
    const rest = fill(statusMessage.wrongNetworkRest, { network, merchant, accepted: joinWithOr(words, names) });
    return { shape: 'attention', title: statusMessage.wrongNetwork, rest };
  }
  const offered = chains.flatMap((chain) => offeredTokens(chain).map((token) => token.symbol));
  const accepted = joinWithOr(words, [...new Set(offered)]);
  const values = { network, token: checksummed(tokenAddress), symbol: symbol ?? '?', merchant, accepted };
  // The creator of a token chooses its name, and may choose that of another.
  const isFake = chains.some(({ tokens }) =>
    tokens.some((token) => token.symbol.toLowerCase() === symbol?.trim().toLowerCase()),
  );
  const [title, rest] = isFake
    ? [fill(statusMessage.fakeToken, values), statusMessage.fakeTokenRest]
    : [statusMessage.wrongToken, statusMessage.wrongTokenRest];
  return { shape: 'attention', title, rest: fill(rest, values) };
}

/**
 * A second payment of a request that was already paid, unless it was refunded. The largest counts, because anybody can
 * send dust that names it.
 */
const secondOf = (checkout: Checkout): TransferProgress | undefined => {
  const seconds = checkout.progress.unmatched.filter(
    (transfer) => transfer.reason === 'already_paid' && !sentRefundOf(checkout, transfer),
  );
  return seconds.find(({ usdcMicro }) => seconds.every((other) => other.usdcMicro <= usdcMicro));
};

/** Whether the customer can ask for money back. */
const isOwed = (checkout: Checkout) =>
  surplusOf(checkout) > 0n || secondOf(checkout) !== undefined || isAnyShort(checkout, refundable(checkout));

/** What the merchant may have refunded. */
const refundable = ({ progress }: Checkout) => [...progress.surpluses, ...progress.unmatched];

/** The part of the surplus that was not refunded. */
const surplusOf = (checkout: Checkout): bigint =>
  checkout.progress.surpluses.reduce((sum, one) => (sentRefundOf(checkout, one) ? sum : sum + one.micro), 0n);

/** What arrived after the request had ended. */
const lateOf = ({ progress }: Checkout): TransferProgress[] =>
  progress.unmatched.filter(({ reason }) => reason === 'late' || reason === 'voided');

/**
 * States that anybody can cause at no cost, or that are no reason to pay again. They must not hide real money that
 * arrived.
 */
const besideNear = new Set<PayState['kind']>(['part', 'expired', 'stray', 'failed', 'replaced', 'gone', 'reorged']);

/** What belongs beside the state: a transaction that was sent, and money that was not needed or arrived late. */
function extra(checkout: Checkout): Html | null {
  const { state, progress, chains, merchant } = checkout;
  const { statusMessage } = payTexts(checkout.words);
  const sent = sentTransaction(state);
  const likely = besideNear.has(state.kind) ? likelyPayment(progress) : null;
  if (sent || likely) {
    const chain = findChain(chains, sent?.chainId);
    return html`${sent && html`<p>${explorerLink(chain, sent.txHash)}</p>`}${likely && foundPayment(checkout, likely)}`;
  }
  if (!isEnded(state)) return null;
  const asking = state.kind === 'paid' ? askingLines(checkout, state.late) : [];
  const lines = [...asking, ...refundSentences(checkout, refundable(checkout))];
  if (isAnyShort(checkout, refundable(checkout))) lines.push(fill(statusMessage.refundRest, { merchant }));
  return html`${lines.map((line) => html`<p class="quiet">${line}</p>`)}`;
}

/** What the customer of a paid request should know: that the payment was late, and what to ask the merchant for. */
function askingLines(checkout: Checkout, isLate: boolean): string[] {
  const { words, merchant } = checkout;
  const { statusMessage } = payTexts(words);
  const surplusMicro = surplusOf(checkout);
  const second = secondOf(checkout);
  return [
    isLate && statusMessage.paidLate,
    surplusMicro > 0n && fill(statusMessage.paidOver, { amount: groupMicro(words, surplusMicro), merchant }),
    second && fill(statusMessage.alreadyPaid, { amount: groupMicro(words, second.usdcMicro), merchant }),
  ].filter((line) => typeof line === 'string');
}

/** A transaction that is or was under way. */
function sentTransaction(state: PayState): { chainId: number; txHash: string } | null {
  if ('submitted' in state) return state.submitted;
  if (state.kind !== 'sending' || state.authorization.hash === null) return null;
  return { chainId: state.authorization.chainId, txHash: state.authorization.hash };
}

function trouble(chain: ChainConfig, words: Checkout['words']): Html {
  const { statusMessage } = payTexts(words);
  return stateLine('attention', fill(statusMessage.trouble, { network: chain.name }), statusMessage.troubleRest);
}

const nameOf = ({ chains }: Checkout, chainId: number): string | null => findChain(chains, chainId)?.name ?? null;
