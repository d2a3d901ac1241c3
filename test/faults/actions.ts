import { theService } from '../../src/audit/write.ts';
import { minuteMs } from '../../src/lib/durations.ts';
import { toUsdcMicro } from '../../src/lib/money.ts';
import { pause } from '../../src/lib/time.ts';
import { readFinalPayment } from '../../src/payments/proof/final-payment.ts';
import { startRefund } from '../../src/refunds/start.ts';
import { type Answer, type CallOptions, send } from '../support/api/client.ts';
import { isOnChain, type MadeOrder, type Order, type Payment, rates } from './model.ts';
import { sendBack } from './payments.ts';
import { at } from './seeded-choices.ts';
import type { Stage } from './stage.ts';

/** The actions of partners, customers and merchants over HTTP, and what they conclude from the answers. */

const weekMinutes = 10_080;
const copies = 6;
/** How long its log may take to arrive. */
const logMs = 400;
/** The statuses that a call may have while something is broken. */
const busy = [503, 429];

/** How far an expiry may be from the requested one: a create takes longer while things are broken. */
const expirySlackMs = 60_000;
const centExponent = 2;
/** Multiples of these would give a whole cent, at one of the rates. */
const wholeCents = [23, 431, 873, 1041];

/** An answer that no fault excuses. */
export class Broken extends Error {}

let calls = 0;

/** Calls a node as a partner. @returns null if no answer came, or the service says that it is unavailable */
async function call(
  stage: Stage,
  partner: number,
  share: number,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer | null> {
  const node = stage.nodes[share < 0.5 ? 0 : 1];
  const keys = stage.partners[partner]?.keys ?? [];
  const answer = await answered(send(node.url, method, path, { ...options, key: keys[calls++ % keys.length] ?? null }));
  if (answer && answer.status >= 500) {
    await pause(logMs);
    throw new Broken(`${method} ${path} was answered ${answer.status}: ${answer.text}\n${node.log()}`);
  }
  return answer;
}

async function answered(calling: Promise<Answer>): Promise<Answer | null> {
  const answer = await calling.catch((error: Error & { code?: string }) => {
    if (error.code === 'ERR_ASSERTION') throw new Broken(error.message);
    return null; // the connection broke
  });
  return answer && busy.includes(answer.status) ? null : answer;
}

/** Posts a form of a pay page, each time as another client: theirs are limited. */
export async function post(
  stage: Stage,
  order: MadeOrder,
  share: number,
  form: string,
  fields: Record<string, string>,
): Promise<Answer | null> {
  const node = stage.nodes[share < 0.5 ? 0 : 1];
  const n = ++calls;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-forwarded-for': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
  };
  const answer = await answered(
    send(node.url, 'POST', `/pay/${order.id}/${form}`, { raw: new URLSearchParams(fields).toString(), headers }),
  );
  if (answer && answer.status >= 500) {
    await pause(logMs);
    throw new Broken(`${form} of ${order.id} was answered ${answer.status}\n${node.log()}`);
  }
  return answer;
}

/** A partner asks for money; sometimes several times at once, over both nodes. */
export async function create(stage: Stage, [who = 0, much = 0, how = 0]: readonly number[]): Promise<boolean> {
  const partner = Math.floor(who * stage.partners.length);
  const merchant = at(stage.partners[partner]?.merchants ?? [], much);
  const [wallet] = stage.wallets;
  if (!merchant || !wallet) return false;
  let fiatInt = 1000 + (Math.floor(much * 1e6) % 90_000);
  while (wholeCents.some((divisor) => fiatInt % divisor === 0)) fiatInt++;
  const order: Order = {
    ...{ key: `faults-${String(stage.model.orders.length).padStart(25, '0')}`, partner, merchant, wallet, fiatInt },
    ...{ id: null, dueMicro: 0n, reference: Buffer.alloc(0), cancelled: 'no', isOver: false, payments: [] },
    ...{ isWalletKnown: false, wasVerified: false, lostFinal: false },
  };
  stage.model.orders.push(order);
  const together = how < 0.1 ? copies : 1;
  await Promise.all(Array.from({ length: together }, (_, i) => acknowledge(stage, order, (how + i / 2) % 1)));
  return true;
}

