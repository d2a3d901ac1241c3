import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { html } from '../lib/text/html.ts';
import { readBranding } from '../partners/branding.ts';
import { type PlanOfLink, readPlanOfLink, stopMails } from '../plans/stop-mails.ts';
import { readPayPageRow } from '../requests/payable.ts';
import { planTexts } from '../texts/plans.ts';
import { logoOf } from '../ui/branding.ts';
import { card, stateLine } from '../ui/components.ts';
import { form } from '../ui/form.ts';
import { fill, wordsFor } from '../ui/language.ts';
import { sendNotFound, sendTooMany } from '../web/error-page.ts';
import { sendPage } from '../web/layout.ts';
import { payRoute } from './paths.ts';

type Visit = FastifyRequest<{ Params: { request_id: string; token: string } }>;

const perMinute = 30;
/** Of a body nothing is read. */
const bodyLimit = 16_384;

/**
 * `GET {pay_url}/<request_id>/stop-mails/<token>`: asks the recipient of a plan's mail whether to stop these mails;
 * `POST` to the same address stops them. Holding the link is enough, so that mail programs can do it too, as RFC 8058
 * requires: without cookies, in either form encoding, and without redirects.
 */
export async function stopMailsPages(app: FastifyInstance, ctx: Context): Promise<void> {
  const limit = new AttemptLimit(perMinute, minuteMs);
  app.addContentTypeParser('multipart/form-data', { parseAs: 'buffer', bodyLimit }, async () => ({}));
  const route = (method: 'GET' | 'POST', run: (found: PlanOfLink) => Promise<boolean>) =>
    app.route({
      method,
      url: `${payRoute(ctx.config)}/stop-mails/:token`,
      config: { auth: 'public' },
      bodyLimit,
      handler: async (request: Visit, reply) => {
        if (!limit.take(clientSubject(request.ip), ctx.clock.now())) return sendTooMany(reply);
        const requestId = request.params.request_id.toLowerCase();
        const found = await readPlanOfLink(ctx, requestId, request.params.token);
        return found ? show(ctx, request, reply, { ...found, requestId }, await run(found)) : sendNotFound(reply);
      },
    });
  route('GET', async ({ plan }) => plan.mails_stopped_at !== null || plan.state === 'ended');
  route('POST', async (found) => {
    await stopMails(ctx, found);
    return true;
  });
}

async function show(
  ctx: Context,
  request: Visit,
  reply: FastifyReply,
  { scope, plan, requestId }: PlanOfLink & { requestId: string },
  stopped: boolean,
): Promise<FastifyReply> {
  const words = wordsFor(request);
  const { planStop: t, planMail } = planTexts(words);
  const [row, branding] = await Promise.all([
    readPayPageRow(ctx.db, scope, requestId),
    readBranding(ctx, scope.partnerId),
  ]);
  if (!row) return sendNotFound(reply);
  const merchant = row.merchant_name ?? row.partner_name;
  const path = new URL(request.url, ctx.config.payUrl).pathname;
  const asked = fill(t.asked, { merchant, plan: plan.name ?? '' });
  return sendPage(reply, 200, {
    words,
    branding,
    path,
    testMode: row.test_mode,
    title: stopped ? t.done : t.title,
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
