import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { pause } from '../../src/lib/time.ts';
import { setTimeToNow } from '../../src/sandbox/anvil.ts';
import { endpointOf, headNumber, mine } from '../../src/sandbox/wallet.ts';
import { create } from './actions.ts';
import { canBePaid, finalDepth, type MadeOrder, type Payment } from './model.ts';
import { lostPayments, pay, sendAgain } from './payments.ts';
import type { Chance } from './seeded-choices.ts';
import type { Stage } from './stage.ts';

/** Reorganisations of the chain, of each depth after each state that a payment can be in. */

const deepestReorg = 20;
const depths = [1, 2, 5, 10, 20] as const;
/**
 * `unread`: mined, and nothing is stored of it. `seen`: a part, stored. `attached`: pays its request, not final yet.
 * `verified`: its request is.
 */
const states = ['unread', 'seen', 'attached', 'verified'] as const;
type State = (typeof states)[number];
type Aim = { depth: (typeof depths)[number]; state: State };

/** The share of reorganisations with a target; the others are random. */
const aimedShare = 0.7;
/** The share of those that wait for a payment that counts and is not final. */
const waitShare = 0.5;
/** While nothing hinders it, a payment gets there within half a second. */
const stateLimitMs = 7_000;
const attachedLimitMs = 1_500;
/** The share that leaves the chain shorter, until the removed transactions are mined again, in lower blocks. */
const shorterShare = 0.25;

/** Each depth with each state, in an order of their own; what was missed comes again. */
export class Aims {
  private readonly chance: Chance;
  private left: Aim[] = [];

  constructor(chance: Chance) {
    this.chance = chance;
  }

  next(): Aim {
    if (this.left.length === 0) {
      const all = states.flatMap((state) => depths.map((depth) => ({ state, depth, at: this.chance.share() })));
      this.left = all.sort((a, b) => a.at - b.at).map(({ state, depth }) => ({ state, depth }));
    }
    return this.left.shift() as Aim;
  }

  missed(aim: Aim): void {
    this.left.push(aim);
  }
}

/** A payment that a reorganisation took, and the proof that its request had. */
export type Lost = { payment: Payment; proof: 'none' | 'attached' | 'verified' | 'unknown' };

/** `reached`: the depth and the state of the payment that it aimed at. */
export type Reorganised = { depth: number; lost: Lost[]; reached: `${number} ${State}` | null };

type Place = readonly [which: number, how: number, long: number];

/**
 * Replaces the newest blocks of the chain by empty ones, or removes them. Verified payments stay verified.
 *
 * @param aims with an aim, somebody first pays what it is to take
 */
export async function reorganise(stage: Stage, shares: Place, aims: Aims): Promise<Reorganised> {
  const [which, how, long] = shares;
  const aim = how < aimedShare ? aims.next() : null;
  if (!aim && how < aimedShare + (1 - aimedShare) * waitShare) await untilAttached(stage);
  const depth = aim?.depth ?? 1 + Math.floor(which ** (1 + how) * deepestReorg);
  const target = aim && (await payFor(aim, stage, shares));
  const before = await lookAt(stage, target);
  const lost = await stage.chain.alone(async () => {
    const head = await headNumber(stage.chain.chain);
    const lose = () => stage.model.lose(head - depth, head, (id) => before?.proofs.get(id) === 'verified');
    if (long < shorterShare) return shorten(stage, depth, lose);
    const { url } = endpointOf(stage.chain.chain);
    await callRpc(url, 'anvil_reorg', [depth, []], 20_000);
    await setTimeToNow(url);
    return lose();
  });
  const reached = target && lost.includes(target) && before?.state ? (`${depth} ${before.state}` as const) : null;
  if (aim && reached !== `${aim.depth} ${aim.state}`) aims.missed(aim);
  const proofOf = ({ order }: Payment) => (before ? (before.proofs.get(order.id ?? '') ?? 'none') : 'unknown');
  return { depth, lost: lost.map((payment) => ({ payment, proof: proofOf(payment) })), reached };
}

/** Whether an order fits: its payment can be in this state while a reorganisation of this depth can remove it. */
const fits: Record<State, (order: MadeOrder, depth: number) => boolean> = {
  unread: () => true,
  seen: () => true,
  attached: (order) => finalDepth(order) > 1,
  verified: (order, depth) => finalDepth(order) <= depth,
};

/** The share by which `create` asks for a sum that fits: less than 100 dollars, or some 500. */
const muchFor = ({ depth, state }: Aim): number => (state === 'verified' && depth < 4 ? 0.005 : 0.05);

/** Pays a request, which reaches the wanted state if nothing prevents it. */
async function payFor({ depth, state }: Aim, stage: Stage, shares: Place): Promise<Payment | null> {
  const how = state === 'seen' ? 'part' : 'reference';
  const isWanted = (order: MadeOrder) =>
    order.payments.length === 0 && canBePaid(order, 'here') && fits[state](order, depth);
  let payment = await pay(stage, how, shares, isWanted);
  if (!payment && (await create(stage, [shares[0], muchFor({ depth, state }) + shares[1] / 1000, 0.5])))
    payment = await pay(stage, how, shares, isWanted);
  if (!payment || state === 'unread') return payment;
  const blocksMore = finalDepth(payment.order) - 1;
  if (state === 'verified' && blocksMore > 0) await mine(stage.chain.chain, blocksMore);
  for (const deadline = performance.now() + stateLimitMs; performance.now() < deadline; await pause(20)) {
    if ((await lookAt(stage, payment))?.state === state) break;
  }
  return payment;
}

type Look = { proofs: Map<string, Lost['proof']>; state: State | null };

/** The proofs of all requests, and how far a payment has come; null while the database is away: then any may be true. */
async function lookAt({ database: { owner } }: Stage, payment: Payment | null): Promise<Look | null> {
  try {
    const rows = await owner<{ id: string; proof: Lost['proof'] }[]>`
      select id, proof_status as proof from requests where proof_status <> 'none'`;
    const proofs = new Map(rows.map(({ id, proof }) => [id, proof]));
    const [stored] = await owner`select counts from transfers where tx_hash = ${payment?.txHash ?? ''}`;
    const proof = proofs.get(payment?.order.id ?? '');
    const state = !stored ? 'unread' : !stored.counts ? null : ((proof as State | undefined) ?? 'seen');
    return { proofs, state };
  } catch {
    return null;
  }
}

/** Waits a moment until a payment that is not final counts, for this state is short. */
async function untilAttached({ database: { owner } }: Stage): Promise<void> {
  const deadline = performance.now() + attachedLimitMs;
  const anyAttached = () =>
    owner`select from requests where proof_status = 'attached' limit 1`.then(
      (rows) => rows.length > 0,
      () => true, // the database is away
    );
  while (performance.now() < deadline && !(await anyAttached())) await pause(20);
}

/** Takes the newest blocks from the chain, puts none in their place, and mines half of the payments again. */
async function shorten(stage: Stage, depth: number, lose: () => Payment[]): Promise<Payment[]> {
  const { url } = endpointOf(stage.chain.chain);
  await callRpc(url, 'anvil_rollback', [depth]);
  await setTimeToNow(url);
  const lost = lose();
  for (const payment of lostPayments(stage).filter((one, i) => i % 2 === 0 && lost.includes(one)))
    payment.block = (await sendAgain(stage, payment.signed as Hex))?.block ?? null;
  return lost;
}