/** Sends the create of an order, as often as it takes elsewhere, and notes what was acknowledged. */
export async function acknowledge(stage: Stage, order: Order, share: number): Promise<void> {
  const body = {
    ...{ account_id: order.merchant.id, fiat_amount_int: order.fiatInt, idempotency_key: order.key },
    ...{ expiry_minutes: weekMinutes, metadata: { order: order.key, '7': 'é' } },
  };
  const answer = await call(stage, order.partner, share, 'POST', '/api/v1/requests/create', { body });
  if (!answer) return;
  // Its merchant was just reset, and has no wallet again yet.
  if (answer.json.error === 'merchant_onboarding_incomplete' && order.id === null) return;
  if (answer.status !== 201 && answer.status !== 200) throw new Broken(`a create was refused: ${answer.text}`);
  const { request_id: id, amount, expires_at: expiresAt } = answer.json;
  const awayMs = Date.parse(expiresAt) - Date.now() - weekMinutes * minuteMs;
  if (answer.status === 201 && Math.abs(awayMs) > expirySlackMs)
    throw new Broken(`the request ${id} expires at ${expiresAt}, ${awayMs} ms from what was asked for`);
  if (order.id !== null && order.id !== id) throw new Broken(`the key ${order.key} made both ${order.id} and ${id}`);
  const dueMicro = BigInt(amount.usdc_micro);
  if (
    !rates.some((rate) => isDueAt(rate, order.fiatInt, dueMicro)) ||
    (order.id !== null && order.dueMicro !== dueMicro)
  )
    throw new Broken(`${order.fiatInt} cents of ${id} became ${dueMicro}, and were ${order.dueMicro}`);
  order.id = id;
  order.dueMicro = dueMicro;
  await lookAtWallet(stage, order);
}

/** Sees to which wallet an order is paid, and by which reference, if the database can be asked now. */
export async function lookAtWallet({ database, wallets }: Stage, order: Order): Promise<void> {
  if (order.isWalletKnown) return;
  const asked = database.owner<
    { address: string; reference: Buffer }[]
  >`select wallet_address as address, reference from requests where id = ${order.id}`;
  const [row] = await asked.catch(() => []);
  const wallet = row && wallets.find(({ address }) => address.toLowerCase() === row.address);
  if (row && !wallet) throw new Broken(`the request ${order.id} is paid to ${row.address}, which no merchant has`);
  if (wallet) Object.assign(order, { wallet, reference: row.reference, isWalletKnown: true });
}

/** Whether an amount is right for these cents at a rate: up to a cent may have been added as a surcharge. */
function isDueAt(rate: string, fiatInt: number, dueMicro: bigint): boolean {
  const addedMicro = dueMicro - toUsdcMicro(BigInt(fiatInt), centExponent, rate);
  return addedMicro >= 0n && addedMicro < 10_000n;
}

export async function replay(stage: Stage, [which = 0, , share = 0]: readonly number[]): Promise<boolean> {
  const order = at(stage.model.orders.slice(-120), which);
  if (order) await acknowledge(stage, order, share);
  return order !== undefined;
}

/** A request that was acknowledged is there, and says the same of itself. */
export async function read(stage: Stage, order: MadeOrder | undefined, share: number): Promise<Answer | null> {
  if (!order) return null;
  // What is acknowledged while this reads may come after it.
  const { wasVerified, cancelled } = order;
  const answer = await call(stage, order.partner, share, 'GET', `/api/v1/requests/${order.id}`);
  if (!answer) return null;
  const { amount, metadata, proof_status: proof, status } = answer.json;
  if (answer.status !== 200 || amount.usdc_micro !== String(order.dueMicro) || metadata.order !== order.key)
    throw new Broken(`the request ${order.id} reads ${answer.text}`);
  if (proof === 'verified') order.wasVerified = true;
  else if (wasVerified) throw new Broken(`the verified request ${order.id} reads ${proof}`);
  if (cancelled === 'yes' && status !== 'voided') throw new Broken(`the cancelled request ${order.id} reads ${status}`);
  return answer;
}

export const readOne = (stage: Stage, [which = 0, , share = 0]: readonly number[]) => {
  const order = at(
    stage.model.newest(() => true, 200),
    which,
  );
  return read(stage, order, share);
};

export async function cancel(stage: Stage, [which = 0, , share = 0]: readonly number[]): Promise<boolean> {
  const order = at(
    stage.model.newest((one) => one.cancelled === 'no' && !one.isOver),
    which,
  );
  if (!order) return false;
  order.cancelled = 'unsure';
  await cancelAgain(stage, order, share);
  return true;
}

/** Cancelling is repeated until it is answered; what was voided already is refused, and says so. */
export async function cancelAgain(stage: Stage, order: MadeOrder, share: number): Promise<void> {
  const answer = await call(stage, order.partner, share, 'POST', `/api/v1/requests/${order.id}/cancel`);
  if (answer?.status === 200) order.cancelled = 'yes';
  else if (answer?.status === 409) order.cancelled = answer.json.request.status === 'voided' ? 'yes' : 'no';
  else if (answer) throw new Broken(`a cancel of ${order.id} was answered ${answer.text}`);
}

