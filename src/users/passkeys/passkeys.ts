import { randomUUID } from 'node:crypto';
import type { Actor } from '../../audit/actions.ts';
import { withAudit } from '../../audit/write.ts';
import type { HostOwner } from '../../auth/host.ts';
import { readAnswer, registrationOptions, relyingParty, verifyRegistration } from '../../auth/passkey.ts';
import { makeChallenge, type PasskeyUse, takeChallenge } from '../../auth/passkey-challenge.ts';
import { isFreshSession, type Operator, type PartnerUser } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { queueMail } from '../../mail/outbox.ts';
import { readMailBranding } from '../../partners/branding.ts';
import { type Words, wordsKept } from '../../ui/language.ts';
import { passkeyMail, serviceName } from '../mails.ts';
import { UserRefusal } from '../refusal.ts';
import { lockUser, selectUsers, type User } from '../store.ts';
import { inTeam, maxTeam, partnerOf, type Team } from '../team.ts';
import type { PasskeyRefusalReason } from './refusal.ts';
import {
  deletePasskey,
  deletePasskeysOf,
  insertPasskey,
  type Passkey,
  selectHolders,
  selectPasskeys,
} from './store.ts';

export type { Passkey } from './store.ts';

type Person = PartnerUser | Operator;
/** The maximum number of passkeys of a user. Lists show no more, so nobody could find or remove further ones. */
const maxPasskeys = 20;
const maxNameLength = 60;

const partnerIdOf = (person: Person) => (person.kind === 'partner_user' ? person.partner.id : null);
const placeOf = (person: Person) => (person.kind === 'partner_user' ? person.partner.name : serviceName);

/** The passkeys of a user, the oldest first. */
export function listPasskeys(ctx: Pick<Context, 'db'>, { userId }: Pick<Person, 'userId'>): Promise<Passkey[]> {
  return selectPasskeys(ctx.db.sql, userId, maxPasskeys);
}

/** The options with which the browser creates a passkey; null if browsers support none on this host. */
export async function offerPasskey(ctx: Context, person: Person, host: HostOwner) {
  const party = relyingParty(ctx.config, host);
  if (!party) return null;
  const held = await selectPasskeys(ctx.db.sql, person.userId, maxPasskeys);
  const place = placeOf(person);
  return registrationOptions(party, makeChallenge(ctx, addingIn(person, party.origin)), {
    id: person.userId,
    name: `${person.email} (${place})`,
    place,
    held: held.map(({ credential_id }) => credential_id),
  });
}

const addingIn = ({ sessionId }: Person, origin: string): PasskeyUse => ({
  purpose: 'add',
  subject: sessionId,
  origin,
});

/**
 * Stores a passkey that the browser created. From then on a mailed link alone no longer signs this user in. The user is
 * notified by mail.
 *
 * @param made on the page of `host`; `answer` is the browser's response, as JSON
 * @returns null if it was stored
 */
export function addPasskey(
  ctx: Context,
  actor: Actor,
  person: Person,
  made: { host: HostOwner; answer: unknown; name: string },
  words: Words,
): Promise<PasskeyRefusalReason | null> {
  const name = [...made.name.replace(/\p{C}/gu, '').trim()].slice(0, maxNameLength).join('');
  const keep = async (inner: Context): Promise<PasskeyRefusalReason | null> => {
    const party = relyingParty(ctx.config, made.host);
    const answer = readAnswer(made.answer);
    if (!party || !answer) return 'not_made';
    const use = addingIn(person, party.origin);
    const taken = await inner.db.transaction((tx) => takeChallenge(ctx, tx, use, answer.challenge));
    if (taken !== 'taken') return taken === 'expired' ? 'expired' : 'not_made';
    if (!(await isFreshSession(inner, person.sessionId))) return 'stale';
    const passkey = await verifyRegistration(party, answer);
    if (!passkey) return 'not_made';
    const { sql } = inner.db;
    await lockUser(sql, person.userId);
    if ((await selectPasskeys(sql, person.userId, maxPasskeys)).length >= maxPasskeys) return 'enough';
    const owned = { userId: person.userId, partnerId: partnerIdOf(person), createdAt: ctx.clock.now() };
    if (!(await insertPasskey(sql, { ...passkey, ...owned, id: randomUUID(), name }))) return 'not_made';
    const partnerId = partnerIdOf(person);
    const branding = await readMailBranding(inner, partnerId);
    await queueMail(ctx, sql, partnerId, passkeyMail(words, branding, person.email, 'added', placeOf(person)));
    return null;
  };
  return withAudit(ctx, actor, keep, (refused) =>
    refused ? null : { ...about(partnerIdOf(person), person.userId), action: 'passkey.added', details: { name } },
  );
}

/**
 * Removes one of the user's own passkeys. Without any, a mailed link alone signs in again.
 *
 * @returns null once it is gone; `stale` without a recent sign-in
 */
export async function removePasskey(
  ctx: Context,
  actor: Actor,
  person: Person,
  id: string,
  words: Words,
): Promise<PasskeyRefusalReason | null> {
  if (!(await isFreshSession(ctx, person.sessionId))) return 'stale';
  const take = async (inner: Context) => {
    const { sql } = inner.db;
    const name = await deletePasskey(sql, person.userId, id);
    if (name === null) return null;
    const partnerId = partnerIdOf(person);
    const branding = await readMailBranding(inner, partnerId);
    await queueMail(ctx, sql, partnerId, passkeyMail(words, branding, person.email, 'removed', placeOf(person)));
    return name;
  };
  await withAudit(ctx, actor, take, (name) =>
    name === null
      ? null
      : { ...about(partnerIdOf(person), person.userId), action: 'passkey.removed', details: { name } },
  );
  return null;
}

/** The ids of a partner's users who have passkeys. */
export async function passkeyHolders(ctx: Pick<Context, 'db'>, team: Scope): Promise<Set<string>> {
  return new Set(await inTeam(ctx, team, (tx) => selectHolders(tx, team.partnerId)));
}

/**
 * Removes all passkeys of a user who has lost them: the next mailed link signs in. The user is notified by mail.
 *
 * @param removal `isHolder` finds the user in the team; `place` is the name of the portal or the administration in the mail
 * @returns how many there were
 * @throws UserRefusal user_unknown
 */
export async function removePasskeysOf(
  ctx: Context,
  actor: Actor,
  team: Team,
  { isHolder, place }: { isHolder: (user: User) => boolean; place: string },
  words: Words,
): Promise<number> {
  const partnerId = partnerOf(team);
  const take = async (inner: Context) => {
    const { user, count } = await inTeam(inner, team, async (tx) => {
      const user = (await selectUsers(tx, partnerId, maxTeam)).find(isHolder);
      if (!user) throw new UserRefusal('user_unknown');
      return { user, count: await deletePasskeysOf(tx, partnerId, user.id) };
    });
    if (count === 0) return { user, count };
    const theirs = wordsKept(user.language, words);
    const branding = await readMailBranding(inner, partnerId);
    await queueMail(ctx, inner.db.sql, partnerId, passkeyMail(theirs, branding, user.email, 'removed', place));
    return { user, count };
  };
  const { count } = await withAudit(ctx, actor, take, ({ user, count }) =>
    count === 0
      ? null
      : {
          ...about(partnerId, user.id),
          action: 'passkeys.removed',
          details: { email: user.email, passkeys: count },
        },
  );
  return count;
}

const about = (partnerId: string | null, userId: string) => ({
  partnerId,
  testMode: null,
  object: { kind: 'user' as const, id: userId },
});
