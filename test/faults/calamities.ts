import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { pause } from '../../src/lib/time.ts';
import { setTimeToNow } from '../../src/sandbox/anvil.ts';
import { endpointOf, headNumber, reorg } from '../../src/sandbox/wallet.ts';
import { behaviours } from '../support/net/receiver.ts';
import { at } from './chance.ts';
import { lieOf } from './lies.ts';
import type { Payment } from './model.ts';
import { lostPayments, sendAgain } from './payments.ts';
import { wrongReceivers } from './receivers.ts';
import type { Stage } from './stage.ts';
import type { FaultKind } from './steps.ts';

/** Ends a fault; it is called once. */
type Mend = () => unknown;

const deepestReorg = 20;
/** So many reorganisations wait for a payment that counts and is not final. */
const waitShare = 0.5;
const attachedLimitMs = 1_500;
const clockJumpsMs = [-26, -1, -0.02, 0.02, 1, 26].map((hours) => hours * 3_600_000);

type Place = readonly [which: number, how: number, long: number];

/**
 * Breaks something.
 *
 * @returns what mends it and after how long; null where nothing is left to mend, or it could not be broken
 */
export async function breakIt(
  stage: Stage,
  fault: FaultKind,
  [which, how, long]: Place,
): Promise<{ mend: Mend; afterMs: number } | null> {
  const { database } = stage;
  const node = stage.nodes[which < 0.5 ? 0 : 1];
  const usualMs = 300 + long * 3_000;
  switch (fault) {
    case 'kill-node':
      await node.kill();
      return { mend: node.start, afterMs: long * 1_500 };
    case 'freeze-node':
      node.freeze();
      return { mend: node.thaw, afterMs: 500 + long * 14_000 };
    case 'clock':
      node.setClock(at(clockJumpsMs, how) ?? 0);
      return { mend: () => node.setClock(0), afterMs: 2_000 + long * 10_000 };
    case 'kill-database':
      database.kill();
      return { mend: database.start, afterMs: long * 1_500 };
    case 'restart-database':
      await database.stop();
      return { mend: database.start, afterMs: long * 1_000 };
    case 'kill-session':
      await database.killSession(how).catch(() => {});
      return null;
    case 'disconnect':
      await database.disconnect().catch(() => {});
      return null;
    case 'disk-full':
      if (!database.canFill) return null;
      await database.fill(how < 0.4);
      // With no room for its log the server may have ended.
      return { mend: () => [database.empty(), database.start()][1], afterMs: usualMs };
    case 'reorg':
      throw new Error('a reorganisation takes its turn among what is sent to the chain');
    case 'receiver-hang':
    case 'receiver-drip':
    case 'receiver-reset':
    case 'receiver-redirect':
    case 'receiver-late':
    case 'receiver-fault':
    case 'receiver-endless': {
      const receiver = at(stage.partners, which)?.receiver;
      receiver?.behave(wrongReceivers[fault]);
      return { mend: () => receiver?.behave(behaviours.status(200)), afterMs: usualMs };
    }
    default: {
      // The second endpoint fails, but it never lies: two that lie alike are believed.
      const { fake } = stage.endpoints[how < 0.6 || fault.startsWith('lie-') ? 0 : 1];
      const lie = lieOf(fault, (txHash, input) => swapReference(stage, txHash, input));
      fake.lie = lie;
      const mend = () => {
        if (fake.lie === lie) fake.lie = async () => null;
      };
      return { mend, afterMs: usualMs };
    }
  }
}

/** Calldata that names an order names another one to the same wallet instead. */
function swapReference({ model }: Stage, txHash: string, input: string): string {
  const named = input.slice(-32);
  const own = model.newest(({ reference }) => reference.toString('hex') === named, 1)[0];
  const other = own && model.newest((one) => one !== own && one.merchant === own.merchant, 1)[0];
  if (other) model.misread.add(txHash);
  return other ? input.slice(0, -32) + other.reference.toString('hex') : input;
}

/** A payment that a reorganisation took, and the proof that its request had. */
export type Lost = { payment: Payment; proof: 'none' | 'attached' | 'verified' | 'unknown' };

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

/** So many reorganisations leave the chain shorter, until what they took is mined again, in lower blocks. */
const shorterShare = 0.25;

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

/**
 * Replaces the newest blocks of the chain by empty ones, or takes them away. What was verified before stays so.
 *
 * @returns what was lost
 */
export async function reorganise(stage: Stage, [which, how, long]: Place): Promise<{ depth: number; lost: Lost[] }> {
  if (how < waitShare) await untilAttached(stage);
  const depth = 1 + Math.floor(which ** (1 + how) * deepestReorg);
  const proofs = await stage.database.owner<{ id: string; proof: Lost['proof'] }[]>`
    select id, proof_status as proof from requests where proof_status <> 'none'`.then(
    (rows) => new Map(rows.map(({ id, proof }) => [id, proof])),
    () => null, // the database is away: then any may be true
  );
  const lost = await stage.chain.alone(async () => {
    const head = await headNumber(stage.chain.chain);
    const lose = () => stage.model.lose(head - depth, head, (id) => proofs?.get(id) === 'verified');
    if (long < shorterShare) return shorten(stage, depth, lose);
    await reorg(stage.chain.chain, depth);
    return lose();
  });
  const proofOf = ({ order }: Payment) => (proofs ? (proofs.get(order.id ?? '') ?? 'none') : 'unknown');
  return { depth, lost: lost.map((payment) => ({ payment, proof: proofOf(payment) })) };
}
