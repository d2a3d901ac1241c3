import { setImmediate } from 'node:timers/promises';
import { confirmTransfer, prefetchFromAll } from '../../chain/confirm.ts';
import { isFinalForAll, queryHeads } from '../../chain/endpoint-heads.ts';
import type { ChainConfig } from '../../config/chains.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import type { TransferRow } from '../transfers.ts';
import { asSeen } from './heads.ts';

/** What the endpoints of a chain said about transfers; filled while they are queried. */
export type CrossCheck = {
  agreed: Set<TransferRow>;
  /** Transfers that all endpoints confirm, and one does not see as final yet. */
  young: TransferRow[];
  /** Transfers that an endpoint denies or cannot report, while it reports others. */
  doubted: TransferRow[];
  /** Those of them that all endpoints deny. */
  denied: Set<TransferRow>;
  /** An endpoint does not answer, so the check stopped. */
  away: boolean;
  /** The transfers that were being checked when it did not answer. */
  unheard: TransferRow[];
};

export const emptyCrossCheck = (): CrossCheck => ({
  agreed: new Set(),
  young: [],
  doubted: [],
  denied: new Set(),
  away: false,
  unheard: [],
});

const atOnce = 4;

/** A transfer, and the amount due of the request that it pays, if that is known. */
type Checked = TransferRow & { usdc_micro?: string };

/**
 * Asks all endpoints of a chain about transfers, in order, until one does not answer or time runs out. They agree only
 * if the transfer's block is final by each one's own word.
 */
export async function crossCheck(
  chain: ChainConfig,
  rows: readonly Checked[],
  limitMs: number,
  checks: CrossCheck,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  if (rows.length === 0) return;
  const callMs = Math.floor(limitMs / 3);
  const [endpoints, heads] = await Promise.all([
    prefetchFromAll(chain, rows.map(asSeen), callMs),
    queryHeads(chain, callMs),
  ]);
  const isDeep = ({ block_number, usdc_micro }: Checked) =>
    heads !== null &&
    isFinalForAll(heads, Number(block_number), usdc_micro === undefined ? null : BigInt(usdc_micro), chain);
  await mapLimited(rows, atOnce, async (row) => {
    await setImmediate(); // most answers are there already, so nothing here waits: other work gets its turn before each
    if (checks.away || performance.now() > deadline) return;
    const ahead = await confirmTransfer(chain, asSeen(row), endpoints);
    // An answer about several transfers never counts against a payment: each endpoint is asked about it alone.
    const isDenied = ahead === 'absent' || ahead === 'altered' || ahead === 'missing';
    const answer = isDenied ? await confirmTransfer(chain, asSeen(row)) : ahead;
    if (answer === 'agreed' && isDeep(row)) checks.agreed.add(row);
    else if (answer === 'unavailable' || heads === null) {
      checks.away = true;
      checks.unheard.push(row);
    } else if (answer === 'agreed') checks.young.push(row);
    else checks.doubted.push(row);
    if (answer === 'absent' || answer === 'altered') checks.denied.add(row);
  });
}
