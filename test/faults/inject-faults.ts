import { pause } from '../../src/lib/time.ts';
import { behaviours } from '../support/net/receiver.ts';
import { beginLongGap } from './long-gaps.ts';
import { rates } from './model.ts';
import { wrongReceivers } from './receivers.ts';
import { at } from './seeded-choices.ts';
import type { Stage } from './stage.ts';
import type { FaultKind } from './steps.ts';
import { lieOf } from './wrong-answers.ts';

/** Ends a fault; it is called once. */
type Mend = () => unknown;

const clockJumpsMs = [-26, -1, -0.02, 0.02, 1, 26].map((hours) => hours * 3_600_000);

const chainsWithout = {
  'set-token-missing': 'token-missing',
  'set-chain-missing': 'chain-missing',
  'set-chain-moved': 'chain-moved',
} as const;

/** How often more blocks are made without a token or chain than the service remembers. */
const longGapShare = 0.5;

type Place = readonly [which: number, how: number, long: number];

/**
 * Breaks something.
 *
 * @returns what repairs it and after how long; null if there is nothing to repair, or it could not be broken
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
    case 'rates':
      return { mend: await spoilRates(stage, how), afterMs: usualMs };
    case 'set-token-missing':
    case 'set-chain-missing':
    case 'set-chain-moved': {
      const kind = chainsWithout[fault];
      if (kind !== 'chain-missing' && how < longGapShare)
        return { mend: await beginLongGap(stage, kind, [which, how, long]), afterMs: 0 };
      // The nodes restart beside the next steps, which takes seconds.
      return { mend: () => stage.settings.useChainsFor(kind, usualMs), afterMs: 0 };
    }
    case 'set-new-key':
      return { mend: () => stage.settings.rotate(), afterMs: 0 };
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

/** How often there is no usable rate at all. */
const vanishShare = 0.4;

/** Changes the rate, or leaves only one that is too old. @returns what sets one again */
async function spoilRates({ database: { owner } }: Stage, share: number): Promise<Mend> {
  const set = (rate: string) => owner`
    insert into rate_overrides (code, rate) values ('EUR', ${rate}) on conflict (code) do update set rate = excluded.rate`;
  const change = async () => {
    if (share >= vanishShare) return set(at(rates, share) ?? '');
    await owner`
      insert into rates (code, rate, sources, fetched_at) values ('EUR', ${rates.at(-1) ?? ''}, '[]', now() - interval '1 hour')
      on conflict (code) do update set fetched_at = excluded.fetched_at`;
    return owner`delete from rate_overrides where code = 'EUR'`;
  };
  await change().catch(() => {}); // the database is away
  return () => untilDone(() => set(at(rates, 1 - share) ?? ''));
}

/** Repeats a query until it succeeds, however long the database is down. */
async function untilDone(ask: () => Promise<unknown>): Promise<void> {
  while (
    !(await ask().then(
      () => true,
      () => false,
    ))
  )
    await pause(200);
}

/** Calldata that names an order names another one to the same wallet instead. */
function swapReference({ model }: Stage, txHash: string, input: string): string {
  const named = input.slice(-32);
  const own = model.newest(({ reference }) => reference.toString('hex') === named, 1)[0];
  const other = own && model.newest((one) => one !== own && one.wallet === own.wallet, 1)[0];
  if (other) model.misread.add(txHash);
  return other ? input.slice(0, -32) + other.reference.toString('hex') : input;
}
