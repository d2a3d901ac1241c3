import { explorerLink } from '../../checkout/transactions.ts';
import { type ChainConfig, findChain, nameOfChain } from '../../config/chains.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { Findings } from '../../payments/findings.ts';
import type { PaymentProgress, TransferProgress } from '../../payments/proof/progress.ts';
import type { RefundRow } from '../../refunds/read.ts';
import { madeAt } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { type StateKind, shapeOf } from '../../ui/components.ts';
import { copyableText } from '../../ui/copyable.ts';
import { groupMicro, instant } from '../../ui/formats.ts';
import { fill, fillCount, type Words } from '../../ui/language.ts';
import { foundItems } from '../../web/findings.ts';
import { refundLabel, refundShapes } from '../../web/refunded.ts';
import type { LoggedDelivery } from '../../webhooks/delivery-log.ts';
import { eventItems } from './event-items.ts';
import { refundDetails } from './refunded.ts';

/** Everything that is known about the history of a request. */
export type History = {
  row: RequestRow;
  progress: PaymentProgress;
  findings: Findings;
  /** The merchant's refunds, by `writeTransferKey`. */
  refunds: Map<string, RefundRow>;
  /** The request's event; null if there is none yet. */
  delivery: LoggedDelivery | null;
  /** Why no attempt is made for now; null if nothing hinders it. */
  hindrance: string | null;
  /** The chains of the request's mode. */
  chains: ChainConfig[];
  /** The chains of both modes. */
  allChains: ChainConfig[];
  now: Date;
};

/** Something that happened, or will happen next. `at` null: its time is not known. */
export type TimelineItem = {
  at: Date | null;
  kind: StateKind;
  title: string;
  /** The page with its details. */
  path?: string;
  rest?: Html | string | null;
};

/**
 * The history of a request, from its creation to the last attempt of its event, in order of time.
 *
 * @param resend the button that sends the event again; null if there is none
 */
export function timeline(words: Words, history: History, resend: Html | null): Html {
  const { request } = portalTexts(words);
  const items = [
    ...beginning(words, history),
    ...found(words, history),
    ...paymentItems(words, history),
    ...ending(words, history),
    ...[...history.refunds.values()].map((refund) => refundItem(words, history, refund)),
    ...eventOf(words, history),
  ];
  // Block times are whole seconds. Items of the same second, or from before the creation, keep the order above.
  const second = ({ at }: TimelineItem) =>
    at === null ? Number.MAX_VALUE : Math.floor(Math.max(at.getTime(), madeAt(history.row).getTime()) / 1000);
  items.sort((a, b) => second(a) - second(b));
  return html`
    <section class="card">
      <h2>${request.timeline}</h2>
      <ol class="timeline">
        ${items.map(
          ({ at, kind, title, path, rest }) =>
            html`
              <li class="${kind}">
                ${shapeOf(kind)}
                <p><strong>${path === undefined ? title : html`<a href="${path}">${title}</a>`}</strong></p>
                ${rest && html`<div class="quiet">${rest}</div>`}
                ${at && html`<p class="quiet">${instant(words, at, 'medium')}</p>`}
              </li>
            `,
        )}
      </ol>
      ${resend}
    </section>
  `;
}

/**
 * What happened to the event, never before the payment was verified. Both are written in one transaction, but by two
 * clocks.
 */
function eventOf(words: Words, { row, delivery, hindrance }: History): TimelineItem[] {
  const verifiedAt = row.proof_verified_at;
  const items = delivery ? eventItems(words, delivery, hindrance) : [];
  return items.map((item) => (item.at && verifiedAt && item.at < verifiedAt ? { ...item, at: verifiedAt } : item));
}

function beginning(words: Words, { row }: History): TimelineItem[] {
  const { events } = portalTexts(words).request;
  const items: TimelineItem[] = [{ at: madeAt(row), kind: 'waiting', title: events.created }];
  if (row.opened_at) items.push({ at: row.opened_at, kind: 'waiting', title: events.opened });
  return items;
}

function ending(words: Words, { row, now }: History): TimelineItem[] {
  const { events } = portalTexts(words).request;
  const items: TimelineItem[] = [];
  if (row.voided_at) items.push({ at: row.voided_at, kind: 'ended', title: events.voided });
  if (row.status === 'expired' && row.expires_at <= now) {
    items.push({ at: row.expires_at, kind: 'ended', title: events.expired });
  }
  if (row.proof_note === 'reorged') {
    items.push({ at: null, kind: 'attention', title: events.reorged, rest: events.reorgedRest });
  }
  if (row.proof_verified_at) items.push({ at: row.proof_verified_at, kind: 'paid', title: events.verified });
  return items;
}

/** What explains why the request is not paid. */
function found(words: Words, { row, findings, allChains: chains }: History): TimelineItem[] {
  const { found } = portalTexts(words).request;
  const near = html`
    ${found.near} <a href="/portal/unmatched?account_id=${row.account_id}">${found.nearDo}</a>
  `;
  return foundItems(words, findings, {
    chains,
    transaction: (chain, hash) => hashLine(words, chain, hash),
    near: () => near,
    misdirected: found.misdirected,
  });
}

/** A transaction hash to copy, with a link to its explorer. */
function hashLine(words: Words, chain: ChainConfig | undefined, hash: string): Html {
  return copyableText(words, portalTexts(words).request.transaction, hash, explorerLink(chain, hash));
}

function paymentItems(words: Words, { progress, chains }: History): TimelineItem[] {
  const { request, reasons } = portalTexts(words);
  const { events } = request;
  const partsOf = (transfer: TransferProgress, text: string) => {
    const chain = findChain(chains, transfer.chainId);
    const network = nameOfChain(chains, transfer.chainId);
    const amount = groupMicro(words, transfer.usdcMicro);
    return { network, link: hashLine(words, chain, transfer.txHash), title: fill(text, { amount, network }) };
  };
  return [
    ...progress.transfers.map((transfer): TimelineItem => {
      const { network, link, title } = partsOf(transfer, events.transfer);
      const { confirmations: seen, neededConfirmations: needed } = transfer;
      const count =
        needed === null
          ? fillCount(words, events.confirmationsTag, seen, { network })
          : fillCount(words, commonTexts(words).common.confirmations, needed, { seen: Math.min(seen, needed) });
      return {
        at: transfer.blockTime,
        kind: transfer.final ? 'paid' : 'confirming',
        title,
        rest: html`<p>${transfer.final ? events.final : count}</p><p>${link}</p>`,
      };
    }),
    ...progress.unmatched.map((transfer): TimelineItem => {
      const { link, title } = partsOf(transfer, events.stray);
      const rest = html`
        <p>${fill(commonTexts(words).common.sentence, { text: reasons[transfer.reason] })}</p>
        <p>${link}</p>
      `;
      return { at: transfer.blockTime, kind: 'attention', title, rest };
    }),
  ];
}

function refundItem(words: Words, { chains }: History, refund: RefundRow): TimelineItem {
  const kind = refundShapes[refund.state];
  const rest = refundDetails(words, refund, chains);
  return { at: refund.noted_at, kind, title: refundLabel(words, refund), rest };
}
