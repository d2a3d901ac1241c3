import { askAllAhead, confirmTransfer } from '../../chain/confirm.ts';
import type { ChainConfig } from '../../config/chains.ts';
import { mapFew } from '../../lib/map-few.ts';
import type { TransferRow } from '../transfers.ts';
import { asSeen } from './heads.ts';

/** What the endpoints of a chain said of transfers; it fills while they are asked. */
export type CrossCheck = {
  agreed: Set<TransferRow>;
  /** Those that an endpoint denies or cannot tell of, while it tells of others. */
  doubted: TransferRow[];
  /** Those among them that all endpoints deny alike. */
  denied: Set<TransferRow>;
  /** An endpoint does not answer: nobody was asked further. */
  away: boolean;
  /** Those that were asked about when it did not. */
  unheard: TransferRow[];
};

export const emptyCrossCheck = (): CrossCheck => ({
  agreed: new Set(),
  doubted: [],
  denied: new Set(),
  away: false,
  unheard: [],
});

const atOnce = 4;

/** Asks all endpoints of a chain about transfers, in order, until one does not answer or time runs out. */
export async function crossCheck(
  chain: ChainConfig,
  rows: readonly TransferRow[],
  limitMs: number,
  checks: CrossCheck,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  const endpoints = await askAllAhead(chain, rows.map(asSeen), Math.floor(limitMs / 3));
  await mapFew(rows, atOnce, async (row) => {
    if (checks.away || performance.now() > deadline) return;
    const ahead = await confirmTransfer(chain, asSeen(row), endpoints);
    // What was told together with others is not held against a payment: each endpoint is asked about it alone.
    const isDenied = ahead === 'absent' || ahead === 'altered' || ahead === 'missing';
    const answer = isDenied ? await confirmTransfer(chain, asSeen(row)) : ahead;
    if (answer === 'agreed') checks.agreed.add(row);
    else if (answer === 'unavailable') {
      checks.away = true;
      checks.unheard.push(row);
    } else checks.doubted.push(row);
    if (answer === 'absent' || answer === 'altered') checks.denied.add(row);
  });
}
