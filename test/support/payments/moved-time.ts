import { decodeEventLog, encodeEventTopics } from 'viem';
import { recurringAbi } from '../../../src/chain/recurring/contract.ts';
import { callRpc, type Hex, toHex } from '../../../src/chain/rpc.ts';
import type { PlanRow } from '../../../src/plans/read.ts';
import { dateOf } from '../../../src/plans/rules.ts';
import { passTime } from '../chain/relay-fixtures.ts';
import type { CollectFixtures } from './collect-fixtures.ts';

/** A year of which no day has begun: a chain's clock can be moved on, but not back. */
export const comingYear = new Date().getUTCFullYear() + 1;

/** A clock that stops until the test moves it. */
export function standingClock(start: Date) {
  let nowMs = start.getTime();
  return {
    now: () => new Date(nowMs),
    forward: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** Lets requests expire by the moved clock: the database computes expiry by its own clock, which cannot be moved. */
export async function letRequestsLast({ owner, clock }: CollectFixtures): Promise<() => Promise<unknown>> {
  await owner.unsafe(`
    create table test_clock (ahead interval not null);
    insert into test_clock values ('0');
    create function move_expiry() returns trigger security definer language plpgsql as $$
      begin new.expires_at := new.expires_at + (select ahead from test_clock); return new; end $$;
    create trigger move_expiry before insert on requests for each row execute function move_expiry()`);
  return () => owner`update test_clock set ahead = ${clock.now()}::timestamptz - now()`;
}

export const datesUntil = (plan: PlanRow, last: string): string[] => {
  const dates: string[] = [];
  const schedule = { firstOn: plan.first_on, every: plan.every, period: plan.period };
  for (let slot = 0; dateOf(schedule, slot) <= last; slot++) dates.push(dateOf(schedule, slot));
  return dates;
};

/** The charges on the chain, by the reference of the request. */
export async function chargedOnChain({ chain, contract }: CollectFixtures): Promise<Map<string, bigint[]>> {
  const topics = encodeEventTopics({ abi: recurringAbi, eventName: 'Charged' });
  const filter = { address: contract, fromBlock: '0x0', toBlock: 'latest', topics };
  const logs = (await callRpc(chain.rpcUrls[0] ?? '', 'eth_getLogs', [filter])) as {
    data: Hex;
    topics: [Hex, ...Hex[]];
  }[];
  const charged = new Map<string, bigint[]>();
  for (const { data, topics } of logs) {
    const { args } = decodeEventLog({ abi: recurringAbi, eventName: 'Charged', data, topics });
    const reference = args.paymentReference.slice(2, 34);
    charged.set(reference, [...(charged.get(reference) ?? []), args.amount]);
  }
  return charged;
}

/** The next time at which something is due: a date, or another attempt. */
export async function nextMoment({ db }: CollectFixtures): Promise<Date | null> {
  const [row] = await db.sql<{ at: Date | null }[]>`
    select least((select min(due_at) from plans), (select min(c.due_at) from collections c where state = 'waiting'
      and not exists (select from collections e where e.plan_id = c.plan_id and e.number < c.number
        and e.state in ('waiting', 'sent')))) as at`;
  return row?.at ?? null;
}

/** Moves the service's clock and the chain's to a time, and adjusts the database. */
export async function moveTo(of: CollectFixtures, at: Date, tellClock: () => Promise<unknown>): Promise<void> {
  of.clock.forward(at.getTime() - of.clock.now().getTime());
  const { timestamp } = (await of.rpc('eth_getBlockByNumber', ['latest', false])) as { timestamp: string };
  // The chain's own clock continues, and may already be later.
  await of.rpc('evm_setNextBlockTimestamp', [toHex(Math.max(Math.ceil(at.getTime() / 1000), Number(timestamp) + 1))]);
  await of.node.mine(1);
  await tellClock();
  await of.caughtUp();
}

/** Frees at once what a dead process held. Otherwise seconds or minutes would pass. */
export async function forgetHolds({ db }: CollectFixtures): Promise<void> {
  await passTime(db, 10);
}
