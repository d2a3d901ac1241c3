import type { ChainConfig } from '../chain/config.ts';
import { type Html, html } from '../lib/html.ts';
import { formatFiat, formatMicro } from '../lib/money.ts';
import { card, facts, field, formatInstant, formatRemaining, instant, mono, qr, stateLine } from '../ui/components.ts';
import type { CountedTransfer, PayPageRow } from './page-store.ts';
import { groupMicro, type PayState, payState } from './pay-state.ts';

export type PayView = {
  row: PayPageRow;
  transfers: CountedTransfer[];
  /** All of the request's mode. */
  chains: ChainConfig[];
  /** Public address of this page. */
  url: string;
  now: Date;
};

/** The form for a transaction hash: what was typed, and what came of it. */
export type ProofForm = { typed?: string; fault?: string; note?: string };

/** The pay page, top to bottom: who is paid and how much, where it stands, how to pay, and "not seen yet?". */
export function payPageBody(view: PayView, proof: ProofForm): Html {
  const state = payState(view.row, view.transfers, view.chains, view.now);
  const news = stateLine(state.kind, state.headline, state.rest);
  return html`
${card(summary(view, state), html`<hr class="rule">`, news, state.kind === 'paid' && html`<hr class="rule">${receipt(view)}`)}
${state.payByHand && instructions(view)}
${state.kind === 'confirming' && underWay(view)}
${state.waits || state.kind === 'ended' ? proofForm(view, proof, state) : proofNews(proof)}
${footer(view)}`;
}

function summary({ row, now }: PayView, state: PayState): Html {
  const fiat = formatFiat(BigInt(row.fiat_int), row.fiat_code, 'en');
  const usdc = groupMicro(BigInt(row.usdc_micro));
  const left = row.expires_at.getTime() - now.getTime();
  return html`<h1>${row.merchant_name ?? row.partner_name}</h1>
<div><p class="amount${fiat.length > 11 && ' long'}">${fiat}</p>
<p class="coin">${usdc} USDC</p>
<p class="quiet">1 USDC = ${row.rate} ${row.fiat_code}</p></div>
${row.memo !== null && html`<p class="memo">${row.memo}</p>`}
${state.waits && html`<p class="quiet">Open until ${instant(row.expires_at, formatInstant(row.expires_at))}, ${formatRemaining(left)} left</p>`}`;
}

/** A contract wallet is offered only on chains where its signature was checked against deployed code. */
function offeredChains({ row, chains }: PayView): ChainConfig[] {
  return chains.filter(({ chainId }) => row.wallet_chain_ids === null || row.wallet_chain_ids.includes(chainId));
}

function instructions(view: PayView): Html {
  const { row, url } = view;
  const exact = formatMicro(BigInt(row.usdc_micro));
  const grouped = groupMicro(BigInt(row.usdc_micro));
  const chains = offeredChains(view);
  const networks = chains.map(({ name }) => name).join(' or ');
  return html`${card(
    html`<h2>Send exactly ${grouped} USDC on ${networks}</h2>`,
    facts([
      // Wallets take no commas, so what is copied has none.
      ['This amount', mono(exact)],
      ['To this address', mono(row.wallet_address)],
      ...chains.map(({ name, tokens }): [string, Html] => [
        `The token on ${name}`,
        html`${tokens.map(({ symbol, address }, i) => html`${i > 0 && html`<br>`}${symbol} ${mono(address)}`)}`,
      ]),
    ]),
    html`<p class="quiet">Only ${networks}, and only this token: anything else may be lost. The last digits tell your payment apart from others, so do not round. If an exchange takes its fee from the amount, add the fee.</p>`,
  )}
${card(qr(url, 'Scan to go on with your phone’s wallet'))}`;
}

function proofForm({ url }: PayView, { typed, fault, note }: ProofForm, { kind }: PayState): Html {
  const title = kind === 'ended' ? 'Did you already pay?' : 'Sent, but not seen yet?';
  return card(
    html`<h2>${title}</h2>`,
    note !== undefined && html`<p role="status">${note}</p>`,
    html`<form method="post" action="${new URL(url).pathname}/proof">
${field({
  name: 'tx_hash',
  label: 'Transaction hash',
  hint: 'From your wallet or exchange: 0x and 64 letters or digits. We look it up at once.',
  value: typed ?? '',
  fault,
  attributes: 'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="100" placeholder="0x…"',
})}
<button class="second">Look for this transaction</button>
</form>
<p><a href="${url}">See where the payment stands now</a></p>`,
  );
}

/** What came of a hash where there is no form any more. */
function proofNews({ fault, note }: ProofForm): Html | null {
  const text = fault ?? note;
  return text === undefined ? null : card(html`<p role="status">${text}</p>`);
}

/** The transactions that are being confirmed. */
function underWay(view: PayView): Html {
  return card(facts([transactionFact(view)]), html`<p><a href="${view.url}">See where the payment stands now</a></p>`);
}

function receipt(view: PayView): Html {
  const { row } = view;
  const at = row.proof_verified_at;
  return facts([
    at && ['Confirmed', instant(at, formatInstant(at))],
    transactionFact(view),
    ['From', mono(row.payer_address ?? '')],
    ['To', mono(row.wallet_address)],
    ['Receipt number', mono(row.id)],
  ]);
}

/** The transactions that pay, each with its network and, where there is one, a link to its explorer. */
function transactionFact({ row, transfers, chains }: PayView): [string, Html] {
  const paidOn = row.asset_id?.match(/^eip155:(\d+)\//)?.[1];
  const counted = transfers.map(({ chain_id, tx_hash }) => [tx_hash, chain_id] as const);
  const hashes = new Map(counted.length > 0 ? counted : [[row.tx_hash ?? '', paidOn ?? '']]);
  const lines = [...hashes].map(([hash, chainId]) => {
    const chain = chains.find((candidate) => String(candidate.chainId) === chainId);
    return html`<p>${chain?.name}</p><p>${explorerLink(chain, hash)}</p>`;
  });
  return [hashes.size > 1 ? 'Transactions' : 'Transaction', html`${lines}`];
}

function explorerLink(chain: ChainConfig | undefined, hash: string): Html {
  if (!chain?.explorerUrl) return mono(hash);
  return html`<a class="mono" href="${chain.explorerUrl}/tx/${hash}" rel="noreferrer">${hash}</a>`;
}

function footer({ row }: PayView): Html {
  const merchant = row.merchant_name ?? row.partner_name;
  return html`<footer class="foot"><p>The money goes straight to ${merchant}, without a stop in between.</p>
<p>Requested through ${row.partner_name}</p></footer>`;
}
