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
${card(summary(view, state), html`<hr class="rule">`, news, state.kind === 'paid' && receipt(view))}
${state.payable && instructions(view)}
${state.kind !== 'paid' && proofForm(view, proof, state)}
${footer(view)}`;
}

function summary({ row, now }: PayView, state: PayState): Html {
  const fiat = formatFiat(BigInt(row.fiat_int), row.fiat_code, 'en');
  const usdc = groupMicro(BigInt(row.usdc_micro));
  const left = row.expires_at.getTime() - now.getTime();
  return html`<h1>${row.merchant_name ?? row.partner_name}</h1>
<div><p class="amount${fiat.length > 11 && ' long'}">${fiat}</p>
<p class="coin">${usdc} USDC <span class="quiet">· 1 USDC = ${row.rate} ${row.fiat_code}</span></p></div>
${row.memo !== null && html`<p class="memo">${row.memo}</p>`}
${state.payable && html`<p class="quiet">Open until ${instant(row.expires_at, formatInstant(row.expires_at))}, ${formatRemaining(left)} left</p>`}`;
}

/** A contract wallet is offered only on chains where its signature was checked against deployed code. */
function offeredChains({ row, chains }: PayView): ChainConfig[] {
  return chains.filter(({ chainId }) => row.wallet_chain_ids === null || row.wallet_chain_ids.includes(chainId));
}

function instructions(view: PayView): Html {
  const { row, url } = view;
  const exact = formatMicro(BigInt(row.usdc_micro));
  const chains = offeredChains(view);
  const networks = chains.map(({ name }) => name).join(' or ');
  return html`${card(
    html`<h2>Send exactly ${groupMicro(BigInt(row.usdc_micro))} USDC</h2>`,
    facts([
      ['Amount, every digit', html`${mono(exact)} USDC`],
      ['To this address', mono(row.wallet_address)],
      ...chains.map(({ name, tokens }): [string, Html] => [
        chains.length > 1 ? `Network and token: ${name}` : 'Network and token',
        html`${chains.length === 1 && html`${name}<br>`}${tokens.map(
          ({ symbol, address }, i) => html`${i > 0 && html`<br>`}${symbol} ${mono(address)}`,
        )}`,
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

function receipt({ row, transfers, chains }: PayView): Html {
  const chainId = row.asset_id?.match(/^eip155:(\d+)\//)?.[1];
  const chain = chains.find((candidate) => String(candidate.chainId) === chainId);
  const hashes = transfers.length > 0 ? transfers.map(({ tx_hash }) => tx_hash) : [row.tx_hash ?? ''];
  const at = row.proof_verified_at;
  return facts([
    at && ['Confirmed', instant(at, formatInstant(at))],
    chain ? ['Network', chain.name] : null,
    [
      hashes.length > 1 ? 'Transactions' : 'Transaction',
      html`${[...new Set(hashes)].map((hash) => html`<p>${explorerLink(chain, hash)}</p>`)}`,
    ],
    ['From', mono(row.payer_address ?? '')],
    ['To', mono(row.wallet_address)],
    ['Receipt number', mono(row.id)],
  ]);
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
