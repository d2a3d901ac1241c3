import { isUnreachable } from './connection.ts';

/** The most batches in one pass of a loop; the next pass takes the rest. */
const maxBatches = 100;

/**
 * Repeats a statement that handles a limited number of rows, until it finds fewer. No batch starts once the signal
 * aborts.
 *
 * @param size how many rows the statement handles at most
 * @param handle runs the statement; returns how many rows it handled
 * @returns how many rows were handled
 */
export async function rowsInBatches(signal: AbortSignal, size: number, handle: () => Promise<number>): Promise<number> {
  let handled = 0;
  for (let i = 0; i < maxBatches && !signal.aborted; i++) {
    const count = await handle();
    handled += count;
    if (count < size) break;
  }
  return handled;
}

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