/** Somebody looks at a pay page. */
export async function open(stage: Stage, [which = 0, , share = 0]: readonly number[]): Promise<boolean> {
  const order = at(
    stage.model.newest(() => true),
    which,
  );
  const node = stage.nodes[share < 0.5 ? 0 : 1];
  const answer = order && (await answered(send(node.url, 'GET', `/pay/${order.id}`)));
  if (answer && answer.status !== 200) throw new Broken(`the page of ${order.id} was answered ${answer.status}`);
  return order !== undefined;
}

/** Somebody names a transaction, for its own request or for another one: it proves nothing. */
export async function nameHash(stage: Stage, [which = 0, whose = 0, share = 0]: readonly number[]): Promise<boolean> {
  const payment = at(stage.model.payments.slice(-60), which);
  const other = at(
    stage.model.newest(() => true),
    whose,
  );
  if (payment && other) await handIn(stage, payment, whose < 0.7 ? (payment.order as MadeOrder) : other, share);
  return payment !== undefined;
}

/** Submits a transaction's hash on the page of an order, and notes what the page says of it. */
export async function handIn(
  stage: Stage,
  { txHash }: Pick<Payment, 'txHash'>,
  order: MadeOrder,
  share: number,
): Promise<void> {
  const answer = await post(stage, order, share, 'proof', { tx_hash: txHash });
  const told = answer?.text.matchAll(/<[a-z]+ (?:role="status"|class="fault")[^>]*>([^<]+)/g) ?? [];
  const text = [...told].map(([, one]) => one).join(' / ');
  stage.model.submitted.set(txHash, answer ? `${answer.status} ${text}` : 'no answer');
}

/** A merchant sends money back that pays nothing: first the payment is taken, then the transfer is made. */
export async function refund(stage: Stage, [which = 0]: readonly number[]): Promise<boolean> {
  const isStray = ({ how, claimed, order }: Payment) =>
    order.wallet.privateKey !== null &&
    (['rounded', 'too-late', 'cancelled'].includes(how) || (how === 'claim' && !claimed));
  const strays = stage.model.payments.filter((one) => isOnChain(one) && one.refund === 'no' && isStray(one));
  const payment = at(strays.slice(-20), which);
  if (!payment) return false;
  const { order, txHash } = payment;
  const scope = stage.partners[order.partner]?.scope;
  if (!scope) return false;
  const key = { chainId: stage.chain.chain.chainId, txHash, ordinal: 0 };
  payment.refund = 'unsure'; // before anything is awaited: no other step begins the same refund and sends it, too
  try {
    const final = await readFinalPayment(stage.ctx, scope, order.merchant.id, key).catch((error) => {
      payment.refund = 'no';
      throw error;
    });
    const started = await startRefund(stage.ctx, theService, scope, { accountId: order.merchant.id, key, final });
    // Claimed meanwhile: what came too much is not what is sent back here.
    const isWhole = started.kind === 'started' ? started.requestId === null : started.kind === 'again';
    payment.refund = isWhole ? 'yes' : 'no';
  } catch (error) {
    // It was not read yet, or it is claimed by now.
    if ((error as { code?: string }).code === 'not_found') payment.refund = 'no';
  }
  if (payment.refund === 'yes') payment.refundHash = await sendBack(stage, payment);
  return payment.refundHash !== null;
}

/** A partner follows its list, from what it saw last. */
export class Follower {
  readonly partner: number;
  readonly seen = new Set<string>();
  private since = '2000-01-01T00:00:00Z';
  private following: Promise<boolean> | null = null;

  constructor(partner: number) {
    this.partner = partner;
  }

  /** @returns whether it has seen everything; false if it got no answer */
  follow(stage: Stage, share: number, maxPages: number): Promise<boolean> {
    this.following ??= this.goOn(stage, share, maxPages).finally(() => {
      this.following = null;
    });
    return this.following;
  }

  private async goOn(stage: Stage, share: number, maxPages: number): Promise<boolean> {
    for (let page = 0; page < maxPages; page++) {
      const query = `?limit=100&since=${encodeURIComponent(this.since)}`;
      const answer = await call(stage, this.partner, share, 'GET', `/api/v1/requests${query}`);
      if (!answer) return false;
      for (const { request_id: id, created_at: at } of answer.json.requests) {
        if (at < this.since) throw new Broken(`the list since ${this.since} tells of ${at}`);
        this.seen.add(id);
        this.since = at;
      }
      if (!answer.json.has_more) return true;
    }
    return false;
  }
}
