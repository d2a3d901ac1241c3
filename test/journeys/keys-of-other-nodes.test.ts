import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { createApiKey, usualKey } from '../../src/auth/api-keys.ts';
import { connect } from '../../src/db/connection.ts';
import { checkSecretKeys } from '../../src/db/secret-keys.ts';
import { buildServer } from '../../src/http/server.ts';
import { checksum62, randomBase62 } from '../../src/lib/text/base62.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { planPageUrl } from '../../src/plans/link.ts';
import { send } from '../support/api/client.ts';
import { startApp, testConfig, testContext } from '../support/app.ts';
import { makePartner, testSecrets } from '../support/fixtures.ts';
import { invitePartnerUser } from '../support/people/people.ts';

const fresh = { id: 'fresh', key: Buffer.alloc(32, 9) };

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

function inventedKey(): string {
  const body = `qt_test_${randomBase62(32)}`;
  return body + checksum62(body);
}

/** A node of the same database that has the new key in front. */
const ahead = () =>
  testContext(app.db, { config: testConfig({ secretKeys: [fresh, ...testSecrets] }), chains: app.ctx.chains });

test('A node that lacks a key of another node → 503 for API keys and links, which may have been made there; with the key, what nobody made is refused', async () => {
  const owner = await makePartner(app.db);
  const { key } = await createApiKey(ahead(), theService, owner.test, usualKey);
  const invited = await invitePartnerUser(ahead(), owner);
  const pathOf = (url: string) => new URL(url).pathname;
  const pages = [
    pathOf(String(invited.link)),
    pathOf(onboardingUrl(ahead().config, { id: randomUUID(), onboarding_epoch: 0 }, app.ctx.clock.now())),
    pathOf(planPageUrl(ahead().config, randomUUID())),
    `/recover/${Buffer.alloc(32, 7).toString('base64url')}`,
  ];
  const answersOf = async (url: string) => {
    const asked = { headers: { authorization: `Bearer ${key}` } };
    const api = await send(url, 'GET', '/api/v1/accounts', asked);
    const opened = await Promise.all(pages.map((path) => send(url, 'GET', path)));
    return [api.status, api.json.error, ...opened.map(({ status }) => status)];
  };
  await checkSecretKeys(app.db.sql, [fresh, ...testSecrets]);
  assert.deepEqual(await answersOf(app.url), [503, 'unavailable', 503, 503, 503, 503]);

  const db = connect(app.access, { service: 2, scoped: 2 });
  const node = await buildServer({ ...ahead(), db });
  try {
    const url = await node.listen({ host: '127.0.0.1', port: 0 });
    assert.deepEqual(await answersOf(url), [200, undefined, 200, 404, 404, 404]);
    const headers = { authorization: `Bearer ${inventedKey()}` };
    assert.equal((await send(url, 'GET', '/api/v1/accounts', { headers })).status, 401);
  } finally {
    await node.close();
    await db.close();
  }
});
