import { confirmTransfer } from '../../chain/confirm.ts';
import { mapFew } from '../../chain/reader/find.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { TransferRow } from '../transfers.ts';
import { asSeen } from './heads.ts';

/** What the endpoints of a chain said of transfers; it fills while they are asked. */
export type Opinions = {
  agreed: Set<TransferRow>;
  /** Those that an endpoint denies or cannot tell of, while it tells of others. */
  doubted: TransferRow[];
  /** Those among them that all endpoints deny alike. */
  refuted: Set<TransferRow>;
  /** An endpoint does not answer: nobody was asked further. */
  away: boolean;
  /** Those that were asked about when it did not. */
  unheard: TransferRow[];
};

export const noOpinions = (): Opinions => ({
  agreed: new Set(),
  doubted: [],
  refuted: new Set(),
  away: false,
  unheard: [],
});

const atOnce = 4;

/** Asks all endpoints of a chain about transfers, in order, until one does not answer or the time is over. */
export async function askOpinions(
  chain: ChainConfig,
  rows: readonly TransferRow[],
  limitMs: number,
  opinions: Opinions,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  await mapFew(rows, atOnce, async (row) => {
    if (opinions.away || performance.now() > deadline) return;
    const opinion = await confirmTransfer(chain, asSeen(row));
    if (opinion === 'agreed') opinions.agreed.add(row);
    else if (opinion === 'unavailable') {
      opinions.away = true;
      opinions.unheard.push(row);
    } else opinions.doubted.push(row);
    if (opinion === 'absent' || opinion === 'altered') opinions.refuted.add(row);
  });
}
