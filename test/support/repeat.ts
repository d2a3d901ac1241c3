import { pause } from '../../src/lib/time.ts';

/** Runs work again and again, as the service runs a loop, until the signal aborts. */
export async function repeat(work: () => Promise<unknown>, everyMs: number, signal: AbortSignal): Promise<void> {
  for (; !signal.aborted; await pause(everyMs, signal)) await work();
}
