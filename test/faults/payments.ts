import { type Hex, keccak256, parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chargeCall, referenceWord } from '../../src/chain/recurring/calls.ts';
import { recurringAddress } from '../../src/chain/recurring/contract.ts';
import { mandateTypedData } from '../../src/chain/recurring/mandate.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import { fundLookalike } from '../../src/sandbox/lookalike.ts';
import { endpointOf, fund, signCall, submit, transferCall, waitMined } from '../../src/sandbox/wallet.ts';
import { authorizedCall } from '../support/chain/authorize.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import { isForClaim, isOnChain, type MadeOrder, type Payment, paidMicro, type Where } from './model.ts';
import { at } from './seeded-choices.ts';
import { chainOf, type Stage } from './stage.ts';
import type { PaymentKind } from './steps.ts';

/** What a customer adds so that the amount does not show whom the payment is for. */
const oddMicro = 77n;
const centMicro = 10_000n;
const daySeconds = 86_400;
const noPlan: Hex = `0x${'00'.repeat(32)}`;

const isOpen = (order: MadeOrder) => order.cancelled === 'no' && !order.isOver;
const isUnpaid = (order: MadeOrder) => isOpen(order) && order.payments.length === 0;
const hasParts = (order: MadeOrder) =>
  isOpen(order) && order.payments.some(({ how }) => how === 'part') && paidMicro(order) < order.dueMicro;

/** Which orders can be paid in this way. */
const payable: Record<PaymentKind, (order: MadeOrder) => boolean> = {
  reference: isOpen,
  amount: isUnpaid,
  part: isUnpaid,
  rest: hasParts,
  'too-much': isOpen,
  twice: (order) => isOpen(order) && order.payments.length > 0,
  late: isUnpaid,
  'too-late': isUnpaid,
  cancelled: (order) => order.cancelled === 'yes',
  'wrong-token': isUnpaid,
  rounded: isUnpaid,
  'foreign-reference': isUnpaid,
  claim: isUnpaid,
  authorization: isOpen,
  charge: isUnpaid,
  mint: isUnpaid,
  elsewhere: isUnpaid,
  'contract-claim': isUnpaid,
  'contract-claim-elsewhere': isUnpaid,
};

const whereOf = (how: PaymentKind): Where => (how.endsWith('elsewhere') ? 'elsewhere' : 'here');

/** How long ago the request of a late payment expired; 30 minutes are forgiven. */
const expiredMinutes = { late: 2, 'too-late': 50 } as const;

/**
 * A customer pays one of the newest orders.
 *
 * @param isWanted of the orders that can be paid in this way, those that may be chosen
 * @returns the payment as the chain took it; null if no order can be paid in this way
 */
export async function pay(
  stage: Stage,
  how: PaymentKind,
  [which, who, odd]: readonly number[],
  isWanted: (order: MadeOrder) => boolean = () => true,
): Promise<Payment | null> {
  const order = at(
    stage.model.newest((one) => payable[how](one) && isWanted(one)),
    which ?? 0,
  );
  const payer = at(stage.payers, who ?? 0);
  if (!order || !payer) return null;
  if (how === 'late' || how === 'too-late') await expire(stage, order, expiredMinutes[how]);
  const usdcMicro = worth(order, how, odd ?? 0);
  const isContract = how.startsWith('contract-');
  const sent = isContract
    ? await sendByContract(stage, order, whereOf(how), usdcMicro)
    : await send(stage, order, how, payer, usdcMicro);
  if (!sent) return null;
  const payment: Payment = {
    ...{ how, order, usdcMicro, ...sent, from: isContract ? stage.contractPayer : payer, where: whereOf(how) },
    ...{ claimed: false, refund: 'no', refundHash: null },
  };
  stage.model.add(payment);
  return payment;
}

/** In place of the time that would have to pass. */
async function expire({ database }: Stage, order: MadeOrder, minutes: number): Promise<void> {
  order.isOver = true;
  await database.owner`
    update requests set expires_at = now() - ${minutes} * interval '1 minute' where id = ${order.id}`;
}

function worth({ dueMicro, payments }: MadeOrder, how: PaymentKind, odd: number): bigint {
  if (how === 'part') return 10_001n + BigInt(Math.floor(odd * 0.9 * Number(dueMicro - 10_001n)));
  if (how === 'rest') return dueMicro - payments.reduce((sum, { usdcMicro }) => sum + usdcMicro, 0n);
  if (how === 'too-much') return dueMicro * 2n;
  if (isForClaim(how)) return dueMicro + oddMicro;
  return how === 'rounded' ? (dueMicro / centMicro + 1n) * centMicro : dueMicro;
}

type Sent = { txHash: string; signed: Hex | null; block: number };

