import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import { agentOf, ask, askUntilMined } from '../support/payments/agent.ts';
import { type AgentFixtures, agentFixtures } from '../support/payments/agent-fixtures.ts';
import { until } from '../support/until.ts';

let fixtures: AgentFixtures;
before(async () => {
  fixtures = await agentFixtures();
});
after(() => fixtures?.stop());

type Made = Awaited<ReturnType<AgentFixtures['request']>>;

/** A header of each wallet that pays a request. */
async function headersOf(request: Made, payers: { privateKey: `0x${string}` }[]): Promise<Record<string, string>[]> {
  const { required } = await ask(request.url);
  assert.ok(required);
  return Promise.all(payers.map(({ privateKey }) => agentOf(privateKey).sign(required)));
}

test('Four wallets at once at each of three requests → each request is paid once, and nobody else pays', async () => {
  const requests = [await fixtures.request(), await fixtures.request(), await fixtures.request()];
  const payers: { privateKey: `0x${string}` }[] = [];
  for (let i = 0; i < 4; i++) payers.push(await fixtures.payer());
  const headers = await Promise.all(requests.map((request) => headersOf(request, payers)));
  const before = await fixtures.relayed();
  const answers = await Promise.all(
    requests.flatMap(({ url }, i) => (headers[i] ?? []).map((header) => ask(url, header))),
  );
  const told = answers.map(({ settlement }) => settlement?.errorReason ?? settlement?.success);
  assert.deepEqual(told.filter((one) => one === true).length, 3, told.join());
  assert.deepEqual(told.filter((one) => one === 'other_payment').length, 9, told.join());
  await fixtures.node.mine(2);
  for (const request of requests) {
    await until(async () => (await fixtures.read(request)).proof_status === 'verified', 'it to be verified');
  }
  assert.equal(await fixtures.relayed(), before + 3);
});

test('Reorganised away after the answer → in progress again, no other payment is requested, and the same one is mined again', async () => {
  const request = await fixtures.request();
  const [header = {}] = await headersOf(request, [await fixtures.payer()]);
  assert.equal((await askUntilMined(request.url, header)).status, 200);
  await until(async () => (await fixtures.read(request)).proof_status === 'attached', 'it to be attached');
  const before = await fixtures.relayed();
  await fixtures.node.reorg(1);
  await until(async () => (await fixtures.read(request)).proof_status === 'none', 'it to be taken back');
  assert.ok([200, 202].includes((await ask(request.url)).status));
  const again = await askUntilMined(request.url, header);
  assert.deepEqual([again.status, again.settlement?.success], [200, true]);
  await until(async () => (await fixtures.read(request)).proof_status !== 'none', 'it to be attached again');
  assert.equal(await fixtures.relayed(), before);
});

test('Cancelled while the payment is under way → the merchant can refund the money, and the answer says so', async () => {
  const request = await fixtures.request();
  const [header = {}] = await headersOf(request, [await fixtures.payer()]);
  await fixtures.rpc('evm_setAutomine', [false]);
  const answer = ask(request.url, header);
  await until(async () => {
    const rows = await fixtures.db
      .sql`select from relay_transactions where subject_id = ${request.id} and state = 'sent'`;
    return rows.length > 0;
  }, 'it to be sent');
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, request.id);
  await fixtures.rpc('evm_setAutomine', [true]);
  await fixtures.node.mine(1);
  const { status, settlement, json } = await answer;
  assert.deepEqual([status, settlement?.success, json.status, json.proof_status], [200, true, 'voided', 'none']);
  assert.match(json.message, /can refund it/);
  assert.equal((await ask(request.url)).status, 410);
});
