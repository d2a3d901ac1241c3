import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { theService } from '../audit/write.ts';
import { clientOf } from '../auth/client.ts';
import { createMerchantSession, merchantSession } from '../auth/merchant-session.ts';
import { sessionToken, setSessionCookie } from '../auth/session-cookie.ts';
import { userSessionLimits } from '../auth/user-session.ts';
import { payPagePath } from '../checkout/paths.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { onboardingUrl } from '../merchants/onboarding-token.ts';
import { readMerchant } from '../merchants/read.ts';
import { planPageUrl } from '../plans/link.ts';
import { createManually } from '../requests/create-in-scope.ts';
import { wordsOf } from '../ui/language.ts';
import { inviteUser } from '../users/invite.ts';
import { serviceName } from '../users/mails.ts';
import { listUsers, type Team } from '../users/read.ts';
import { adminRealm, portalRealm, type Realm } from '../users/realm.ts';
import { startUserSession } from '../users/sign-in/sign-in.ts';
import { sendForeignForm, sendNotice } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';
import { makeIncompleteMerchant, type OpenDemo, openDemo } from './demo.ts';
import { createSandboxPlan, usualFiatInt } from './plan.ts';

/** The pages that the buttons of the front page open. */
const demoPages = ['pay', 'plan', 'onboarding', 'dashboard', 'portal', 'admin'] as const;
/** The address of the form that opens a page. */
export const demoSignInPath = (door: (typeof demoPages)[number]) => `/dev/open/${door}`;

type Visit = { request: FastifyRequest; reply: FastifyReply; demo: OpenDemo };

/**
 * `POST /dev/open/<door>`: opens a page of the demo, signed in as a person who may use it, without a wallet or a
 * mailbox. Like everything below `/dev`, for this machine and configured networks only.
 */
export function demoSignIn(app: FastifyInstance, ctx: Context): void {
  const open = {
    ...{ pay: openPayPage, plan: openPlanPage, onboarding: openOnboarding },
    ...{ dashboard: openDashboard, portal: openPortal, admin: openAdmin },
  };
  for (const door of demoPages) {
    app.route({
      method: 'POST',
      url: demoSignInPath(door),
      config: { auth: 'public' },
      handler: async (request, reply) => {
        if (!isOwnForm(request.headers, ctx.config.baseUrl)) return sendForeignForm(reply);
        const demo = await openDemo(ctx);
        if (!demo) return sendNotice(reply, 404, 'The demo is not ready yet', 'Go back and try again in a moment.');
        return reply.redirect(await open[door](ctx, { request, reply, demo }), 303);
      },
    });
  }
}

/** Creates a request of the demo merchant, and opens its pay page. */
async function openPayPage(ctx: Context, { demo: { scope, merchant } }: Visit): Promise<string> {
  const { row } = await createManually(ctx, theService, scope, {
    account_id: merchant,
    fiat_amount_int: 1250,
    memo: 'Two loaves',
    idempotency_key: randomUUID(),
  });
  return payPagePath(`${ctx.config.payUrl}/${row.id}`);
}

/** Creates a plan of the demo merchant that nobody has agreed to yet, and opens its page. */
async function openPlanPage(ctx: Context, { demo: { scope, merchant: id } }: Visit): Promise<string> {
  const { display_currency } = (await readMerchant(ctx, scope, id)) ?? {};
  if (!display_currency) throw refuse('not_found');
  const plan = await createSandboxPlan(ctx, theService, scope, { id, display_currency }, usualFiatInt);
  return new URL(planPageUrl(ctx.config, plan.id)).pathname;
}

/** Opens the onboarding of the demo's second merchant; once that is complete, of a new merchant. */
async function openOnboarding(ctx: Context, { demo: { scope, incompleteMerchant } }: Visit): Promise<string> {
  const known = await readMerchant(ctx, scope, incompleteMerchant);
  const merchant = known && !known.onboarded_at ? known : await makeIncompleteMerchant(ctx, scope);
  return new URL(onboardingUrl(ctx.config, merchant, ctx.clock.now())).pathname;
}

/** Signs in as the demo merchant. Nobody has the key of its wallet. */
async function openDashboard(ctx: Context, { request, reply, demo: { scope, merchant } }: Visit): Promise<string> {
  const { wallet_address: walletAddress } = (await readMerchant(ctx, scope, merchant)) ?? {};
  if (!walletAddress) return '/dashboard/sign-in';
  const earlier = sessionToken(request, ctx.config, 'merchant');
  const session = { scope, accountId: merchant, walletAddress };
  const token = await createMerchantSession(ctx, session, clientOf(request), earlier);
  setSessionCookie(reply, ctx.config, 'merchant', token, merchantSession.absoluteMs);
  return '/dashboard';
}

function openPortal(ctx: Context, visit: Visit): Promise<string> {
  const { name, email } = visit.demo.partner;
  return openAs(ctx, visit, portalRealm, visit.demo.scope, { email: email ?? 'demo@example.com', place: name });
}

function openAdmin(ctx: Context, visit: Visit): Promise<string> {
  return openAs(ctx, visit, adminRealm, 'operators', { email: 'operator@example.com', place: serviceName });
}

/** Signs in as a user of the demo, whom the first visit invites. `/dev/mail` shows the invitation. */
async function openAs(
  ctx: Context,
  { request, reply, demo }: Visit,
  { kind, path }: Realm,
  team: Team,
  { email, place }: { email: string; place: string },
): Promise<string> {
  const known = (await listUsers(ctx, team)).find((user) => user.email === email);
  const role = team === 'operators' ? null : 'owner';
  const invitation = { email, role, place, host: null } as const;
  const { id } = known ?? (await inviteUser(ctx, theService, team, invitation, wordsOf('en'))).user;
  const partnerId = team === 'operators' ? null : demo.partner.id;
  const client = clientOf(request);
  const earlier = sessionToken(request, ctx.config, kind);
  const token = await ctx.db.transaction((tx) =>
    startUserSession(ctx, tx, { kind, id, email, partnerId }, client, earlier),
  );
  setSessionCookie(reply, ctx.config, kind, token, userSessionLimits[kind].absoluteMs);
  return path;
}
