import { promptEndpoints } from '../../chain/failover.ts';
import { findIncoming, type Incoming } from '../../chain/reader/incoming.ts';
import { requestReread } from '../../chain/reader/unread.ts';
import { connectRpc, type Rpc, RpcError } from '../../chain/rpc.ts';
import { readTokenFacts, type TokenFacts } from '../../chain/token-facts.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { withinOr } from '../../lib/time.ts';
import { type PayPageRow, readPayPageRow } from '../../requests/pay-page.ts';
import { madeAt } from '../../requests/rules.ts';
import { ChainLimit } from '../chain-limit.ts';
import { canBePaid } from '../rules.ts';

/** Money that reached a request's wallet, looks meant for the request, and cannot count. */
export type MisdirectedPayment = {
  kind: 'wrong_token' | 'wrong_network';
  chainId: number;
  chainName: string;
  tokenAddress: string;
  /** The name that the token gives itself, cleaned, at most 20 characters; it may be a lie. Null if it has none. */
  symbol: string | null;
  txHash: string;
};

/** What was found for one wallet on one chain, shared by all who ask within ten seconds. */
type Scan = {
  atMs: number;
  sinceBlock: number;
  found: Promise<{ rpc: Rpc; incoming: Incoming[] } | null>;
  facts: Map<string, Promise<TokenFacts>>;
  calldata: Map<string, Promise<string>>;
};

const scans = new Map<string, Scan>();
const keptMs = 10_000;
const maxScans = 1_000;
/**
 * How many wallets a process searches on a chain in those ten seconds, for one partner's mode and for all. The limit
 * exists because each search takes several calls, open pages keep asking, and payments are read from the same
 * endpoints.
 */
const newScans = new ChainLimit({ ofOne: 60, ofAll: 300 }, keptMs);

const maxMisdirected = 5;
/** A page waits for this. */
const limitMs = 6_000;
const timeoutMs = 2_000;

/** Where a request's wallet is searched, and which tokens the watcher handles there. */
type Place = { chain: ChainConfig; kind: MisdirectedPayment['kind']; accepted: string[] };

/**
 * Looks for money sent to a request's wallet by mistake: another token, or a network that is not offered, in the amount
 * due or with the request's reference. Queries the chains, so only while the page is open. A chain in trouble is
 * skipped.
 *
 * @returns the newest of each chain, at most five; none for an unknown request
 */
export async function findMisdirected(ctx: Context, scope: Scope, requestId: string): Promise<MisdirectedPayment[]> {
  const row = await readPayPageRow(ctx.db, scope, requestId);
  if (!row) return [];
  const lookups = places(ctx, scope, row).map((place) => withinOr(findAt(ctx, scope, place, row), limitMs, []));
  const found = await Promise.all(lookups);
  return found.flat().slice(0, maxMisdirected);
}

/** The watcher handles accepted tokens on any chain of the mode: they count, or become unmatched payments. */
function places(ctx: Context, scope: Scope, row: PayPageRow): Place[] {
  const [own, other] = scope.testMode ? [ctx.chains.test, ctx.chains.live] : [ctx.chains.live, ctx.chains.test];
  return [
    ...own.map(
      (chain): Place => ({
        chain,
        kind: canBePaid(chain.chainId, row.wallet_chain_ids) ? 'wrong_token' : 'wrong_network',
        accepted: chain.tokens.map(({ address }) => address),
      }),
    ),
    ...other.map((chain): Place => ({ chain, kind: 'wrong_network', accepted: [] })),
  ];
}

async function findAt(ctx: Context, scope: Scope, place: Place, row: PayPageRow): Promise<MisdirectedPayment[]> {
  try {
    return await sift(ctx, scope, place, row);
  } catch (error) {
    if (error instanceof RpcError) return [];
    throw error;
  }
}

