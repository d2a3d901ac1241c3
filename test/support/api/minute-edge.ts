import assert from 'node:assert/strict';
import type { Database } from '../../../src/db/connection.ts';
import { minuteMs } from '../../../src/lib/durations.ts';
import { pause } from '../../../src/lib/time.ts';
import { send } from './client.ts';

const perMinute = 60;
/** Long enough to use up the limit in each minute, even on a busy machine. */
const leadMs = 20_000;
const maxMsAfter = 40_000;
/** After the limit is used up, nobody calls until this long before the minute's end. */
const edgeMs = 1_000;
const clockSlackMs = 5;

/** When the calendar minute ends. The tests' database runs on this machine, by the same clock. */
const minuteEnd = () => (Math.floor(Date.now() / minuteMs) + 1) * minuteMs;

/**
 * Calls a list with one key from nine clients at once: until its limit is used up, and again around the minute's end. Asserts
 * that exactly the limit succeeded in each minute, and that each call was counted once.
 *
 * @param urlAt where each client sends its calls
 */
export async function assertExactLimit(
  db: Database,
  { key, key_id }: { key: string; key_id: string },
  urlAt: (client: number) => string,
): Promise<void> {
  const leftMs = minuteEnd() - Date.now();
  await pause(leftMs > leadMs ? leftMs - leadMs : leftMs + minuteMs - leadMs);
  const boundary = minuteEnd();
  const calls: { startMs: number; endMs: number; status: number }[] = [];
  const callsPast = () => calls.filter(({ startMs }) => startMs > boundary + clockSlackMs);
  const call = async (index: number) => {
    const startMs = Date.now();
    const { status } = await send(urlAt(index), 'GET', '/api/v1/requests?limit=1', { key });
    calls.push({ startMs, endMs: Date.now(), status });
    await pause(15);
  };
  const client = async (index: number) => {
    while (calls.length <= perMinute) await call(index);
    await pause(Math.max(0, boundary - edgeMs - Date.now()));
    while (callsPast().length < 2 * perMinute && Date.now() < boundary + maxMsAfter) await call(index);
  };
  await Promise.all(Array.from({ length: 9 }, (_, index) => client(index)));

  const successes = calls.filter(({ status }) => status === 200);
  assert.deepEqual([...new Set(calls.map(({ status }) => status))].sort(), [200, 429]);
  const before = calls.filter(({ endMs }) => endMs < boundary - clockSlackMs);
  const past = callsPast();
  assert.ok(before.length > perMinute && past.length > perMinute, `${before.length} and ${past.length} calls`);
  assert.equal(successes.length, 2 * perMinute);
  assert.equal(before.filter(({ status }) => status === 200).length, perMinute, 'used up before the minute ended');
  const [counter] = await db.sql`select calls from rate_counters where subject = ${key_id}`;
  assert.ok(counter?.calls >= past.length && counter?.calls <= calls.length - before.length, 'each call counted once');
}
