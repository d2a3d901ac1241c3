import { type ChainConfig, findChain, nameOfChain } from '../../config/chains.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Findings } from '../../payments/findings.ts';
import type { TransferProgress } from '../../payments/proof/progress.ts';
import { writeTransferKey } from '../../payments/transfers.ts';
import type { RefundRow } from '../../refunds/read.ts';
import { madeAt } from '../../requests/rules.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { shortAddress } from '../../ui/components.ts';
import { copyableText } from '../../ui/copyable.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { foundItems } from '../../web/findings.ts';
import { refundLabel } from '../../web/refunded.ts';
import type { Payment } from './payment.ts';

type Event = { at: Date; title: string; rest?: Html | string };

/** The history of a request, oldest first. */
export function timelineOf(words: Words, payment: Payment, findings: Findings, allChains: ChainConfig[]): Html {
  const { row, progress } = payment;
  const { payment: t, reason } = dashboardTexts(words);
  const events: (Event | null)[] = [
    row.opened_at && { at: row.opened_at, title: t.opened },
    ...progress.transfers.map((transfer) => arrival(words, payment, transfer, confirmationsOf(words, transfer))),
    ...progress.unmatched.map((transfer) => {
      const title = fill(t.stray, { amount: groupMicro(words, transfer.usdcMicro) });
      return { ...arrival(words, payment, transfer, reason[transfer.reason]), title };
    }),
    row.status === 'expired' ? { at: row.expires_at, title: t.expired } : null,
    row.voided_at && { at: row.voided_at, title: t.voided },
    ...[...payment.refunds.values()].map((refund) => returning(words, payment, refund)),
    row.proof_verified_at && { at: row.proof_verified_at, title: t.verified },
  ];
  const found = foundItems(words, findings, {
    chains: allChains,
    transaction: (chain, hash) => hashOf(words, chain, hash),
    near: (one) => html`<a href="/dashboard/unmatched/${writeTransferKey(one)}">${t.found.near}</a>`,
    misdirected: t.found.misdirected,
  });
  events.push(...found.flatMap(({ at, title, rest }) => (at ? { at, title, rest } : [])));
  const later = events.filter((event) => event !== null).sort((a, b) => a.at.getTime() - b.at.getTime());
  // Block times are whole seconds of another clock, so a payment can seem older than its request. The creation always
  // comes first.
  const sorted = [{ at: madeAt(row), title: t.madeAt } as Event, ...later];
  return html`
    <ol class="timeline">
      ${sorted.map(
        ({ at, title, rest }) =>
          html`
            <li>
              <strong>${title}</strong>
              <span class="quiet">${instant(words, at)}</span>
              ${rest !== undefined && html`<div class="quiet">${rest}</div>`}
            </li>
          `,
      )}
      ${found
        .filter(({ at }) => at === null)
        .map(({ title, rest }) => html`<li><strong>${title}</strong><div class="quiet">${rest}</div></li>`)}
      ${row.proof_note === 'reorged' && html`<li><strong>${t.reorged}</strong></li>`}
    </ol>
  `;
}

/** A transaction hash to copy, with a link to its explorer. */
export function hashOf(words: Words, chain: ChainConfig | undefined, hash: string): Html {
  const name = dashboardTexts(words).unmatched.transaction;
  if (!chain?.explorerUrl) return copyableText(words, name, hash);
  const link = html`<a class="mono" href="${chain.explorerUrl}/tx/${hash}" rel="noreferrer">${hash}</a>`;
  return copyableText(words, name, hash, link);
}

function returning(words: Words, { chains }: Payment, refund: RefundRow): Event {
  const chain = findChain(chains, refund.chain_id);
  const title = refundLabel(words, refund);
  if (refund.return_tx_hash === null) return { at: refund.noted_at, title };
  return { at: refund.noted_at, title, rest: html`<p>${hashOf(words, chain, refund.return_tx_hash)}</p>` };
}

function arrival(words: Words, { chains }: Payment, transfer: TransferProgress, rest: string): Event {
  const { payment: t } = dashboardTexts(words);
  const chain = findChain(chains, transfer.chainId);
  const hash = hashOf(words, chain, transfer.txHash);
  return {
    at: transfer.blockTime,
    title: fill(t.seen, {
      amount: groupMicro(words, transfer.usdcMicro),
      network: nameOfChain(chains, transfer.chainId),
    }),
    rest: html`
      <p>${rest}</p>
      <p>${t.from} ${shortAddress(transfer.fromAddress)}</p>
      <p>${hash}</p>
    `,
  };
}

function confirmationsOf(words: Words, { final, confirmations, neededConfirmations }: TransferProgress): string {
  const { payment } = dashboardTexts(words);
  if (final) return payment.final;
  if (neededConfirmations === null) return payment.confirmedTag;
  const seen = Math.min(confirmations, neededConfirmations);
  return fillCount(words, commonTexts(words).common.confirmations, neededConfirmations, { seen });
}
