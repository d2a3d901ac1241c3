import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

test('a link says that something was done → the page repeats it only where a page of this service led there', async () => {
  const { partner } = await makePartner(app.db);
  const { cookies } = await portalVisitor(app.ctx, app.url, partner.id);
  const says = async (headers: Record<string, string>) => {
    const visitor = startVisitor(app.url, headers);
    for (const [name, value] of cookies) visitor.cookies.set(name, value);
    const { status, html } = await visitor.open('/portal/team?mode=test&done=removed');
    assert.equal(status, 200);
    return html.includes('Removed and signed out everywhere.');
  };
  for (const site of ['cross-site', 'none']) assert.equal(await says({ 'sec-fetch-site': site }), false, site);
  assert.equal(await says({ 'sec-fetch-site': 'same-origin' }), true);
  assert.equal(await says({}), true, 'browsers leave the header out over plain http');
});
