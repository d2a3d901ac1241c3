import type { FastifyReply } from 'fastify';
import { may } from '../auth/roles.ts';
import { userScope } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { Refusal, refuse } from '../errors.ts';
import { html } from '../lib/text/html.ts';
import { portalTexts } from '../texts/portal.ts';
import { card, stateLine } from '../ui/components.ts';
import type { PortalCall } from './route.ts';
import { sendPortal } from './shell.ts';

/** Turns a refusal `not_found` into null; rethrows everything else. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof Refusal && error.code === 'not_found') return null;
  throw error;
}

/**
 * The response for something that is not in the chosen mode. If this partner has it in the other mode, links to it
 * there.
 *
 * @param path address of its page
 * @param read looks for it in a scope; null or a refusal `not_found` if it is not there
 * @throws Refusal `not_found` if the partner has it in neither mode, or the user may not read the other one
 */
export async function sendOtherMode(
  ctx: Context,
  call: PortalCall,
  path: string,
  read: (scope: Scope) => Promise<unknown>,
): Promise<FastifyReply> {
  const { words, mode, user, reply } = call;
  const other = mode === 'test' ? 'live' : 'test';
  const isThere = may(user, 'read', other) && (await read(userScope(user, other)).catch(nullIfNotFound)) !== null;
  if (!isThere) throw refuse('not_found');
  const { otherMode: t } = portalTexts(words);
  return sendPortal(ctx, reply, call, {
    path,
    title: t.title[other],
    status: 404,
    body: card(
      stateLine('attention', t.title[other], t.rest[mode]),
      html`<p><a class="button primary" href="${path}?mode=${other}">${t.change[other]}</a></p>`,
    ),
  });
}
