import type { Context } from '../context.ts';
import type { Mode } from '../lib/mode.ts';
import { within } from '../lib/time.ts';
import { selectReadStates } from './cursors.ts';
import { connectRpc, RpcError } from './rpc.ts';
import { silentMs } from './silence.ts';

export type ChainStatus = {
  chainId: number;
  name: string;
  mode: Mode;
  /** At least one endpoint answers. */
  reachable: boolean;
  /** The newest block that any endpoint reports; null when none answers. */
  head: number | null;
  /** The newest block that was read; null before the first, or without the database. */
  read: number | null;
  /** Blocks between the two; null when either is unknown. */
  lag: number | null;
  /** The newest block was read more than a minute ago, though while a chain is read this is noted every few seconds. */
  silent: boolean;
  /** Each endpoint by its host, and what it answered instead of a block. */
  endpoints: { host: string; head: number | null; error: string | null }[];
};

const timeoutMs = 3_000;

/** Asks every endpoint of every chain for its head, in parallel. Never throws for a chain in trouble. */
export async function chainStatus(ctx: Context): Promise<ChainStatus[]> {
  const all = [
    ...ctx.chains.test.map((chain) => ({ chain, mode: 'test' as const })),
    ...ctx.chains.live.map((chain) => ({ chain, mode: 'live' as const })),
  ];
  const [cursors, probes] = await Promise.all([
    readCursors(ctx),
    Promise.all(all.map(({ chain }) => Promise.all(chain.rpcUrls.map(probe)))),
  ]);
  return all.map(({ chain, mode }, i) => {
    const endpoints = probes[i] ?? [];
    const heads = endpoints.flatMap(({ head }) => (head === null ? [] : [head]));
    const head = heads.length > 0 ? Math.max(...heads) : null;
    const { number: read = null, silent = false } = cursors.get(chain.chainId) ?? {};
    const lag = head === null || read === null ? null : Math.max(0, head - read);
    const { chainId, name } = chain;
    return { chainId, name, mode, reachable: head !== null, head, read, lag, silent, endpoints };
  });
}

type ReadSoFar = { number: number; silent: boolean };

async function readCursors(ctx: Context): Promise<Map<number, ReadSoFar>> {
  const asked = selectReadStates(ctx.db.sql, silentMs, null).execute();
  try {
    const rows = await within(asked, timeoutMs, () => new Error('no answer in time'));
    return new Map(rows.map((row) => [Number(row.chain_id), { number: Number(row.number), silent: row.silent }]));
  } catch (error) {
    // Readiness checks the database separately, and still wants the chains' status.
    ctx.log.debug({ err: error }, 'chain cursors cannot be read');
    return new Map();
  }
}

async function probe(url: string): Promise<ChainStatus['endpoints'][number]> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const header = await rpc.header('latest');
    return { host: rpc.host, head: header?.number ?? null, error: header ? null : 'it has no blocks' };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { host: rpc.host, head: null, error: error.message };
  }
}
