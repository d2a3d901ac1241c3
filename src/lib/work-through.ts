import { pause } from './time.ts';

/** How often the queue is polled for what has become due, while work is under way. */
const pollMs = 1000;

/**
 * Works through a queue, several at a time: whatever ends makes room for the next at once, so what takes long holds up
 * nothing else. Ends when nothing is due and nothing under way; once the signal aborts, nothing further is begun.
 *
 * @param take what is due and there is room for, beside as many as are under way
 * @param work must not throw; true when it went well
 * @returns how many went well
 */
export async function workThrough<T>(
  signal: AbortSignal,
  take: (underWay: number) => Promise<T[]>,
  work: (one: T) => Promise<boolean>,
): Promise<number> {
  const underWay = new Set<Promise<void>>();
  let well = 0;
  try {
    while (!signal.aborted) {
      for (const one of await take(underWay.size)) {
        const working = work(one).then((good) => {
          underWay.delete(working);
          if (good) well++;
        });
        underWay.add(working);
      }
      if (underWay.size === 0) break;
      const enough = new AbortController();
      await Promise.race([...underWay, pause(pollMs, AbortSignal.any([signal, enough.signal]))]);
      enough.abort();
    }
  } finally {
    await Promise.all(underWay);
  }
  return well;
}
