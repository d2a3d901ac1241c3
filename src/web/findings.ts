import { type ChainConfig, findChain, nameOfChain } from '../config/chains.ts';
import { type Html, html } from '../lib/text/html.ts';
import type { Findings } from '../payments/findings.ts';
import type { SubmittedTransaction } from '../payments/submitted/follow.ts';
import type { MisdirectedPayment } from '../payments/unmatched/misdirected.ts';
import type { NearMatch } from '../payments/unmatched/near-matches.ts';
import { commonTexts } from '../texts/common.ts';
import { type StateKind, shortAddress } from '../ui/components.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill, fillCount, fillHtml, type Words } from '../ui/language.ts';

/** An observation about an unpaid request, for its timeline. `at` is null if its time is not known. */
type FoundItem = { at: Date | null; kind: StateKind; title: string; rest: Html };

/** What differs between the pages with such a timeline. */
type Wording = {
  /** All chains of both modes. */
  chains: ChainConfig[];
  /** Renders a transaction, with a link to its chain's explorer. */
  transaction: (chain: ChainConfig | undefined, hash: string) => Html;
  /** What the reader can do about a payment of almost the amount. */
  near: (payment: NearMatch) => Html;
  /** A sentence that says who has money that was sent by mistake. */
  misdirected: string;
};

/**
 * The observations that explain why a request is not paid, worded for its merchant and their partner. Unmatched
 * payments that name the request are left out: the timelines show them with their reasons.
 */
export function foundItems(words: Words, findings: Findings, wording: Wording): FoundItem[] {
  const { progress, submitted, authorizations, misdirected, silent } = findings;
  const listedHashes = new Set(progress.unmatched.map(({ txHash }) => txHash));
  const isOpen = progress.proofStatus === 'none';
  return [
    ...submitted.map((one) => submittedItem(words, one, wording)),
    ...authorizations.map((one): FoundItem => {
      const { found } = commonTexts(words);
      const hash = one.hash === null ? null : linkOf(wording, one.chainId, one.hash);
      return one.state === 'sent'
        ? { at: one.submittedAt, kind: 'confirming', title: found.signed, rest: html`${hash}` }
        : { at: one.submittedAt, kind: 'failed', title: found.signedFailed, rest: html`${hash}` };
    }),
    ...progress.near.map((one) => nearItem(words, one, wording)),
    ...misdirected.filter(({ txHash }) => !listedHashes.has(txHash)).map((one) => misdirectedItem(words, one, wording)),
    ...(isOpen ? silent.filter(({ readAt }) => readAt !== null) : []).map(({ chain }): FoundItem => {
      const { found } = commonTexts(words);
      const title = fill(found.silent, { network: chain.name });
      return { at: null, kind: 'attention', title, rest: html`<p>${found.silentRest}</p>` };
    }),
  ];
}

const chainOf = ({ chains }: Wording, chainId: number) => findChain(chains, chainId);
const linkOf = (wording: Wording, chainId: number, hash: string) =>
  html`<p>${wording.transaction(chainOf(wording, chainId), hash)}</p>`;

function submittedItem(words: Words, one: SubmittedTransaction, wording: Wording): FoundItem {
  const { submitted } = commonTexts(words).found;
  const kinds = { seen: 'confirming', mined: 'confirming', failed: 'failed', replaced: 'attention', gone: 'attention' };
  const kind = kinds[one.state] as StateKind;
  return { at: one.firstSeenAt, kind, title: submitted[one.state], rest: linkOf(wording, one.chainId, one.txHash) };
}

function nearItem(words: Words, payment: NearMatch, wording: Wording): FoundItem {
  const { found } = commonTexts(words);
  const { chainId, usdcMicro, askedMicro, txHash, others } = payment;
  const values = {
    amount: groupMicro(words, usdcMicro),
    due: groupMicro(words, askedMicro),
    network: nameOfChain(wording.chains, chainId),
  };
  return {
    at: payment.blockTime,
    kind: 'attention',
    title: fill(found.near, values),
    rest: html`
      <p>${found.nearRest} ${others !== null && others > 0 && fillCount(words, found.nearOthers, others)}</p>
      <p>${wording.near(payment)}</p>
      ${linkOf(wording, chainId, txHash)}
    `,
  };
}

function misdirectedItem(words: Words, payment: MisdirectedPayment, wording: Wording): FoundItem {
  const { found } = commonTexts(words);
  const { kind, chainId, chainName, tokenAddress, symbol, txHash } = payment;
  const isToken = kind === 'wrong_token';
  const values = { network: chainName, symbol: symbol ?? '?', token: shortAddress(tokenAddress) };
  return {
    at: null,
    kind: 'attention',
    title: fill(isToken ? found.wrongToken : found.wrongNetwork, { network: chainName }),
    rest: html`
      <p>${fillHtml(isToken ? found.wrongTokenRest : found.wrongNetworkRest, values)} ${wording.misdirected}</p>
      ${linkOf(wording, chainId, txHash)}
    `,
  };
}
