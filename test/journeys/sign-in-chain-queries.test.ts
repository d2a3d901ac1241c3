import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { idleChain, startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { makeOnboarded, messageOn, newAccount } from '../support/people/merchants.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let provider: Server;
let asked = 0;

before(async () => {
  provider = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const { id, method } = JSON.parse(text);
      if (method === 'eth_getCode') asked++;
      const result = { eth_chainId: '0x7a69', eth_getCode: '0x60' }[method as string] ?? '0x';
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  const chain = { ...idleChain(31337), rpcUrls: [`http://127.0.0.1:${port}`] };
  const now = new Date(); // limits count by the quarter of an hour, which must not end meanwhile
  app = await startApp({ chains: { test: [chain], live: [] }, clock: { now: () => now } });
});
after(async () => {
  await app?.stop();
  provider?.closeAllConnections();
  provider?.close();
});

/** Submits junk signatures for one message repeatedly; returns the statuses. */
async function tryInVain(wallet: string, times: number): Promise<number[]> {
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open('/dashboard/sign-in'), '/wallet', { wallet_address: wallet });
  const typed = { wallet_address: wallet, message: messageOn(page), signature: `0x${'01'.repeat(4_000)}` };
  const statuses: number[] = [];
  for (let tried = 0; tried < times; tried++) {
    const { status } = await visitor.send(page, '/complete', typed);
    statuses.push(status);
  }
  return statuses;
}

test('Sign-in › no chain is queried for a wallet that is no merchant’s', async () => {
  asked = 0;
  assert.deepEqual(new Set(await tryInVain(newAccount().address, 10)), new Set([403]));
  assert.equal(asked, 0);
});

test('Sign-in › chains are queried at most five times about one message of a merchant’s contract wallet', async () => {
  const { test: scope } = await makePartner(app.db);
  const { id, wallet } = await makeOnboarded(app.ctx, scope);
  await app.db.sql`update merchants set wallet_chain_ids = '{31337}' where id = ${id}`;
  asked = 0;
  const statuses = await tryInVain(wallet, 8);
  assert.deepEqual(statuses, [403, 403, 403, 403, 403, 429, 429, 429]);
  assert.equal(asked, 5);
});
