import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { AttemptLimit, clientSubject } from '../lib/attempts.ts';
import type { Html } from '../lib/html.ts';
import { sendForeignForm, sendNotice } from '../ui/error-page.ts';
import { wordsFor } from '../ui/language.ts';
import { sendPage } from '../ui/layout.ts';
import { isOwnForm } from '../ui/origin.ts';
import { beginOnboarding, chainsOf, completeOnboarding } from './onboard.ts';
import { checkEmailCode, sendEmailCode } from './onboarding-code.ts';
import { readDetails } from './onboarding-details.ts';
import { openLink } from './onboarding-link.ts';
import { detailsPage, donePage, enterCodePage, sendCodePage, signPage, type Typed } from './onboarding-page.ts';
import { type OnboardingReason, OnboardingRefusal, onboardingRefusals } from './onboarding-refusal.ts';
import type { OnboardingRow } from './onboarding-store.ts';
import { terms } from './terms.ts';

type Visit = FastifyRequest<{ Params: { token: string }; Body: Typed | undefined }>;

/** What a step works on: the open link, and what was typed. */
type Step = { token: string; path: string; row: OnboardingRow; typed: Typed; reply: FastifyReply; fromAddress: string };

const minuteMs = 60_000;

/** `GET /onboard/:token` and its steps, as plain forms: e-mail code, details, signature and terms, done. */
export function onboardingPages(app: FastifyInstance, ctx: Context): void {
  const perLink = new AttemptLimit(20, minuteMs);
  const perClient = new AttemptLimit(300, minuteMs);
  const config = { auth: 'public' as const };

  app.route({
    config,
    method: ['GET', 'HEAD'],
    url: '/onboard/:token',
    handler: (request: Visit, reply) => answer(ctx, request, reply, async (step) => first(ctx, step)),
  });
  const steps = { code: sendCode, email: enterCode, details: saveDetails, complete: finish };
  for (const [name, run] of Object.entries(steps)) {
    // Opened by itself, by a reload for example: back to where the link begins.
    app.route({
      config,
      method: ['GET', 'HEAD'],
      url: `/onboard/:token/${name}`,
      handler: (request: Visit, reply) => reply.redirect(`/onboard/${encodeURIComponent(request.params.token)}`, 303),
    });
    app.route({
      config,
      method: 'POST',
      url: `/onboard/:token/${name}`,
      handler: (request: Visit, reply) => {
        if (!isOwnForm(request.headers, ctx.config.baseUrl)) {
          return sendForeignForm(reply);
        }
        const now = ctx.clock.now();
        if (!perClient.take(clientSubject(request.ip), now) || !perLink.take(request.params.token, now)) {
          return sendRefusal(reply, 'too_many_attempts');
        }
        return answer(ctx, request, reply, (step) => run(ctx, step));
      },
    });
  }
}

/** Opens the link, runs the step, and turns refusals that belong to no form into a page. */
async function answer(
  ctx: Context,
  request: Visit,
  reply: FastifyReply,
  run: (step: Step) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { token } = request.params;
  try {
    const { row } = await openLink(ctx, token);
    const typed = Object.fromEntries(
      Object.entries(request.body ?? {}).filter(([, value]) => typeof value === 'string'),
    );
    return await run({ token, path: `/onboard/${token}`, row, typed, reply, fromAddress: request.ip });
  } catch (error) {
    if (error instanceof OnboardingRefusal) return sendRefusal(reply, error.reason);
    throw error;
  }
}

function sendRefusal(reply: FastifyReply, reason: OnboardingReason): FastifyReply {
  const [status, title, advice] = onboardingRefusals[reason];
  return sendNotice(reply, status, title, advice);
}

function show(step: Step, status: number, body: Html): FastifyReply {
  const title = `Be paid through ${step.row.partner_name}`;
  const words = wordsFor(step.reply.request);
  return sendPage(step.reply, status, { title, words, testMode: step.row.test_mode, body });
}

const statusOf = (refusal: OnboardingRefusal | null) => (refusal ? onboardingRefusals[refusal.reason][0] : 200);
const isCodeTrouble = (refusal: OnboardingRefusal) => refusal.reason.startsWith('email_code_');

/** Refusals of the link end the visit; all others are shown where they can be put right. */
function asRefusal(error: unknown): OnboardingRefusal {
  if (error instanceof OnboardingRefusal && !error.reason.startsWith('link_')) return error;
  throw error;
}

function showDetails(ctx: Context, step: Step, refusal: OnboardingRefusal | null): FastifyReply {
  const { row, path, typed } = step;
  return show(step, statusOf(refusal), detailsPage(row, path, chainsOf(ctx, row), typed, refusal));
}

function showCode(step: Step, refusal: OnboardingRefusal): FastifyReply {
  const sendAgain = refusal.reason === 'email_code_needed' || refusal.reason === 'email_code_expired';
  const page = sendAgain ? sendCodePage : enterCodePage;
  return show(step, statusOf(refusal), page(step.row, step.path, refusal));
}

async function first(ctx: Context, step: Step): Promise<FastifyReply> {
  if (step.row.email !== null) return show(step, 200, sendCodePage(step.row, step.path, null));
  return showDetails(ctx, step, null);
}

async function sendCode(ctx: Context, step: Step): Promise<FastifyReply> {
  if (step.row.email === null) return showDetails(ctx, step, null);
  try {
    await sendEmailCode(ctx, step.token);
  } catch (error) {
    return showCode(step, asRefusal(error));
  }
  return show(step, 200, enterCodePage(step.row, step.path, null));
}

async function enterCode(ctx: Context, step: Step): Promise<FastifyReply> {
  try {
    const { scope, row } = await openLink(ctx, step.token);
    await checkEmailCode(ctx, scope, row, step.typed.code);
  } catch (error) {
    return showCode(step, asRefusal(error));
  }
  return showDetails(ctx, step, null);
}

async function saveDetails(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, typed } = step;
  try {
    const { details, email } = readDetails(typed);
    const chainId = typed.chain_id ? Number(typed.chain_id) : null;
    const address = typed.wallet_address?.trim() ?? '';
    const begun = await beginOnboarding(ctx, { token, address, chainId, emailCode: typed.code, details });
    const carriedOn = { code: typed.code, email: email ?? '' };
    return show(step, 200, signPage(begun.row, step.path, begun.message, carriedOn, null));
  } catch (error) {
    const refusal = asRefusal(error);
    return isCodeTrouble(refusal) ? showCode(step, refusal) : showDetails(ctx, step, refusal);
  }
}

/** Refusals after which the same message can still be signed. */
const signAgain: OnboardingReason[] = [
  'signature_invalid',
  'terms_not_accepted',
  'chain_unreachable',
  'wallet_not_deployed',
];

async function finish(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, typed, row } = step;
  const { message = '', signature = '', code } = typed;
  try {
    const done = await completeOnboarding(ctx, {
      token,
      message,
      signature,
      acceptTerms: typed.accept_terms === terms.version,
      emailCode: code,
      email: readDetails({ email: typed.email }).email,
      fromAddress: step.fromAddress,
    });
    return show(step, 200, donePage(row, done.wallet_address));
  } catch (error) {
    const refusal = asRefusal(error);
    if (isCodeTrouble(refusal)) return showCode(step, refusal);
    if (!signAgain.includes(refusal.reason)) return showDetails(ctx, step, refusal);
    return show(step, statusOf(refusal), signPage(row, step.path, message.replaceAll('\r\n', '\n'), typed, refusal));
  }
}
