import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type MerchantSession, readMerchantSession } from '../auth/session.ts';
import { sessionToken, showsSomebody } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { type MerchantView, readMerchant } from '../merchants/read.ts';
import { sendForeignForm, sendTooMany } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';

/** What was typed into a form, by field. */
export type Typed = Record<string, string | undefined>;

/** A visit to a page that anybody may open. */
export type Visit = { request: FastifyRequest; reply: FastifyReply; typed: Typed };
/** A visit of a merchant that is signed in. */
export type MerchantVisit = Visit & { session: MerchantSession; merchant: MerchantView };

export const signInPath = '/dashboard/sign-in';
const formsPerMinute = 120;

type Page<V> = { method: 'GET' | 'POST'; url: string; handle(visit: V): Promise<FastifyReply> | FastifyReply };

/** Pages of the dashboard, on the shared host and on a partner's own for its merchants. */
export function dashboardRoutes(app: FastifyInstance, ctx: Context) {
  const perClient = new AttemptLimit(formsPerMinute, minuteMs);

  /** Answers what is not to reach the page; null when it may. */
  const turnAway = (request: FastifyRequest, reply: FastifyReply): FastifyReply | null => {
    if (request.method !== 'POST') return null;
    if (!isOwnForm(request.headers, ctx.config.baseUrl)) return sendForeignForm(reply);
    return perClient.take(clientSubject(request.ip), ctx.clock.now()) ? null : sendTooMany(reply);
  };

  return {
    /** A page that needs no session. */
    open: ({ method, url, handle }: Page<Visit>) => {
      app.route({
        method,
        url,
        config: { auth: 'public' },
        handler: async (request, reply) =>
          turnAway(request, reply) ?? handle({ request, reply, typed: typedIn(request) }),
      });
    },
    /** A page of a merchant that is signed in; others are led to signing in. */
    signedIn: ({ method, url, handle }: Page<MerchantVisit>) => {
      app.route({
        method,
        url,
        config: { auth: 'session' },
        handler: async (request, reply) => {
          const away = turnAway(request, reply);
          if (away) return away;
          const session = await merchantSessionOf(ctx, request, showsSomebody(request));
          const merchant = session && (await readMerchant(ctx, session.scope, session.accountId));
          if (!session || !merchant) return reply.redirect(signInPath, 303);
          return handle({ request, reply, typed: typedIn(request), session, merchant });
        },
      });
    },
  };
}

/**
 * The session of the merchant signed in with a browser; null when there is none.
 *
 * @param inUse counts as activity, so that the session does not expire
 */
export async function merchantSessionOf(
  ctx: Context,
  request: FastifyRequest,
  inUse: boolean,
): Promise<MerchantSession | null> {
  const token = sessionToken(request, ctx.config, 'merchant');
  return token === null ? null : readMerchantSession(ctx, token, request.ownHost, inUse);
}

export type DashboardRoutes = ReturnType<typeof dashboardRoutes>;

/** Fields that came once; a repeated one is none of our forms'. */
function typedIn({ body }: FastifyRequest): Typed {
  const entries = Object.entries((body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
