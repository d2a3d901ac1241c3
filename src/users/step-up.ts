import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../auth/client.ts';
import { hostOwner } from '../auth/host.ts';
import { setSessionCookie } from '../auth/session-cookie.ts';
import { isFreshSession, type SignedIn, type UserKind, userSessionLimits } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Mode } from '../lib/mode.ts';
import { type Html, html } from '../lib/text/html.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { hiddenField } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { notice } from '../web/shell.ts';
import { listPasskeys } from './passkeys/passkeys.ts';
import type { PasskeyRefusalReason } from './passkeys/refusal.ts';
import { passkeyConfirm } from './passkeys/sections.ts';
import { confirmWithPasskey } from './passkeys/sign-in.ts';
import type { Realm } from './realm.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Which actions of a form need a sign-in or a passkey within the last ten minutes: those that change who may act,
     * or where money and events go. A form of signed-in users that does not declare this fails the start.
     */
    fresh?: Fresh;
  }
}

export type Fresh = 'never' | 'live' | 'always';

/** Whether an action requires more than the session. Actions of the administration have no mode. */
export function needsStepUp(fresh: Fresh, mode: Mode | null): boolean {
  return fresh === 'always' || (fresh === 'live' && mode === 'live');
}

/** `refused`: why a passkey was sent but not accepted; null if none was sent. */
type FreshConfirmation = { confirmed: true } | { confirmed: false; refused: PasskeyRefusalReason | null };

/** The fields of the confirmation; all others belong to the action. */
const ownFields = ['passkey', 'as'];

const bodyOf = (request: FastifyRequest) => (request.body ?? {}) as Record<string, unknown>;

/**
 * The page that is shown instead of an action until it is confirmed, by a recent sign-in or by a passkey that is sent
 * with the form; null once it is.
 */
export async function requireStepUp<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  person: SignedIn<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ status: 403; title: string; body: Html } | null> {
  const confirmation = await confirmAct(ctx, realm, person, request, reply);
  if (confirmation.confirmed) return null;
  const body = await confirmSection(ctx, realm, person, request, confirmation.refused);
  return { status: 403, title: signInTexts(wordsFor(request)).confirmAct.title, body };
}

async function confirmAct<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  person: SignedIn<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FreshConfirmation> {
  const { passkey, as } = bodyOf(request);
  // The user may have signed in as somebody else to continue, even in another team.
  if (as !== undefined && as !== person.userId) return { confirmed: false, refused: null };
  if (await isFreshSession(ctx, person.sessionId)) return { confirmed: true };
  if (typeof passkey !== 'string' || passkey === '') return { confirmed: false, refused: null };
  const host = hostOwner(ctx.config, request.headers.host);
  const shown = await confirmWithPasskey(ctx, person, host, passkey, clientOf(request));
  if ('refused' in shown) return { confirmed: false, refused: shown.refused };
  setSessionCookie(reply, ctx.config, realm.kind, shown.token, userSessionLimits[realm.kind].absoluteMs);
  return { confirmed: true };
}

/** The form as it was sent, to continue with a passkey, or after signing in by a mailed link. */
async function confirmSection<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  person: SignedIn<K>,
  request: FastifyRequest,
  refused: PasskeyRefusalReason | null,
): Promise<Html> {
  const words = wordsFor(request);
  const { confirmAct: t, passkey } = signInTexts(words);
  const kept = html`${hiddenField('as', person.userId)}${keptFields(request)}`;
  const held = await listPasskeys(ctx, person);
  const ways =
    held.length > 0
      ? passkeyConfirm(words, realm, request.url, kept)
      : html`
        <p>${fill(t.byMail, { email: person.email })}</p>
        <form method="post" action="${realm.path}/sign-in" target="_blank">
          ${hiddenField('email', person.email)}
          <button>${t.sendLink}</button>
        </form>
        ${form({ action: request.url, inside: kept, submit: t.goOn, second: true })}
      `;
  return html`
    ${refused && notice('attention', passkey.refusals[refused])}
    <section class="card"><p>${t.why}</p>${ways}</section>
  `;
}

function keptFields(request: FastifyRequest): Html[] {
  return Object.entries(bodyOf(request))
    .filter(([name]) => !ownFields.includes(name))
    .flatMap(([name, values]) =>
      [values].flat().flatMap((value) => (typeof value === 'string' ? [hiddenField(name, value)] : [])),
    );
}
