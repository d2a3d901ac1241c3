import type { Hex } from '../../src/chain/rpc.ts';
import type { Merchant, Wallet } from './stage.ts';
import type { PaymentKind } from './steps.ts';

/** A call without an answer: it may or may not have happened. */
export type Known = 'no' | 'unsure' | 'yes';

/** The chain that is reorganised, or another one of the same mode, on which nothing breaks. */
export type Where = 'here' | 'elsewhere';

/** The kind of payer: a wallet with a key, or a contract wallet. */
export type Payer = { address: Hex; privateKey: Hex | null };

/** A payment that somebody sent. */
export type Payment = {
  how: PaymentKind;
  order: Order;
  txHash: string;
  /** The signed transaction, to be sent again after a reorganisation; null if the chain signed it. */
  signed: Hex | null;
  usdcMicro: bigint;
  from: Payer | null;
  where: Where;
  /** Its position on the chain; null while it is not mined. */
  block: number | null;
  /** Its sender signs that it pays the order. */
  claimed: boolean;
  refund: Known;
  refundHash: string | null;
};

/** Very many transfers of the smallest amount to the wallet of an order, by a stranger's contract in one transaction. */
export type Dust = { txHash: string; order: MadeOrder; transfers: number; block: number | null };

/** A request that a partner asked for. */
export type Order = {
  key: string;
  partner: number;
  merchant: Merchant;
  fiatInt: number;
  /** The wallet that its merchant had when it was created. */
  wallet: Wallet;
  /** Somebody has looked where it is paid to: until then the wallet is a guess, and nobody pays. */
  isWalletKnown: boolean;
  /** Null until a create is acknowledged. */
  id: string | null;
  dueMicro: bigint;
  /** Known once its wallet is. */
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
/** The rates that partners may get, in euros for a dollar coin; the last is the sandbox's own. */
export const rates = ['0.92', '0.873', '1.041', '0.862'] as const;

/** When payments of a request are final, as the nodes are configured: the dear ones by the chain's own word. */
export const finality = [
  { up_to_usdc_micro: '150000000', confirmations: 1 },
  { up_to_usdc_micro: '700000000', confirmations: 4 },
  { tag: 'finalized' },
] as const;
/** Two epochs of four blocks, and the block itself. */
const taggedDepth = 9;
export const deepestFinality = taggedDepth;

/** How many blocks a payment of a request needs, its own among them, until it is final. */
export function finalDepth({ dueMicro }: Pick<Order, 'dueMicro'>): number {
  for (const tier of finality) {
    if ('confirmations' in tier && dueMicro <= BigInt(tier.up_to_usdc_micro)) return tier.confirmations;
  }
  return taggedDepth;
}

/** Kinds that pay nobody's request: by their token, their figure, another's reference, or their time. */
const worthless: readonly PaymentKind[] = [
  ...(['wrong-token', 'rounded', 'foreign-reference', 'too-late', 'cancelled', 'contract-claim-elsewhere'] as const),
];

export const isWorthless = ({ how }: Payment): boolean => worthless.includes(how);

/** Whether only a signature shows whom a payment is for. */
export const isForClaim = (how: PaymentKind): boolean =>
  how === 'claim' || how === 'contract-claim' || how === 'contract-claim-elsewhere';

/** Whether an order's wallet can be paid on a chain: a contract wallet only where its code is. */
export const canBePaid = ({ wallet }: Pick<Order, 'wallet'>, where: Where): boolean =>
  wallet.isOn === null || wallet.isOn === where;

/** Whether a mined payment counts for its order, by the rules of matching. */
function counts(payment: Payment): boolean {
  const { how, claimed, refund, order, where } = payment;
  if (isWorthless(payment) || !canBePaid(order, where)) return false;
  return refund !== 'yes' && (!isForClaim(how) || claimed);
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

/** The order's proof once everything has settled; `either` if it depends on which came first. */
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
  dust: Dust[] = [];
  /** Payments whose block can still be reorganised away, or that are not mined. */
  loose = new Set<Payment>();
  /** The chain was this high when a reorganisation came; one that shortens it makes nothing less final. */
  private highest = 0;
  /** Hashes of transactions for which an endpoint returned another reference. */
  misread = new Set<string>();
  /** What the pay page last said of a transaction that was submitted, by its hash. */
  submitted = new Map<string, string>();

  made(): MadeOrder[] {
    return this.orders.filter((order): order is MadeOrder => order.id !== null);
  }

  /** The newest orders that can be paid and satisfy a condition. */
  newest(holds: (order: MadeOrder) => boolean, most = 40): MadeOrder[] {
    const found: MadeOrder[] = [];
    for (let i = this.orders.length - 1; i >= 0 && found.length < most; i--) {
      const order = this.orders[i] as Order;
      if (order.id !== null && order.isWalletKnown && holds(order as MadeOrder)) found.push(order as MadeOrder);
    }
    return found;
  }

  add(payment: Payment): void {
    payment.order.payments.push(payment);
    this.payments.push(payment);
    if (payment.where === 'here') this.loose.add(payment);
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
      else if ((block as number) <= this.highest - finalDepth(order) + 1) order.lostFinal = true;
      payment.block = null;
    }
    for (const dust of this.dust) if (dust.block !== null && dust.block > above) dust.block = null;
    return lost;
  }
}
