import { pause } from '../time.ts';

/** How often the queue is polled for newly due work while work is in progress. */
const pollMs = 1000;

/**
 * Works through a queue, several items at a time. A finished item makes room for the next at once, so a slow one delays
 * nothing else. Ends when nothing is due and nothing is in progress. Once the signal aborts, nothing new starts.
 *
 * @param take returns due items for which there is room, given how many are in progress
 * @param work must not throw; true when it succeeded
 * @returns how many succeeded
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
