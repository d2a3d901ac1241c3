import { type ChainConfig, findChain } from '../config/chains.ts';
import { type Html, html } from '../lib/text/html.ts';
import { receiptTexts } from '../texts/receipts.ts';
import type { Checkout } from './read.ts';

/** The transactions that pay, each with its network and a link to its explorer, if there is one. */
export function transactionFact({ progress, chains, words }: Checkout): [string, Html] {
  const { receipt } = receiptTexts(words);
  const hashes = new Map(progress.transfers.map(({ txHash, chainId }) => [txHash, chainId]));
  const lines = [...hashes].map(([hash, chainId]) => {
    const chain = findChain(chains, chainId);
    return html`<p>${chain?.name}</p><p>${explorerLink(chain, hash)}</p>`;
  });
  return [hashes.size > 1 ? receipt.transactions : receipt.transaction, html`${lines}`];
}

/**
 * The hash, as a link if the chain has an explorer.
 *
 * @param shown a short form where space is limited; the full hash shows on hover
 */
export function explorerLink(chain: ChainConfig | undefined, hash: string, shown = hash): Html {
  const title = shown !== hash && html` title="${hash}"`;
  if (!chain?.explorerUrl) return html`<span class="mono"${title}>${shown}</span>`;
  return html`<a class="mono" href="${chain.explorerUrl}/tx/${hash}"${title} rel="noreferrer">${shown}</a>`;
}
