import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { apiGuide } from '../../src/http/api-guide.ts';
import { type Api, type ApiPartner, startApi } from '../support/api/client.ts';
import { patienceMs } from '../support/patience.ts';

const run = promisify(execFile);
let api: Api;
let partner: ApiPartner;
before(async () => {
  api = await startApi();
  partner = await api.partner();
});
after(() => api?.stop());

test('The guide’s program that reads the list finds each paid request once, over several pages, and leaves what waits', async () => {
  const { api: client, merchant } = partner.test;
  const made: { request_id: string; created_at: string }[] = [];
  for (let i = 0; i < 6; i++) {
    const { json } = await client.create({ account_id: merchant.id, fiat_amount_int: 100 + i });
    made.push({ request_id: json.request_id, created_at: json.created_at });
  }
  const paid = [1, 2, 3, 5].map((i) => made[i]?.request_id ?? '');
  await api.db.sql`
    update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0x1', payer_address = '0x2'
    where id = any(${paid})`;
  const waiting = Object.fromEntries(made.map(({ request_id, created_at }) => [request_id, created_at]));
  const program =
    /# Paging[\s\S]*?```python\n([\s\S]*?)\n```/.exec(apiGuide(api.url))?.[1] ?? assert.fail('no program');
  const key = await client.newKey();
  const found = async (waits: object) => {
    const filled = program
      .replace('qt_test_...', key)
      .replace('limit, offset = 100, 0', 'limit, offset = 2, 0')
      .replace(/^waiting = .*$/m, `waiting = ${JSON.stringify(waits)}`);
    return (await run('python3', ['-c', filled], { timeout: patienceMs })).stdout;
  };
  assert.equal(await found(waiting), paid.map((id) => `paid: ${id}\n`).join(''));
  assert.equal(await found({}), '', 'once nothing waits');
});
