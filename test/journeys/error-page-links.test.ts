import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { onHost, signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

const homes = (html: string) => [...html.matchAll(/<a href="([^"]*)">Back to the overview/g)].map(([, to]) => to);

test('a page that the role does not allow → refused within the portal, whose navigation marks no item', async () => {
  const { partner } = await makePartner(app.db);
  const viewer = await portalVisitor(app.ctx, app.url, partner.id, 'viewer');
  for (const page of [
    await viewer.open('/portal/team'),
    await postForm(app.url, viewer, '/portal/settings?mode=test', [['name', 'Mine']]),
  ]) {
    assert.equal(page.status, 403);
    assert.match(page.html, /<h1>Your role does not allow this<\/h1>/);
    assert.match(page.html, /An owner of /);
    assert.match(page.html, /<a href="\/portal">/);
    assert.doesNotMatch(page.html, /aria-current="page"/);
  }
});

test('an unknown page → links back to where the visitor is signed in; a stranger gets no link', async () => {
  const { partner } = await makePartner(app.db);
  const owner = await portalVisitor(app.ctx, app.url, partner.id);
  const { visitor: operator } = await signInOperator(app);
  for (const [visitor, path, home] of [
    [owner, `/portal/requests/${randomUUID()}`, '/portal'],
    [owner, '/portal/nothing', '/portal'],
    [operator, '/admin/partners/nobody', '/admin'],
    [operator, '/admin/nothing', '/admin'],
  ] as const) {
    const page = await visitor.open(path);
    assert.equal(page.status, 404, path);
    assert.deepEqual(homes(page.html), [home], path);
  }
  for (const path of ['/portal/nothing', '/pay/nothing']) {
    assert.deepEqual(homes((await startVisitor(app.url).open(path)).html), [], path);
  }
  const elsewhere = startVisitor(app.url, onHost(partner));
  assert.deepEqual(homes((await elsewhere.open('/admin/partners')).html), []);
});

test('the address of a form, opened as a page → says in the reader’s language that it only receives a form', async () => {
  const page = await startVisitor(app.url, { 'accept-language': 'de' }).open('/portal/sign-out');
  assert.equal(page.status, 405);
  assert.match(page.html, /<h1[^>]*>Diese Adresse ist keine Seite<\/h1>/);
  assert.doesNotMatch(page.html, /Allow header/);
});

test('a form longer than is accepted → says so in the reader’s language, and that nothing was changed', async () => {
  const answer = await fetch(`${app.url}/portal/sign-in`, {
    method: 'POST',
    headers: { origin: app.url, 'accept-language': 'de', 'content-type': 'application/x-www-form-urlencoded' },
    body: `email=${'a'.repeat(200_000)}`,
  });
  assert.equal(answer.status, 413);
  const page = await answer.text();
  assert.match(page, /<h1[^>]*>Das ist zu lang<\/h1>/);
  assert.match(page, /kein Geld bewegt/);
});
