import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let page: string;
before(async () => {
  app = await startApp();
  const fixtures = await makePartner(app.db);
  const { id } = await makeRequest(app.db, fixtures.test, await makeMerchant(app.db, fixtures.test));
  page = `${app.url}/pay/${id}`;
});
after(() => app.stop());

test('a claim with malformed fields → refused as a form, not a server error', async () => {
  const hash = `0x${'ab'.repeat(32)}`;
  for (const [tx_hash, ordinal] of [
    ['\0', '0'],
    [`${hash}\0`, '0'],
    [hash, '99999999999'],
    [hash, '-1'],
  ] as const) {
    const body = new URLSearchParams({ chain_id: '31337', tx_hash, ordinal, signature: '0x00' });
    const answer = await fetch(`${page}/claim`, { method: 'POST', body });
    assert.ok(answer.status < 500, `${answer.status} for ${JSON.stringify(tx_hash)} ${ordinal}`);
  }
});
