import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { transferTopic } from '../../../src/chain/reader/blocks.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import type { Database, Scope } from '../../../src/db/connection.ts';
import type { Row } from '../../../src/db/sql.ts';
import { insertion } from '../../../src/db/sql.ts';
import type { RequestRow } from '../../../src/requests/store.ts';
import { randomAddress } from '../fixtures.ts';

const word = (hex: string) => `0x${hex.replace('0x', '').padStart(64, '0')}`;
const blockHash = (number: number) => word(number.toString(16));
/** All blocks have the same time, in whole seconds like real blocks. */
const madeAtSeconds = Math.floor(Date.now() / 1000);

/** A cursor that has read a chain up to a block. Real chain behaviour is tested with a real chain. */
export async function readUpTo(db: Database, chainId: number, number: number): Promise<void> {
  await db.sql`
    insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
    values (${chainId}, 1, ${number}, '0x', now(), ${number}, ${number - 1}, now())
    on conflict (chain_id) do update set number = excluded.number, head_number = excluded.head_number`;
}

/** Transfers as the watcher stores them, one per transaction. Returns their hashes. */
export async function store(
  db: Database,
  chain: ChainConfig,
  to: { scope: Scope; wallet: string; accountId: string },
  transfers: { blockNumber: number; value: string; request?: RequestRow }[],
  applied = false,
): Promise<string[]> {
  const rows = transfers.map(({ blockNumber, value, request }) => ({
    chain_id: chain.chainId,
    tx_hash: `0x${randomBytes(32).toString('hex')}`,
    ordinal: 0,
    block_number: blockNumber,
    block_hash: blockHash(blockNumber),
    block_time: new Date(madeAtSeconds * 1000),
    token_address: chain.tokens[0]?.address ?? '',
    from_address: randomAddress(),
    to_address: to.wallet,
    value,
    partner_id: to.scope.partnerId,
    test_mode: to.scope.testMode,
    account_id: to.accountId,
    calldata_reference: request ? Buffer.from(request.reference) : null,
    request_id: applied ? (request?.id ?? null) : null,
    rule: applied ? 'reference' : null,
    counts: applied,
    judged_at: applied ? new Date() : null,
  }));
  for (let at = 0; at < rows.length; at += 1000) {
    await db.sql`insert into transfers ${insertion(rows.slice(at, at + 1000))}`;
  }
  return rows.map((row) => row.tx_hash);
}

function blockOf(number: string) {
  const hash = word(number);
  return {
    number,
    hash,
    parentHash: hash,
    timestamp: `0x${madeAtSeconds.toString(16)}`,
    logsBloom: `0x${'00'.repeat(256)}`,
  };
}

/** A transaction that the sender sent to the token, with the reference at the end of its calldata. */
function transactionOf(row: Row) {
  const input = `0x${Buffer.from(row.calldata_reference ?? []).toString('hex')}`;
  return {
    hash: row.tx_hash,
    from: row.from_address,
    nonce: '0x0',
    to: row.token_address,
    input,
    blockHash: row.block_hash,
  };
}

type Call = { id: number; method: string; params: unknown[] };
type Answer = { result: unknown } | { error: { code: number; message: string } } | 'away' | 'silent';

/** An RPC endpoint that knows the transfers in a database. Its answers about single transactions can be overridden. */
export async function tableEndpoint(db: Database) {
  const endpoint = {
    /** By transaction hash. `all` applies to every call. */
    lies: new Map<string, Answer>(),
    /** Transactions to answer with instead of those in the database. */
    transactions: new Map<string, object>(),
    asked: new Map<string, number>(),
    /** Unanswered calls whose caller still waits. */
    waiting: new Set<ServerResponse>(),
  };
  /** Its newest block is the last one that any of its chains was read up to. */
  const numberOf = async (block: string) => {
    if (block.startsWith('0x')) return block;
    const [last] = await db.sql`select max(head_number)::int as number from chain_cursors`;
    return `0x${Number(last?.number ?? 0).toString(16)}`;
  };
  const tell = async (method: string, params: unknown[]): Promise<Answer> => {
    if (method === 'eth_chainId') return { result: '0x7a69' };
    if (method === 'eth_getBlockByNumber') return { result: blockOf(await numberOf(params[0] as string)) };
    if (!['eth_getTransactionReceipt', 'eth_getTransactionByHash'].includes(method)) {
      return { error: { code: -32601, message: 'method not found' } };
    }
    const [hash] = params as [string];
    if (method === 'eth_getTransactionReceipt') endpoint.asked.set(hash, (endpoint.asked.get(hash) ?? 0) + 1);
    const rows = await db.sql`select * from transfers where tx_hash = ${hash} order by ordinal`;
    const [first] = rows;
    if (!first) return { result: null };
    if (method === 'eth_getTransactionByHash')
      return { result: endpoint.transactions.get(hash) ?? transactionOf(first) };
    const place = {
      blockHash: first.block_hash,
      blockNumber: `0x${Number(first.block_number).toString(16)}`,
      transactionHash: hash,
    };
    const logs = rows.map((row) => ({
      ...place,
      address: row.token_address,
      topics: [transferTopic, word(row.from_address), word(row.to_address)],
      data: word(BigInt(row.value).toString(16)),
      logIndex: `0x${row.ordinal.toString(16)}`,
    }));
    return { result: { ...place, status: '0x1', logs } };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const said = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answers: object[] = [];
    for (const { id, method, params } of [said].flat()) {
      const truth = await tell(method, params);
      const answer = endpoint.lies.get('all') ?? endpoint.lies.get(String(params[0])) ?? truth;
      // One call of a batch is enough to lose the whole batch.
      if (answer === 'away') return request.socket.destroy();
      if (answer === 'silent') {
        endpoint.waiting.add(response);
        return response.on('close', () => endpoint.waiting.delete(response));
      }
      answers.push({ jsonrpc: '2.0', id, ...answer });
    }
    return response.end(JSON.stringify(Array.isArray(said) ? answers : answers[0]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
