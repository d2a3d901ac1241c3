import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { privateKeyToAccount } from 'viem/accounts';
import { buildServer } from '../../src/http/server.ts';
import { claimTypedDataJson } from '../../src/payments/submitted/claim.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { visit } from '../support/people/forms.ts';

const logged: string[] = [];
let fixtures: PayFixtures;
let app: FastifyInstance;
let url: string;
before(async () => {
  fixtures = await payFixtures();
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  app = await buildServer({ ...fixtures.ctx, log });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await app?.close();
  await fixtures?.stop();
});

const headers = { cookie: 'dashboard-session=s3cr3t', origin: 'http://localhost:3000' };
const get = (path: string) => visit(`${url}/pay/${path}`, { headers });
const post = (path: string, fields: Record<string, string>) =>
  visit(`${url}/pay/${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) });

/** Asserts that nothing in the logs lets a reader claim a payment or act for a visitor. */
function assertHarmless(request: RequestRow, signatures: string[]): void {
  const reference = Buffer.from(request.reference);
  const all = logged.join('\n').toLowerCase();
  for (const secret of [
    reference.toString('hex'),
    reference.toString('base64').toLowerCase(),
    's3cr3t',
    ...signatures,
  ]) {
    assert.ok(!all.includes(secret.toLowerCase()), `the log holds ${secret}:\n${all}`);
  }
}

test('visits, proofs and claims, valid and invalid → no reference, signature or cookie in the log', async () => {
  const request = await fixtures.request();
  const { from, txHash } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 77n, tagged: false });
  await fixtures.turn();
  for (const path of ['', '/state', '/receipt', '/qr/0']) await get(`${request.id}${path}`);
  await post(`${request.id}/proof`, { tx_hash: 'nonsense' });
  const asked = await post(`${request.id}/proof`, { tx_hash: txHash });
  assert.ok(/Only the owner of/.test(asked.html));
  const key = { chainId: 31337, txHash, ordinal: 0 };
  const fields = { chain_id: '31337', tx_hash: txHash, ordinal: '0' };
  const data = JSON.parse(claimTypedDataJson(fixtures.ctx.config, request.id, key));

  // The request's id from a log and the transaction's hash from the chain are not enough.
  const stranger = await privateKeyToAccount(fixtures.node.wallet().privateKey).signTypedData(data);
  const refused = await post(`${request.id}/claim`, { ...fields, signature: stranger });
  assert.ok(/This signature is not from the wallet/.test(refused.html));
  assert.equal((await fixtures.read(request)).proof_status, 'none');

  const signature = await privateKeyToAccount(from.privateKey).signTypedData(data);
  await fixtures.owner`alter table payment_hints rename to payment_hints_away`;
  const broken = await post(`${request.id}/claim`, { ...fields, signature });
  await fixtures.owner`alter table payment_hints_away rename to payment_hints`;
  assert.equal(broken.status, 500);
  assert.match(logged.join(''), /internal_error/, 'the failure is logged');

  const counted = await post(`${request.id}/claim`, { ...fields, signature });
  assert.ok(/being confirmed|confirmations/.test(counted.html));
  assert.notEqual((await fixtures.read(request)).proof_status, 'none');
  assertHarmless(request, [stranger.slice(2), signature.slice(2)]);
});
