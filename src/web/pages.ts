import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { type Words, wordsFor } from '../ui/language.ts';
import { sendForeignForm } from './error-page.ts';
import { isOwnForm } from './origin.ts';
import { readQuery } from './query.ts';

/** A request for a page, or a submitted form. */
export type Call = {
  request: FastifyRequest;
  reply: FastifyReply;
  words: Words;
  /** The value of `:name` in the route; empty if the route has no such parameter. */
  param(name: string): string;
  /** The query's values with these names. */
  query(names: readonly string[]): Record<string, string>;
  /** A field of the form as text; empty if it was not sent, or sent more than once. */
  typed(name: string): string;
  /** All values of a field that can be sent more than once, such as ticked boxes. */
  ticked(name: string): string[];
  /** After a change: redirects to a page, which says by `?done=` what was done. */
  done(path: string, what: string): FastifyReply;
};

type Fresh = Pick<FastifyContextConfig, 'fresh'>;

/**
 * Who may open the pages of one part of the site.
 *
 * @typeParam Visit what its pages learn about the visitor
 * @typeParam PageRule what a page requires of the visitor, for example a permission
 * @typeParam FormRule the same for a form
 */
export type Area<Visit, PageRule, FormRule> = {
  auth: 'public' | 'session';
  /** Opens a page; null if the response was already sent, such as a redirect to the sign-in. */
  open(request: FastifyRequest, reply: FastifyReply, rule: PageRule): Promise<Visit | null>;
  /** The same for a form that one of our pages has sent. */
  openForm(request: FastifyRequest, reply: FastifyReply, rule: FormRule): Promise<Visit | null>;
  /** The rule for the redirect from a form's address to its page; null if a form's address has none. */
  redirectRule(rule: FormRule): PageRule | null;
};

type Handle<Visit> = (call: Call & Visit) => FastifyReply | Promise<FastifyReply>;

export type Pages<Visit, PageRule, FormRule> = {
  /** Declares a page or a file: `GET`. */
  page(where: PageRule & { url: string }, handle: Handle<Visit>): void;
  /**
   * Declares a form: `POST` from one of our pages. If the response is a page, the browser shows the form's address. A
   * `GET` of that address redirects to the page one segment above, which contains the form.
   */
  form(where: FormRule & { url: string }, handle: Handle<Visit>): void;
};

/** How pages and forms of an area are declared. */
export function declarePages<Visit extends object, PageRule extends object, FormRule extends Fresh>(
  app: FastifyInstance,
  ctx: Context,
  area: Area<Visit, PageRule, FormRule>,
): Pages<Visit, PageRule, FormRule> {
  const { auth } = area;
  const { baseUrl } = ctx.config;

  const page: Pages<Visit, PageRule, FormRule>['page'] = (where, handle) => {
    app.route({
      method: 'GET',
      url: where.url,
      config: { auth },
      handler: async (request, reply) => {
        const visit = await area.open(request, reply, where);
        return visit ? handle({ ...callOf(request, reply), ...visit }) : reply;
      },
    });
  };
  const form: Pages<Visit, PageRule, FormRule>['form'] = (where, handle) => {
    const { url, fresh } = where;
    app.route({
      method: 'POST',
      url,
      config: { auth, ...(fresh && { fresh }) },
      handler: async (request, reply) => {
        if (!isOwnForm(request.headers, baseUrl)) return sendForeignForm(reply);
        const visit = await area.openForm(request, reply, where);
        return visit ? handle({ ...callOf(request, reply), ...visit }) : reply;
      },
    });
    const redirectRule = area.redirectRule(where);
    if (redirectRule === null || app.hasRoute({ method: 'GET', url })) return;
    page({ ...redirectRule, url }, ({ request, reply }) => {
      const { pathname, search } = new URL(request.url, baseUrl);
      return reply.redirect(pathname.slice(0, pathname.lastIndexOf('/')) + search, 303);
    });
  };
  return { page, form };
}

function callOf(request: FastifyRequest, reply: FastifyReply): Call {
  const params = request.params as Record<string, string>;
  const body = (request.body ?? {}) as Record<string, unknown>;
  return {
    request,
    reply,
    words: wordsFor(request),
    param: (name) => params[name] ?? '',
    query: (names) => readQuery(request.query, names),
    typed: (name) => (typeof body[name] === 'string' ? body[name].trim() : ''),
    ticked: (name) => [body[name]].flat().filter((value) => typeof value === 'string'),
    done: (path, what) => reply.redirect(`${path}${path.includes('?') ? '&' : '?'}done=${what}`, 303),
  };
}
