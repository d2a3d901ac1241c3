import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { html } from '../lib/text/html.ts';
import { payeeName } from '../merchants/payee-name.ts';
import { readBranding } from '../partners/branding.ts';
import { scopeOfLink } from '../plans/link.ts';
import { readPlanFacts } from '../plans/mandates/facts.ts';
import { type PlanOfLink, readPlanOfLink, stopMails } from '../plans/stop-mails.ts';
import { planTexts } from '../texts/plans.ts';
import { logoOf } from '../ui/branding.ts';
import { card, stateLine } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { sendNotFound, sendTooMany } from '../web/error-page.ts';
import { sendPage } from '../web/layout.ts';
import { payRoute, planRoute } from './paths.ts';

type Link = { request_id?: string; plan_id?: string; token: string };
type Visit = FastifyRequest<{ Params: Link }>;

const perMinute = 30;
/** Bytes. The content of the body is not used. */
const bodyLimit = 16_384;

/**
 * `GET {pay_url}/<request_id>/stop-mails/<token>`, and `/stop-mails` below a plan's page: asks the recipient of a
 * plan's mail whether to stop these mails. `POST` to the same address stops them. Whoever has the link may do this, so
 * that mail programs can do it too, as RFC 8058 requires: without cookies, in either form encoding, and without
 * redirects.
 */
export async function stopMailsPages(app: FastifyInstance, ctx: Context): Promise<void> {
  const limit = new AttemptLimit(perMinute, minuteMs);
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer', bodyLimit }, async () => ({}));
  const urls = [`${payRoute(ctx.config)}/stop-mails/:token`, `${planRoute(ctx.config)}/stop-mails`];
  const route = (url: string, method: 'GET' | 'POST', run: (found: PlanOfLink) => Promise<boolean>) =>
    app.route({
      method,
      url,
      config: { auth: 'public' },
      bodyLimit,
      handler: async (request: Visit, reply) => {
        if (!limit.take(clientSubject(request.ip), ctx.clock.now())) return sendTooMany(reply);
        const found = await find(ctx, request.params);
        return found ? show(ctx, request, reply, found, await run(found)) : sendNotFound(reply);
      },
    });
  for (const url of urls) {
    route(url, 'GET', async ({ plan }) => plan.mails_stopped_at !== null || plan.state === 'ended');
    route(url, 'POST', async (found) => {
      await stopMails(ctx, found);
      return true;
    });
  }
}

/** The plan that a link belongs to: a link below a request's page, or below a plan's. */
async function find(ctx: Context, { request_id: requestId, plan_id: planId, token }: Link): Promise<PlanOfLink | null> {
  if (requestId !== undefined) return readPlanOfLink(ctx, requestId.toLowerCase(), token);
  const scope = await scopeOfLink(ctx, planId ?? '', token);
  const plan = scope && (await readPlanFacts(ctx, scope, (planId ?? '').toLowerCase()));
  return plan && { scope, plan };
}

async function show(
  ctx: Context,
  request: Visit,
  reply: FastifyReply,
  { scope, plan }: PlanOfLink,
  stopped: boolean,
): Promise<FastifyReply> {
  const words = wordsFor(request);
  const { planStop: t, planMail } = planTexts(words);
  const [facts, branding] = await Promise.all([readPlanFacts(ctx, scope, plan.id), readBranding(ctx, scope.partnerId)]);
  if (!facts) return sendNotFound(reply);
  const merchant = payeeName(facts);
  const path = new URL(request.url, ctx.config.payUrl).pathname;
  const asked = fill(t.asked, { merchant, plan: plan.name ?? '' });
  return sendPage(reply, 200, {
    words,
    branding,
    path,
    testMode: plan.test_mode,
    title: stopped ? t.done : t.title,
    whose: merchant,
    body: html`
      ${logoOf(branding)}
      ${
        stopped
          ? card(stateLine('ended', t.done, fill(t.doneRest, { merchant }), 'h1'))
          : card(
              html`
                <h1 dir="auto">${t.title}</h1>
                <p dir="auto">${asked}</p>
                <p class="quiet" dir="auto">${fill(t.rest, { merchant })}</p>
              `,
              form({ action: path, submit: planMail.stop }),
            )
      }
    `,
  });
}
