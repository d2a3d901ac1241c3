import type { Hex } from '../../src/chain/rpc.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import type { Merchant } from './stage.ts';
import type { PaymentKind } from './steps.ts';

/** What a party asked for and was not answered: it did or did not happen. */
export type Known = 'no' | 'unsure' | 'yes';

/** A payment that somebody sent. */
export type Payment = {
  how: PaymentKind;
  order: Order;
  txHash: string;
  /** As its payer signed it, to be sent again after a reorganisation; null where the chain signed. */
  signed: Hex | null;
  usdcMicro: bigint;
  from: TestWallet | null;
  /** Where it stands on the chain; null while it stands nowhere. */
  block: number | null;
  /** Its sender signs that it pays the order. */
  claimed: boolean;
  refund: Known;
  refundHash: string | null;
};

/** A request that a partner asked for. */
export type Order = {
  key: string;
  partner: number;
  merchant: Merchant;
  fiatInt: number;
  /** Null until a create is acknowledged. */
  id: string | null;
  dueMicro: bigint;
  reference: Buffer;
  cancelled: Known;
  /** Its expiry was moved into the past: only late payments come. */
  isOver: boolean;
  payments: Payment[];
  /** It was read as verified: this never goes back. */
  wasVerified: boolean;
  /** A final payment was reorganised away: it may have been verified just before. */
  lostFinal: boolean;
};

export type MadeOrder = Order & { id: string };

/** Blocks deeper than any reorganisation. */
export const buriedDepth = 40;
/** A payment is final with its own block and the next three. */
export const confirmations = 4;

/** Kinds that pay nobody's request: by their token, their figure, another's reference, or their time. */
const worthless: readonly PaymentKind[] = ['wrong-token', 'rounded', 'foreign-reference', 'too-late', 'cancelled'];

/** Whether a payment that stands on the chain counts for its order, by the rules of matching. */
export function counts({ how, claimed, refund }: Payment): boolean {
  return !worthless.includes(how) && refund !== 'yes' && (how !== 'claim' || claimed);
}

export const isOnChain = ({ block }: Payment): boolean => block !== null;

/**
 * The sum on the chain that counts for an order, in micro units.
 *
 * @param stands whether a payment is there
 */
export function paidMicro(order: Order, stands = isOnChain): bigint {
  return order.payments.reduce((sum, one) => (stands(one) && counts(one) ? sum + one.usdcMicro : sum), 0n);
}

/** What the order's proof must be once everything has settled; `either` where it depends on who came first. */
export function expectedProof(order: Order): 'verified' | 'none' | 'either' {
  if (order.wasVerified) return 'verified';
  if (order.cancelled === 'yes') return 'none';
  if (paidMicro(order) >= order.dueMicro) return 'verified';
  return order.lostFinal ? 'either' : 'none';
}

/** All that was asked for and paid, as the parties and the chain know it: the service is not asked. */
export class Model {
  orders: Order[] = [];
  payments: Payment[] = [];
  /** Those whose block can still be reorganised away, or that stand nowhere. */
  loose = new Set<Payment>();
  /** The chain was this high when a reorganisation came; one that shortens it makes nothing less final. */
  private highest = 0;
  /** Hashes of transactions of which an endpoint told another reference. */
  misread = new Set<string>();

  made(): MadeOrder[] {
    return this.orders.filter((order): order is MadeOrder => order.id !== null);
  }

  /** The newest orders that satisfy a condition. */
  newest(holds: (order: MadeOrder) => boolean, most = 40): MadeOrder[] {
    const found: MadeOrder[] = [];
    for (let i = this.orders.length - 1; i >= 0 && found.length < most; i--) {
      const order = this.orders[i] as Order;
      if (order.id !== null && holds(order as MadeOrder)) found.push(order as MadeOrder);
    }
    return found;
  }

  add(payment: Payment): void {
    payment.order.payments.push(payment);
    this.payments.push(payment);
    this.loose.add(payment);
  }

  /**
   * A reorganisation took the blocks above one.
   *
   * @param isVerified of the requests as they were before
   * @returns what was lost
   */
  lose(above: number, head: number, isVerified: (id: string) => boolean): Payment[] {
    const lost = [...this.loose].filter(({ block }) => block !== null && block > above);
    this.highest = Math.max(this.highest, head);
    for (const payment of lost) {
      const { order, block } = payment;
      if (order.id !== null && isVerified(order.id)) order.wasVerified = true;
      else if ((block as number) <= this.highest - confirmations + 1) order.lostFinal = true;
      payment.block = null;
    }
    return lost;
  }
}
