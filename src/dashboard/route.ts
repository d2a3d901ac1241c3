import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { signInSender } from '../auth/known-browser.ts';
import { isMerchantStillIn, type MerchantSession, readMerchantSession } from '../auth/merchant-session.ts';
import { keepReturnPath } from '../auth/return-path.ts';
import { isUserActivity, sessionToken } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import { AttemptLimit } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { type MerchantView, readMerchant } from '../merchants/read.ts';
import { sendTooMany } from '../web/error-page.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { signInAddress } from '../web/sign-in-address.ts';

/** The fields of a form as they were sent, untrimmed. */
export type FormFields = Record<string, string | undefined>;

type OpenVisit = { fields: FormFields };
type SignedInVisit = OpenVisit & { session: MerchantSession; merchant: MerchantView };

/** A visit to a page that needs no session. */
export type Visit = Call & OpenVisit;
/** A visit of a merchant that is signed in. */
export type MerchantVisit = Call & SignedInVisit;

/** Pages that need no session. */
export type OpenPages = Pages<OpenVisit, object, object>;
/** Pages for signed-in merchants. Others are redirected to the sign-in. */
export type MerchantPages = Pages<SignedInVisit, object, object>;

export const signInPath = '/dashboard/sign-in';
const formsPerMinute = 120;

/** Declares pages and forms of the dashboard, on the shared host and on a partner's own host for its merchants. */
export function declareDashboardPages(
  app: FastifyInstance,
  ctx: Context,
): { open: OpenPages; signedIn: MerchantPages } {
  const area = <Visited extends object>(
    auth: 'public' | 'session',
    redirectRule: object | null,
    open: (request: FastifyRequest, reply: FastifyReply) => Promise<Visited | null>,
    senderOf: (request: FastifyRequest, visit: Visited) => string,
  ): Pages<Visited, object, object> => {
    const perSender = new AttemptLimit(formsPerMinute, minuteMs);
    return declarePages(app, ctx, {
      auth,
      open,
      openForm: async (request, reply) => {
        const visit = await open(request, reply);
        if (!visit || perSender.take(senderOf(request, visit), ctx.clock.now())) return visit;
        sendTooMany(reply);
        return null;
      },
      redirectRule: () => redirectRule,
    });
  };

  // A shop shares its address with whoever uses its network. So forms with a session are counted by the session, and
  // those of a sign-in by the browser, if the wallet has signed in with it before.
  const bySession = (_request: FastifyRequest, { session }: SignedInVisit) => session.id;
  const byBrowser = (request: FastifyRequest, { fields }: OpenVisit) => {
    const name = fields.wallet_address?.trim().toLowerCase() ?? '';
    return signInSender(ctx, request, { kind: 'merchant', name });
  };
  const openSignedIn = async (request: FastifyRequest, reply: FastifyReply): Promise<SignedInVisit | null> => {
    const session = await merchantSessionOf(ctx, request);
    const merchant = session && (await readMerchant(ctx, session.scope, session.accountId));
    if (session && merchant) {
      const group = `merchants of ${session.scope.partnerId}`;
      request.reader = { id: session.accountId, group, isStillIn: () => isMerchantStillIn(ctx, session.id) };
      return { fields: fieldsIn(request), session, merchant };
    }
    keepReturnPath(request, reply, ctx.config, 'merchant');
    reply.redirect(signInAddress(signInPath, request), 303);
    return null;
  };
  return {
    open: area('public', null, async (request) => ({ fields: fieldsIn(request) }), byBrowser),
    signedIn: area('session', {}, openSignedIn, bySession),
  };
}

/** The session of the merchant who is signed in with a browser; null if there is none. */
export async function merchantSessionOf(ctx: Context, request: FastifyRequest): Promise<MerchantSession | null> {
  const token = sessionToken(request, ctx.config, 'merchant');
  return token === null ? null : readMerchantSession(ctx, token, request.ownHost, isUserActivity(request));
}

/** The fields that were sent once. Our forms repeat no field, so repeated ones are dropped. */
function fieldsIn({ body }: FastifyRequest): FormFields {
  const entries = Object.entries((body ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
