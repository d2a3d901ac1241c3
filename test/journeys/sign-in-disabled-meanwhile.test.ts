import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setUserDisabled } from '../../src/users/change.ts';
import { startApp } from '../support/app.ts';
import { softwareDevice } from '../support/browser/passkeys.ts';
import { makePartner } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import { acceptInvitation, invitePartnerUser, isInside } from '../support/people/people.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app?.stop());

const commandLine = { kind: 'command_line' } as const;
const origin = 'http://localhost:3000';

const waiting = (count: number) => async () => {
  const rows = await app.owner`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.length === count;
};

/** A user who is invited, in a team with a colleague who comes after everyone else in the order of locks. */
async function invited() {
  const fixtures = await makePartner(app.db);
  const colleague = `ffffffff-ffff-4fff-bfff-${fixtures.partner.id.slice(-12)}`;
  await app.db.sql`
    insert into users (id, partner_id, email, role, created_at)
    values (${colleague}, ${fixtures.partner.id}, 'zoe@example.com', 'owner', now())`;
  return { fixtures, colleague, ...(await invitePartnerUser(app.ctx, fixtures)) };
}
type Invited = Awaited<ReturnType<typeof invited>>;

/** Disables the user, and meanwhile, before that is decided, has the user sign in. */
async function disableDuring({ fixtures, colleague, user }: Invited, signIn: () => Promise<Visit>): Promise<Visit> {
  const acts = await app.db.transaction(async (tx) => {
    await tx`select from users where id = ${colleague} for update`;
    const disabling = setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: true });
    await until(waiting(1), 'the user is locked');
    const signing = signIn();
    await until(waiting(2), 'the sign-in waits');
    return [disabling, signing] as const;
  });
  const [, page] = await Promise.all(acts);
  return page;
}

/** Asserts that the visitor has no session once the user is enabled again, and how many sessions the log tells of. */
async function assertOutside({ fixtures, user }: Invited, visitor: Visitor, logged: number) {
  await setUserDisabled(app.ctx, commandLine, fixtures.test, { userId: user.id, disabled: false });
  assert.equal(isInside(await visitor.open('/portal/sessions')), false);
  const rows = await app.db.sql`
    select from audit_log where object_id = ${user.id} and action = 'session.started'`;
  assert.equal(rows.length, logged);
}

test('A user who is disabled while a link signs in gets no session, nor once enabled again', async () => {
  const person = await invited();
  const visitor = startVisitor(app.url);
  const page = await disableDuring(person, () => acceptInvitation(visitor, person.link));
  assert.equal(page.status, 404);
  await assertOutside(person, visitor, 0);
  assert.ok(isInside(await acceptInvitation(visitor, person.link)), 'the link was not used up');
});

test('A user who is disabled while a passkey signs in gets no session, nor once enabled again', async () => {
  const person = await invited();
  const first = startVisitor(app.url);
  await acceptInvitation(first, person.link);
  const device = softwareDevice(origin);
  const send = (visitor: Visitor, path: string, passkey: string) =>
    visitor.send({ forms: [{ action: path, fields: { passkey, name: 'Key' } }] } as unknown as Visit, path);
  const options = async (path: string) => JSON.parse((await first.open(`${path}/options`)).html);
  await send(first, '/portal/passkeys', device.make(await options('/portal/passkeys')));
  const visitor = startVisitor(app.url);
  const passkey = device.show(await options('/portal/sign-in/passkey'));
  const page = await disableDuring(person, () => send(visitor, '/portal/sign-in/passkey', passkey));
  assert.equal(page.status, 403);
  await assertOutside(person, visitor, 1);
});
