import type { Context } from '../context.ts';
import { hashOf, noHash } from './rules.ts';
import { type ChainEnd, selectChains, selectEntries } from './store.ts';

/** What a check of one chain found. `hash` is the end's: kept elsewhere, it shows later that the chain was not made anew. */
export type ChainCheck = {
  partnerId: string;
  rows: number;
  hash: string;
  broken: { number: string; why: string } | null;
};

const batch = 500;
const maxChains = 100_000;

/**
 * Reads chains from their beginning and finds the first link of each that is broken: a row that was changed, taken out,
 * put in or moved.
 *
 * @param partnerId one chain; null for all
 */
export async function verifyChains(ctx: Pick<Context, 'db'>, partnerId: string | null): Promise<ChainCheck[]> {
  const checks: ChainCheck[] = [];
  for (const end of await selectChains(ctx.db.sql, partnerId, maxChains)) checks.push(await verifyChain(ctx, end));
  return checks;
}

async function verifyChain(ctx: Pick<Context, 'db'>, end: ChainEnd): Promise<ChainCheck> {
  const { partner_id: partnerId } = end;
  const last = BigInt(end.last_number);
  const found = (rows: bigint, why: string | null): ChainCheck => ({
    partnerId,
    rows: Number(rows),
    hash: end.last_hash.toString('hex'),
    broken: why === null ? null : { number: String(rows + 1n), why },
  });
  let previous: Buffer = noHash;
  let good = 0n;
  // Rows that are appended meanwhile come after the end that was read, and are not looked at.
  while (good < last) {
    const rows = await selectEntries(ctx.db.sql, partnerId, good + 1n, batch);
    if (rows.length === 0) return found(good, 'this row and all after it are missing');
    for (const row of rows) {
      if (good === last) break;
      if (BigInt(row.number) !== good + 1n) return found(good, 'this row is missing');
      if (!hashOf(previous, good + 1n, row).equals(row.hash)) return found(good, 'this row, or its hash, was changed');
      previous = row.hash;
      good += 1n;
    }
  }
  if (previous.equals(end.last_hash)) return found(good, null);
  return found(good - 1n, 'the chain was made anew up to this row');
}
