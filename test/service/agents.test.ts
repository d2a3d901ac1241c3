import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { readDevChains } from '../../src/sandbox/chain.ts';
import type { Demo } from '../../src/sandbox/demo.ts';
import { fund, usdcBalance } from '../../src/sandbox/wallet.ts';
import { send } from '../support/api/client.ts';
import { startReceiver } from '../support/net/receiver.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder, endAll, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

after(endAll);

/** The program in docs/agents.md, without its spending limit, because the client does not know the sandbox's token. */
function documentedProgram(): string {
  const page = readFileSync(join(root, 'docs/agents.md'), 'utf8');
  const program = /```js\n([\s\S]*?)```/.exec(page)?.[1] ?? assert.fail('the page has no program');
  const limit = ".setSpendControls({ maxAmountPerPayment: '$50' })";
  assert.ok(program.includes(limit));
  return program.replace(limit, '.setSpendControls(false)');
}

test('docs/agents.md › its program pays a request of a new sandbox: verified, in the wallet, with an event for the partner', async () => {
  const dataDir = dataFolder();
  const service = await startService({ DATA_DIR: dataDir });
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const chain = readDevChains(dataDir)?.test[0] ?? assert.fail('no chain');
  const receiver = await startReceiver();
  after(() => receiver.close());
  const webhook = ['webhook', 'set', '--partner', 'demo', '--mode', 'test', '--url', receiver.url];
  await run(join(root, 'bin/quittance'), webhook, { env: { PATH: process.env.PATH, DATA_DIR: dataDir } });

  const key = demo.test_key;
  const body = { account_id: demo.merchant, fiat_amount_int: 1250, memo: 'Two loaves', metadata: { order: 'A-1042' } };
  const { json: made } = await send(service.url, 'POST', '/api/v1/requests/create', { key, body });
  const agentKey = `0x${randomBytes(32).toString('hex')}` as const;
  await fund(chain, privateKeyToAccount(agentKey).address, 20_000_000n);
  const env = { PATH: process.env.PATH, AGENT_KEY: agentKey, PAY_PAGE_URL: made.pay_page_url };
  const program = ['--input-type=module', '--eval', documentedProgram()];
  const { stdout } = await run(process.execPath, program, { cwd: root, env, timeout: patienceMs });
  assert.match(stdout, /^200 \{/);
  const transaction = /^0x[0-9a-f]{64}$/m.exec(stdout)?.[0] ?? assert.fail(stdout);

  const read = async () => (await send(service.url, 'GET', `/api/v1/requests/${made.request_id}`, { key })).json;
  await until(async () => (await read()).proof_status === 'verified', 'the request to be verified');
  const paid = await read();
  assert.deepEqual(
    [paid.status, paid.tx_hash],
    ['requested', transaction],
    'read by a program, not opened by a person',
  );
  const { json: merchant } = await send(service.url, 'GET', `/api/v1/accounts/${demo.merchant}`, { key });
  assert.equal(await usdcBalance(chain, merchant.wallet_address as string), BigInt(made.amount.usdc_micro));
  await until(() => receiver.received.length > 0, 'the event to arrive');
  const event = JSON.parse(receiver.received[0]?.body ?? '{}') as { data?: Record<string, unknown> };
  assert.ok(JSON.stringify(event).includes(made.request_id) && JSON.stringify(event).includes(transaction));
  assert.equal((await service.stop()).code, 0);
});
