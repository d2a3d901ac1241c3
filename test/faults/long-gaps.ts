import { pause } from '../../src/lib/time.ts';
import { headNumber, mine } from '../../src/sandbox/wallet.ts';
import { pay } from './payments.ts';
import type { Stage } from './stage.ts';

/**
 * More blocks than the service remembers. When the chains are as usual again, it compares what endpoints say about the
 * blocks that it remembers, so only in older ones must it search for what it read without a token.
 */
const gapBlocks = 600;
/** The nodes read that many in a second or two, unless something else is broken. */
const readLimitMs = 15_000;

/** What the nodes do without, and on which chain that makes a gap. */
const kinds = { 'token-missing': 'here', 'chain-moved': 'elsewhere' } as const;

/**
 * Takes a token or a chain from the nodes while somebody pays in it, and more blocks follow than the service remembers.
 *
 * @returns what makes and reads these blocks, and gives back what was taken
 */
export async function beginLongGap(
  stage: Stage,
  kind: keyof typeof kinds,
  shares: readonly [number, number, number],
): Promise<() => Promise<void>> {
  const where = kinds[kind];
  await stage.settings.useChains(kind);
  await pay(stage, where === 'here' ? 'reference' : 'elsewhere', shares);
  const { chain, alone } = where === 'here' ? stage.chain : stage.elsewhere;
  return async () => {
    const head = await alone(async () => {
      await mine(chain, gapBlocks);
      return headNumber(chain);
    });
    await untilRead(stage, chain.chainId, head);
    await stage.settings.useChains('usual');
  };
}

/** Waits a while until the nodes have read up to a block: without the token, as its gap ends where they have read. */
async function untilRead({ database: { owner } }: Stage, chainId: number, number: number): Promise<void> {
  const isRead = () =>
    owner`select from chain_cursors where chain_id = ${chainId} and number >= ${number}`.then(
      (rows) => rows.length > 0,
      () => false, // the database is away
    );
  const deadline = performance.now() + readLimitMs;
  while (performance.now() < deadline && !(await isRead())) await pause(50);
}
