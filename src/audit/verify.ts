import type { Context } from '../context.ts';
import { hashOf, noHash } from './rules.ts';
import { type ChainEnd, selectChains, selectEntries } from './store.ts';
import { noPartner } from './write.ts';

/**
 * Why a log is broken: an entry is missing, all from one on are missing, one was changed, all up to one were rewritten,
 * or its end was changed.
 */
export type Breach = 'missing' | 'cut' | 'changed' | 'remade' | 'end';

/**
 * The result of checking one log. `rows` and `hash` are its end: recorded elsewhere, they show later that the log was
 * neither truncated nor rewritten. `keptAt` is the entry with the kept hash; null when there is none, or none was
 * given.
 */
export type ChainCheck = {
  partnerId: string;
  rows: number;
  hash: string;
  broken: { number: string; why: Breach } | null;
  keptAt: string | null;
};

const batch = 500;
const maxChains = 100_000;

/** True for a text that can be the hash of a row. */
export const isHash = (text: string) => /^[0-9a-f]{64}$/i.test(text);

/**
 * Reads logs from the beginning and finds the first broken link of each: an entry that was changed, removed, inserted
 * or moved.
 *
 * @param partnerId one log; null for all
 * @param kept a hash recorded earlier, as 64 hex digits, to look for; null for none
 */
export async function verifyChains(
  ctx: Pick<Context, 'db'>,
  partnerId: string | null,
  kept: string | null = null,
): Promise<ChainCheck[]> {
  const wanted = kept === null ? null : Buffer.from(kept, 'hex');
  const checks: ChainCheck[] = [];
  for await (const end of readEnds(ctx, partnerId)) {
    if (partnerId !== null || end.last_number !== null || end.newest_row !== null) {
      checks.push(await verifyChain(ctx, end, wanted));
    }
  }
  return checks;
}

/** The ends of all logs, or of one, in batches. Includes the ends of empty logs. */
export async function* readEnds(ctx: Pick<Context, 'db'>, partnerId: string | null): AsyncGenerator<ChainEnd> {
  let after: string | null = null;
  for (let read = 0; read < maxChains; read += batch) {
    const ends: ChainEnd[] = await selectChains(ctx.db.sql, { partnerId, after, noPartner }, batch);
    yield* ends;
    if (ends.length < batch) return;
    after = ends.at(-1)?.partner_id ?? null;
  }
}

async function verifyChain(ctx: Pick<Context, 'db'>, end: ChainEnd, kept: Buffer | null): Promise<ChainCheck> {
  const { partner_id: partnerId, last_hash: lastHash } = end;
  const last = BigInt(end.last_number ?? 0);
  let previous: Buffer = noHash;
  let verified = 0n;
  let keptAt: string | null = null;
  const resultOf = (rows: bigint, why: Breach | null): ChainCheck => ({
    partnerId,
    rows: Number(rows),
    hash: (lastHash ?? noHash).toString('hex'),
    broken: why === null ? null : { number: String(rows + 1n), why },
    keptAt,
  });
  // Rows that are appended meanwhile come after the end that was read, and are not checked.
  while (verified < last) {
    const rows = await selectEntries(ctx.db.sql, partnerId, verified + 1n, batch);
    if (rows.length === 0) return resultOf(verified, 'cut');
    for (const row of rows) {
      if (verified === last) break;
      if (BigInt(row.number) !== verified + 1n) return resultOf(verified, 'missing');
      if (!hashOf(previous, verified + 1n, row).equals(row.hash)) return resultOf(verified, 'changed');
      previous = row.hash;
      verified += 1n;
      if (kept?.equals(row.hash)) keptAt = row.number;
    }
  }
  if (!previous.equals(lastHash ?? noHash)) return resultOf(verified - 1n, 'remade');
  return resultOf(verified, BigInt(end.newest_row ?? 0) > last ? 'end' : null);
}
