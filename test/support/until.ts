import { pause } from '../../src/lib/time.ts';
import { patienceMs } from './patience.ts';

/** What an answer is once it has come: nothing for a condition. */
type Answer<T> = [T] extends [boolean] ? undefined : Exclude<T, null | undefined | false>;

/**
 * Asks again until there is an answer, for as long as a busy machine may need.
 *
 * @param ask a condition, or a question whose answer is then returned
 * @param what is waited for, for the error
 */
export async function until<T>(ask: () => T | Promise<T>, what: string, limitMs = patienceMs): Promise<Answer<T>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Answer<T>;
    if (performance.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await pause(10);
  }
}
