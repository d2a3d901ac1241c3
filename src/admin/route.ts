import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Act } from '../audit/actions.ts';
import { audited } from '../audit/write.ts';
import type { Operator } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Html } from '../lib/text/html.ts';
import { type Words, wordsFor } from '../ui/language.ts';
import { actorOf } from '../users/enter.ts';
import { readQuery } from '../web/query.ts';
import { notice } from '../web/shell.ts';
import { openAdmin, openAdminForm } from './session.ts';
import { type AdminPage, sendAdmin } from './shell.ts';

/** A call of a page or form of the administration, by an operator who is signed in. */
export type AdminCall = {
  operator: Operator;
  request: FastifyRequest;
  reply: FastifyReply;
  words: Words;
  /** The query's texts by name, of these names only. */
  query(names: readonly string[]): Record<string, string>;
  /** What stands in the address in place of `:name`. */
  param(name: string): string;
  /** A field of the form as text; empty when it was not sent. */
  typed(name: string): string;
  /** All values of a field that can be sent more than once: boxes that were ticked. */
  ticked(name: string): string[];
  /** Answers with a page. */
  show(page: AdminPage): FastifyReply;
  /** After a change: a page again, which says by `?done=` what was done. */
  done(path: string, what: string): FastifyReply;
};

type Handle = (call: AdminCall) => Promise<FastifyReply>;

/** A page of the administration, or a file: `GET`. */
export function adminPage(app: FastifyInstance, ctx: Context, url: string, handle: Handle): void {
  app.route({
    config: { auth: 'session' },
    method: 'GET',
    url,
    handler: async (request, reply) => {
      const operator = await openAdmin(ctx, request, reply);
      return operator ? handle(callOf(operator, request, reply)) : reply;
    },
  });
}

/**
 * A form of the administration: `POST` from a page of ours. A form that is answered by the page itself leaves its own
 * address in the browser: asked for again, that leads to where the form stands.
 *
 * @param fresh whether its act asks for more than the session
 */
export function adminForm(
  app: FastifyInstance,
  ctx: Context,
  url: string,
  fresh: 'never' | 'always',
  handle: Handle,
): void {
  app.route({
    config: { auth: 'session', fresh },
    method: 'POST',
    url,
    handler: async (request, reply) => {
      const operator = await openAdminForm(ctx, request, reply, fresh);
      return operator ? handle(callOf(operator, request, reply)) : reply;
    },
  });
  if (app.hasRoute({ method: 'GET', url })) return;
  adminPage(app, ctx, url, async ({ request, reply }) => {
    const { pathname, search } = new URL(request.url, ctx.config.baseUrl);
    return reply.redirect(pathname.slice(0, pathname.lastIndexOf('/')) + search, 303);
  });
}

function callOf(operator: Operator, request: FastifyRequest, reply: FastifyReply): AdminCall {
  const params = request.params as Record<string, string>;
  const body = (request.body ?? {}) as Record<string, unknown>;
  return {
    operator,
    request,
    reply,
    words: wordsFor(request),
    query: (names) => readQuery(request.query, names),
    param: (name) => params[name] ?? '',
    typed: (name) => (typeof body[name] === 'string' ? body[name].trim() : ''),
    ticked: (name) => [body[name]].flat().filter((value) => typeof value === 'string'),
    show: (page) => sendAdmin(reply, operator, page),
    done: (path, what) => reply.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${what}`, 303),
  };
}

/** Does what a form asks for and writes it into the audit log, both or neither. */
export function recorded<T>(
  ctx: Context,
  { operator, request }: Pick<AdminCall, 'operator' | 'request'>,
  work: (inner: Context) => Promise<T>,
  told: (result: T) => Act | null,
): Promise<T> {
  return audited(ctx, actorOf(operator, request), work, told);
}

/** The sentence for the word in `?done=`: what was done, or why nothing was; null for none, and for a word that is not ours. */
export function flash(
  { request }: Pick<AdminCall, 'request'>,
  done: Readonly<Record<string, string>>,
  refused: Readonly<Record<string, string>> = {},
): Html | null {
  const { done: word } = request.query as { done?: unknown };
  if (typeof word !== 'string') return null;
  if (Object.hasOwn(done, word)) return notice('paid', done[word] ?? '');
  return Object.hasOwn(refused, word) ? notice('attention', refused[word] ?? '') : null;
}
