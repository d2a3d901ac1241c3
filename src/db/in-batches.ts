import { isUnreachable } from './connection.ts';

/** So many batches are in one pass of a loop; the next pass takes the rest. */
const maxBatches = 100;

/** Items that are handled one by one, each in a transaction of its own. */
type Items<T> = {
  /** Reads the next batch, without those that failed. An empty one says that nothing is left. */
  read(failed: ReadonlySet<string>): Promise<T[]>;
  /** What an item is called in `failed`. */
  keyOf(item: T): string;
  /** Returns how much it did, which the pass adds up. */
  handle(item: T): Promise<number>;
  logFailure(error: unknown, item: T): void;
};

/**
 * Handles items one after the other, in batches until nothing is left. One that fails is logged and left to the next
 * pass: it delays no other. No item starts once the signal aborts.
 *
 * @returns how much was done
 * @throws if the database cannot be reached, because then the others would fail, too
 */
export async function itemsInBatches<T>(
  signal: AbortSignal,
  { read, keyOf, handle, logFailure }: Items<T>,
): Promise<number> {
  const failed = new Set<string>();
  let done = 0;
  for (let i = 0; i < maxBatches; i++) {
    const items = await read(failed);
    if (items.length === 0) break;
    for (const item of items) {
      if (signal.aborted) return done;
      try {
        done += await handle(item);
      } catch (error) {
        if (isUnreachable(error)) throw error;
        logFailure(error, item);
        failed.add(keyOf(item));
      }
    }
  }
  return done;
}
