import type { ChainConfig } from '../chain/config.ts';
import { formatMicro } from '../lib/money.ts';
import type { CountedTransfer, PayPageRow } from './page-store.ts';
import { effectiveStatus } from './rules.ts';

export type PayState = {
  kind: 'waiting' | 'confirming' | 'paid' | 'attention' | 'ended';
  headline: string;
  rest: string;
  /** The request still waits for money, until it expires. */
  waits: boolean;
  /**
   * The whole amount may be sent by hand. Not where a part has come: the whole would be too much, and a rest that is
   * typed by hand could be the amount of another customer's request.
   */
  payByHand: boolean;
};

const over = { waits: false, payByHand: false };

/** What the customer must know now, in words. Money that has come is told from transfers that count, never guessed. */
export function payState(row: PayPageRow, transfers: CountedTransfer[], chains: ChainConfig[], now: Date): PayState {
  const merchant = row.merchant_name ?? 'the merchant';
  if (row.proof_status === 'verified') {
    return {
      kind: 'paid',
      headline: 'Paid',
      rest: `${merchant} has the money. There is nothing left to do.`,
      ...over,
    };
  }
  if (row.proof_status === 'attached') {
    const rest = `${confirmations(row, transfers, chains)}You can close this page; the payment completes by itself.`;
    return { kind: 'confirming', headline: 'Payment seen, being confirmed', rest, ...over };
  }
  const status = effectiveStatus(row, now);
  if (status === 'voided') {
    const rest = `Please do not pay it. Money sent after this reaches ${merchant}, but for no request: ask them about it.`;
    return { kind: 'ended', headline: 'This request was cancelled', rest, ...over };
  }
  if (status === 'expired') {
    const part = paidMicro(transfers);
    const rest = part
      ? `${arrived(part, row)} Ask ${merchant} about it, and please send nothing more.`
      : `Please do not pay it; ask ${merchant} for a new one. Money you already sent still counts if it reached the network within 30 minutes of the expiry.`;
    return { kind: 'ended', headline: 'This request has expired', rest, ...over };
  }
  return open(row, transfers, merchant);
}

function open(row: PayPageRow, transfers: CountedTransfer[], merchant: string): PayState {
  const paid = paidMicro(transfers);
  const due = BigInt(row.usdc_micro);
  if (paid > 0n && paid < due) {
    const rest = `${arrived(paid, row)} Do not send the rest by hand on your own: tell ${merchant}, who sees what arrived.`;
    return {
      kind: 'attention',
      headline: `${groupMicro(due - paid)} USDC is missing`,
      rest,
      waits: true,
      payByHand: false,
    };
  }
  if (row.proof_note === 'reorged') {
    const rest =
      'The network rewrote its latest blocks and your transaction is no longer in them. It usually comes back by itself; look in your wallet before you pay again.';
    return {
      kind: 'attention',
      headline: 'The payment we saw was taken back by the network',
      rest,
      waits: true,
      payByHand: true,
    };
  }
  return {
    kind: 'waiting',
    headline: 'Waiting for the payment',
    rest: 'It shows up here once it is on the network.',
    waits: true,
    payByHand: true,
  };
}

function arrived(part: bigint, row: PayPageRow): string {
  return `${groupMicro(part)} of ${groupMicro(BigInt(row.usdc_micro))} USDC arrived.`;
}

function paidMicro(transfers: CountedTransfer[]): bigint {
  return transfers.reduce((sum, transfer) => sum + BigInt(transfer.value), 0n);
}

/** `2 of 5 confirmations. ` of the newest transfer, where its chain counts blocks; nothing where it uses tags. */
function confirmations(row: PayPageRow, transfers: CountedTransfer[], chains: ChainConfig[]): string {
  const last = transfers.at(-1);
  const chain = chains.find((candidate) => String(candidate.chainId) === last?.chain_id);
  if (!last || !chain || last.head_number === null) return '';
  const due = BigInt(row.usdc_micro);
  const tier = chain.finality.find(({ upToUsdcMicro }) => upToUsdcMicro === null || due <= upToUsdcMicro);
  if (!tier || !('confirmations' in tier)) return `Waiting until ${chain.name} makes it final. `;
  const seen = Number(BigInt(last.head_number) - BigInt(last.block_number)) + 1;
  return `${Math.max(0, Math.min(seen, tier.confirmations))} of ${tier.confirmations} confirmations on ${chain.name}. `;
}

/** Micro units for reading: `1,234,567.500001`. To be copied, use formatMicro. */
export function groupMicro(micro: bigint): string {
  const [whole = '0', fraction = '00'] = formatMicro(micro).split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}