async function send(
  stage: Stage,
  order: MadeOrder,
  how: PaymentKind,
  payer: TestWallet,
  usdcMicro: bigint,
): Promise<Sent | null> {
  const chain = chainOf(stage, whereOf(how));
  const { usdc } = endpointOf(chain);
  const to = order.wallet.address;
  if (usdcMicro <= 0n) return null;
  if (how === 'mint') return minedBy(stage, await fund(chain, to, usdcMicro), 'here');
  if (how === 'wrong-token') {
    await fundLookalike(chain, to, usdcMicro);
    return null;
  }
  if (how === 'authorization') {
    const nonce = authorizationNonce(order.reference, order.payments.length);
    const data = await authorizedCall(chain, { privateKey: payer.privateKey, to, usdcMicro, nonce });
    return sendCall(stage, stage.executor, usdc, data);
  }
  if (how === 'charge') {
    return sendCall(stage, stage.executor, recurringAddress(), await signCharge(stage, order, payer, usdcMicro));
  }
  const named = how === 'foreign-reference' ? foreign(stage, order) : order;
  if (!named) return null;
  const tagged = !['amount', 'rounded', 'claim'].includes(how);
  const reference = tagged ? named.reference : undefined;
  return sendCall(stage, payer, usdc, transferCall({ to, usdcMicro, reference }), whereOf(how));
}

/** Sends a payment of a contract wallet; the chain signs for its owner. */
async function sendByContract(stage: Stage, { wallet }: MadeOrder, where: Where, usdcMicro: bigint) {
  const { url, usdc } = endpointOf(chainOf(stage, where));
  const data = transferCall({ to: wallet.address, usdcMicro });
  const transaction = { from: stage.contractPayer.address, to: usdc, data, gas: '0x7a120' };
  return minedBy(stage, await submit(url, () => callRpc(url, 'eth_sendTransaction', [transaction])), where);
}

/** An order to another wallet: its reference in a payment to this one is a conflict. */
const foreign = ({ model }: Stage, order: MadeOrder) =>
  model.newest((other) => other.wallet !== order.wallet && other.partner === order.partner, 1)[0];

/** The customer agreed to exactly this charge, and its contract takes the money. */
async function signCharge(
  { chain, executor }: Stage,
  order: MadeOrder,
  payer: TestWallet,
  amount: bigint,
): Promise<Hex> {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const mandate = {
    ...{ payer: payer.address, payee: order.wallet.address, token: endpointOf(chain.chain).usdc },
    ...{ executor: executor.address, maxAmount: amount, minIntervalSeconds: daySeconds },
    ...{ startsAt: nowSeconds - daySeconds, endsAt: nowSeconds + 30 * daySeconds },
    ...{ plan: noPlan, salt: keccak256(`0x${order.reference.toString('hex')}`) },
  } as const;
  const data = mandateTypedData(mandate, chain.chain.chainId, recurringAddress());
  const signature = await privateKeyToAccount(payer.privateKey).signTypedData(data);
  return chargeCall({ mandate, signature, amount, reference: referenceWord(order.reference) }, null);
}

async function sendCall(
  stage: Stage,
  from: TestWallet,
  to: string,
  data: Hex,
  where: Where = 'here',
): Promise<Sent | null> {
  const signed = await signCall(chainOf(stage, where), from.privateKey, to, data);
  const sent = await sendAgain(stage, signed, where);
  return sent && { ...sent, signed };
}

/**
 * Sends what is signed already.
 *
 * @returns null if it would not be mined at once: its nonce is used, or not the wallet's next one
 */
export async function sendAgain(
  stage: Stage,
  signed: Hex,
  where: Where = 'here',
): Promise<Omit<Sent, 'signed'> | null> {
  const { url } = endpointOf(chainOf(stage, where));
  const from = await recoverTransactionAddress({ serializedTransaction: signed as TransactionSerialized });
  const next = Number(await callRpc(url, 'eth_getTransactionCount', [from, 'latest']));
  if (parseTransaction(signed).nonce !== next) return null;
  const txHash = await callRpc(url, 'eth_sendRawTransaction', [signed]).catch(() => null);
  if (typeof txHash !== 'string') return null;
  const status = await waitMined(url, txHash);
  return status === '0x1' ? minedBy(stage, txHash, where) : null;
}

async function minedBy(stage: Stage, txHash: string | null, where: Where): Promise<Sent | null> {
  const block = txHash && (await blockOf(stage, txHash, where));
  return txHash && block ? { txHash, block, signed: null } : null;
}

/** The block in which a transaction succeeded; null if it is in none. */
export async function blockOf(stage: Stage, txHash: string, where: Where): Promise<number | null> {
  const { url } = endpointOf(chainOf(stage, where));
  const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [txHash])) as Record<string, Hex> | null;
  return receipt && receipt.status === '0x1' ? Number(receipt.blockNumber) : null;
}

/** The merchant's wallet sends a payment back, beside other steps. @returns the transaction's hash */
export async function sendBack(stage: Stage, { order, from, usdcMicro }: Payment): Promise<string | null> {
  const { privateKey, address } = order.wallet;
  const to = from?.address ?? '';
  if (!privateKey) return null;
  const { usdc } = endpointOf(stage.chain.chain);
  const data = transferCall({ to, usdcMicro });
  const sent = await stage.chain.alone(() => sendCall(stage, { privateKey, address }, usdc, data));
  return sent?.txHash ?? null;
}

/** Removed payments that their payers can send again. A late one is left out, because it could be too late by then. */
export const lostPayments = ({ model }: Stage): Payment[] =>
  [...model.loose].filter((payment) => !isOnChain(payment) && payment.signed !== null && payment.how !== 'late');
