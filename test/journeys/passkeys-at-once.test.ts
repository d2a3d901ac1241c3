import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { softwareDevice } from '../support/browser/passkeys.ts';
import { makePartner } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { signInPartnerUser } from '../support/people/people.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

const path = '/portal/passkeys';
const maxPasskeys = 20;

test('A user has at most as many passkeys as the page lists, also when several are added at once: each can be seen and removed', async () => {
  const { user, visitor } = await signInPartnerUser(app, await makePartner(app.db));
  await app.db.sql`
    insert into passkeys (id, partner_id, user_id, credential_id, public_key, counter, name, created_at)
    select gen_random_uuid(), ${user.partner_id}, ${user.id}, decode(lpad(to_hex(n), 64, '0'), 'hex'), ''::bytea, 0,
      'Key ' || n, now() from generate_series(1, ${maxPasskeys - 1}::int) n`;
  const asked = await Promise.all(Array.from({ length: 6 }, () => visitor.open(`${path}/options`)));
  const made = asked.map(({ html }) => softwareDevice('http://localhost:3000').make(JSON.parse(html)));
  const pages = await Promise.all(
    made.map((passkey, at) =>
      visitor.send({ forms: [{ action: path, fields: { passkey, name: `New ${at}` } }] } as unknown as Visit, path),
    ),
  );
  assert.equal(pages.filter(({ html }) => /The passkey was added/.test(html)).length, 1);
  const stored = await app.db.sql<{ name: string }[]>`select name from passkeys where user_id = ${user.id}`;
  const { html } = await visitor.open('/portal/sessions');
  for (const { name } of stored) assert.ok(html.includes(`>${name}<`), name);
  assert.equal(stored.length, maxPasskeys);
});