async function sift(ctx: Context, scope: Scope, place: Place, row: PayPageRow): Promise<MisdirectedPayment[]> {
  const { chain, kind } = place;
  const start = row.start_blocks[String(chain.chainId)];
  const scan = scanOf(ctx, scope, place, row, start ?? -1);
  const found = await scan?.found;
  if (!scan || !found) return [];
  const misdirected: MisdirectedPayment[] = [];
  for (const { txHash, tokenAddress, value, blockNumber } of found.incoming) {
    if (misdirected.length === maxMisdirected) break;
    if (start !== undefined && blockNumber <= start) continue;
    const { decimals, symbol } = await once(scan.facts, tokenAddress, () => readTokenFacts(found.rpc, tokenAddress));
    const isDue = decimals !== null && value === inUnits(BigInt(row.usdc_micro), decimals);
    if (!isDue && !(await carriesReference(scan, found.rpc, txHash, row))) continue;
    if (start === undefined && !(await isYounger(found.rpc, blockNumber, row))) continue;
    misdirected.push({ kind, chainId: chain.chainId, chainName: chain.name, tokenAddress, symbol, txHash });
  }
  return misdirected;
}

/** An amount of micro units in a token's smallest units; null if the token has too few decimals. */
function inUnits(micro: bigint, decimals: number): bigint | null {
  if (decimals >= 6) return micro * 10n ** BigInt(decimals - 6);
  const divisor = 10n ** BigInt(6 - decimals);
  return micro % divisor === 0n ? micro / divisor : null;
}

async function carriesReference(scan: Scan, rpc: Rpc, txHash: string, row: PayPageRow): Promise<boolean> {
  const calldata = await once(scan.calldata, txHash, async () => (await rpc.transaction(txHash))?.input ?? '');
  return calldata.includes(Buffer.from(row.reference).toString('hex'));
}

/** Block times are whole seconds. */
async function isYounger(rpc: Rpc, blockNumber: number, row: PayPageRow): Promise<boolean> {
  const header = await rpc.header(blockNumber);
  return header !== null && header.time.getTime() >= Math.floor(madeAt(row).getTime() / 1000) * 1000;
}

function once<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const answer = known.get(key) ?? ask();
  known.set(key, answer);
  return answer;
}

/**
 * The scan of the last ten seconds, if it reaches back far enough; otherwise a new one. Null if there were too many
 * scans: an open page asks again.
 */
function scanOf(
  ctx: Context,
  scope: Scope,
  { chain, accepted }: Place,
  row: PayPageRow,
  sinceBlock: number,
): Scan | null {
  const key = `${chain.chainId} ${chain.rpcUrls[0]} ${row.wallet_address}`;
  const nowMs = performance.now();
  const last = scans.get(key);
  if (last && nowMs - last.atMs < keptMs && last.sinceBlock <= sinceBlock) return last;
  const now = ctx.clock.now();
  if (!newScans.take(chain.chainId, scope, row.wallet_address, now)) return null;
  if (scans.size >= maxScans) {
    for (const [old, { atMs }] of scans) if (nowMs - atMs >= keptMs) scans.delete(old);
    if (scans.size >= maxScans) scans.clear();
  }
  const scan: Scan = {
    atMs: nowMs,
    sinceBlock,
    found: scanChain(ctx, chain, row, sinceBlock, accepted),
    facts: new Map(),
    calldata: new Map(),
  };
  scans.set(key, scan);
  return scan;
}

/**
 * The second endpoint is asked first: the watcher reads from the first, so this also finds what that one omitted, and
 * hands it to the watcher. Null when no endpoint answers.
 */
async function scanChain(ctx: Context, chain: ChainConfig, row: PayPageRow, sinceBlock: number, accepted: string[]) {
  for (const url of promptEndpoints(chain).reverse()) {
    const rpc = connectRpc(url, timeoutMs);
    try {
      const found = await findIncoming(rpc, row.wallet_address, sinceBlock, accepted);
      const place = { chainId: chain.chainId, testMode: row.test_mode };
      const reread = { wallet: row.wallet_address, transactions: found.accepted, sinceBlock: null, host: rpc.host };
      if (found.accepted.length > 0) await requestReread(ctx.db, place, reread);
      return { rpc, incoming: found.others };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return null;
}
