import { audit } from '../../audit/write.ts';
import type { Client } from '../../auth/client.ts';
import type { HostOwner } from '../../auth/host.ts';
import {
  authenticationOptions,
  isCloned,
  type RelyingParty,
  readAnswer,
  relyingParty,
  verifyAuthentication,
} from '../../auth/passkey.ts';
import { makeChallenge, type PasskeyUse, takeChallenge } from '../../auth/passkey-challenge.ts';
import { confirmSession, type Operator, type PartnerUser, type UserKind } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/connection.ts';
import type { Language } from '../../ui/language.ts';
import type { Realm } from '../realm.ts';
import { type Entered, startUserSession } from '../sign-in/sign-in.ts';
import { updateUserLanguage } from '../store.ts';
import type { PasskeyRefusalReason } from './refusal.ts';
import { type HolderRow, lockPasskey, updatePasskeyUsed } from './store.ts';

/** Where a passkey is used: the kind of users who sign in there, and the host. */
export type PasskeyPlace = { kind: UserKind; host: HostOwner };

/** The use of a challenge to sign in (`session` is null), or to confirm a session that is open. */
function useFor(party: RelyingParty, { kind }: PasskeyPlace, session: string | null): PasskeyUse {
  const { origin } = party;
  return session === null
    ? { purpose: 'sign_in', subject: kind, origin }
    : { purpose: 'confirm', subject: session, origin };
}

/** The options with which the browser is asked for a passkey; null if browsers support none on this host. */
export async function requestPasskey(ctx: Context, place: PasskeyPlace, session: string | null) {
  const party = relyingParty(ctx.config, place.host);
  return party && authenticationOptions(party, makeChallenge(ctx, useFor(party, place, session)));
}

/** What a browser sends to sign in with a passkey. */
type PasskeySignIn = {
  /** The browser's response, as JSON. */
  answer: unknown;
  client: Client;
  /** The session token that the browser still has; null if it has none. */
  earlier: string | null;
  /** The user's language, also for mails from now on. */
  language: Language;
};

/** Signs in with a passkey. A response is valid for one attempt, whatever the result. */
export function signInWithPasskey(
  ctx: Context,
  realm: Realm,
  host: HostOwner,
  { answer, client, earlier, language }: PasskeySignIn,
): Promise<Entered | { refused: PasskeyRefusalReason }> {
  return ctx.db.transaction(async (tx) => {
    const holder = await prove(ctx, tx, { kind: realm.kind, host }, { session: null, answer, client });
    if (typeof holder === 'string') return { refused: holder };
    await updateUserLanguage(tx, holder.user_id, language);
    const { user_id: id, email, partner_id: partnerId } = holder;
    const token = await startUserSession(ctx, tx, { kind: realm.kind, id, email, partnerId }, client, earlier);
    return { token, email };
  });
}

/**
 * Confirms with a passkey that a signed-in user is still present.
 *
 * @returns the token under which the session continues
 */
export function confirmWithPasskey(
  ctx: Context,
  person: PartnerUser | Operator,
  host: HostOwner,
  answer: unknown,
  client: Client,
): Promise<{ token: string } | { refused: PasskeyRefusalReason }> {
  return ctx.db.transaction(async (tx) => {
    const holder = await prove(ctx, tx, { kind: person.kind, host }, { session: person.sessionId, answer, client });
    if (typeof holder === 'string') return { refused: holder };
    if (holder.user_id !== person.userId) return { refused: 'unknown' };
    return { token: await confirmSession(ctx, tx, person.sessionId) };
  });
}

const actorOf = (holder: HolderRow, kind: UserKind, client: Client) =>
  ({ kind, userId: holder.user_id, email: holder.email, role: null, ...client }) as const;

/** The owner of the passkey that answered, or why it is not accepted. */
async function prove(
  ctx: Context,
  tx: Tx,
  place: PasskeyPlace,
  { session, answer: sent, client }: { session: string | null; answer: unknown; client: Client },
): Promise<HolderRow | PasskeyRefusalReason> {
  const party = relyingParty(ctx.config, place.host);
  const answer = readAnswer(sent);
  if (!party || !answer) return 'unknown';
  const taken = await takeChallenge(ctx, tx, useFor(party, place, session), answer.challenge);
  if (taken !== 'taken') return taken;
  const holder = await lockPasskey(tx, answer.credentialId, place.kind, place.host);
  if (!holder) return 'unknown';
  const counter = await verifyAuthentication(party, answer, { userId: holder.user_id, publicKey: holder.public_key });
  if (counter === null) return 'unknown';
  if (isCloned(Number(holder.counter), counter)) {
    await audit(ctx, tx, actorOf(holder, place.kind, client), {
      action: 'passkey.copied',
      partnerId: holder.partner_id,
      testMode: null,
      object: { kind: 'user', id: holder.user_id },
      details: { name: holder.name },
    });
    return 'copied';
  }
  await updatePasskeyUsed(tx, holder.id, counter, ctx.clock.now());
  return holder;
}
