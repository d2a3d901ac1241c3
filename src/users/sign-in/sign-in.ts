import { audit } from '../../audit/write.ts';
import type { Client } from '../../auth/client.ts';
import { hostAddress } from '../../auth/host.ts';
import { type LinkOpened, storeLink, useLink } from '../../auth/sign-in-link.ts';
import { newToken } from '../../auth/token.ts';
import { createUserSession, type UserKind } from '../../auth/user-session.ts';
import type { Context } from '../../context.ts';
import type { Tx } from '../../db/connection.ts';
import { queueMail } from '../../mail/outbox.ts';
import { readMailBranding } from '../../partners/branding.ts';
import type { Language, Words } from '../../ui/language.ts';
import { linkMail, serviceName } from '../mails.ts';
import type { Realm } from '../realm.ts';
import { emailFrom } from '../rules.ts';
import { lockUser, updateSignedIn, updateUserLanguage } from '../store.ts';

/**
 * `partner` is the partner on whose own host the link is requested; null on the shared host. `browser` binds the link
 * to a browser.
 */
export type LinkRequest = {
  email: string;
  partner: { id: string; slug: string; name: string } | null;
  browser: string;
  /** The client's network. `knownAs` returns the proof that the browser is known for a stored address. */
  network: string;
  knownAs(email: string): string | null;
};

/** A user who has signed in: `token` is the new session's. */
export type Entered = { token: string; email: string };

class NobodyToMail extends Error {}

/**
 * Mails a sign-in link, if the address may sign in here. Nothing reveals whether it may: known and unknown addresses
 * take the same statements and count the same.
 */
export async function requestLink(
  ctx: Context,
  realm: Realm,
  asking: LinkRequest,
  words: Words,
): Promise<'asked' | 'email_invalid' | 'exhausted'> {
  const email = emailFrom(asking.email);
  if (email === null) return 'email_invalid';
  const { partner, browser } = asking;
  const known = asking.knownAs(email);
  const asker = { subject: known ?? asking.network, known: known !== null };
  const token = newToken();
  const link = `${hostAddress(ctx.config, partner?.slug ?? null)}${realm.path}/link/${token}`;
  const branding = await readMailBranding(ctx, partner?.id ?? null);
  const mail = linkMail(words, branding, email, { place: partner?.name ?? serviceName, link });
  return ctx.db.transaction(async (tx) => {
    const asked = { kind: realm.kind, email, partnerId: partner?.id ?? null, browser, token, asker };
    const stored = await storeLink(ctx, tx, asked);
    if (stored === 'exhausted') return 'exhausted';
    const mailing = tx.savepoint(async (inner) => {
      await queueMail(ctx, inner, partner?.id ?? null, mail);
      if (stored === 'unknown') throw new NobodyToMail();
    });
    await mailing.catch((error) => {
      if (!(error instanceof NobodyToMail)) throw error;
    });
    return 'asked';
  });
}

/** What a browser sends to sign in with a link. */
type LinkSignIn = {
  userId: string;
  client: Client;
  /** The session token that the browser still has; null if it has none. */
  earlier: string | null;
  /** The user's language, also for mails from now on. */
  language: Language;
};

/**
 * Signs in with a link, as the user chosen among those of its address.
 *
 * @returns null if the link is no longer valid here
 */
export function signInWithLink(
  ctx: Context,
  opened: LinkOpened,
  { userId, client, earlier, language }: LinkSignIn,
): Promise<Entered | null> {
  return ctx.db.transaction(async (tx) => {
    await lockUser(tx, userId);
    const user = await useLink(ctx, tx, opened, userId);
    if (!user) return null;
    await updateUserLanguage(tx, user.id, language);
    const token = await startUserSession(ctx, tx, { ...user, kind: opened.kind }, client, earlier);
    return { token, email: user.email };
  });
}

/**
 * Signs in a user who has proved who they are and who is locked, so that nobody disables them meanwhile: a session that
 * began afterwards would last until they are enabled again. Writes it to the audit log. Returns the session's token.
 */
export async function startUserSession(
  ctx: Context,
  tx: Tx,
  { kind, id, email, partnerId }: { kind: UserKind; id: string; email: string; partnerId: string | null },
  client: Client,
  earlier: string | null,
): Promise<string> {
  await updateSignedIn(tx, id, ctx.clock.now());
  const token = await createUserSession(ctx, tx, { id, partnerId }, client, earlier);
  const object = { kind: 'user' as const, id };
  const actor = { kind, userId: id, email, role: null, ...client };
  await audit(ctx, tx, actor, { action: 'session.started', partnerId, testMode: null, object, details: {} });
  return token;
}
