import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../auth/client.ts';
import { hostAddress } from '../auth/host.ts';
import { letMerchantIn } from '../auth/known-browser.ts';
import { createMerchantSession, readMerchantSession } from '../auth/merchant-session.ts';
import { cookieName, readCookie, sessionToken, setOwnCookie } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { AttemptLimit, clientSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { acceptedCountry, currencyOfCountry } from '../lib/text/country-currency.ts';
import { type Html, html } from '../lib/text/html.ts';
import { readDetails } from '../merchants/details.ts';
import { readOnboardingToken } from '../merchants/onboarding-token.ts';
import { MerchantRefusal, type RefusalReason, refusalStatus, refusalToShow, signAgain } from '../merchants/refusal.ts';
import { readBranding } from '../partners/branding.ts';
import { listCurrencies } from '../rates/list.ts';
import { onboardingTexts } from '../texts/onboarding.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { walletTexts } from '../texts/wallets.ts';
import { card, stateLine } from '../ui/components.ts';
import { fill, languageFor, wordsFor } from '../ui/language.ts';
import { chosenFirst } from '../ui/wallet-forms.ts';
import { chainsOf } from '../wallets/typed-wallet.ts';
import { sendForeignForm, sendNotice } from '../web/error-page.ts';
import { sendPage } from '../web/layout.ts';
import { isOwnForm } from '../web/origin.ts';
import { relayOrigin } from '../web/phone-wallets.ts';
import { codeUnderWay, enterEmailCode, passedEmail, passMs, sendEmailCode } from './code.ts';
import { openLink } from './link.ts';
import { chooseWallet, completeOnboarding, onboardingMessage, submitDetails } from './onboard.ts';
import {
  detailsPage,
  enterCodePage,
  type StepPage,
  sendCodePage,
  signPage,
  type TypedFields,
  walletPage,
} from './page.ts';
import type { OnboardingRow } from './store.ts';
import { terms } from './terms.ts';

type Visit = FastifyRequest<{
  Params: { token: string };
  Querystring: { step?: string };
  Body: TypedFields | undefined;
}>;

/** What a step works with: the open link, and the input. */
type Step = {
  token: string;
  path: string;
  scope: Scope;
  row: OnboardingRow;
  emailPass: string | null;
  typed: TypedFields;
  request: Visit;
  reply: FastifyReply;
};

const passCookie = 'onboarding';

/** `GET /onboard/:token` and its steps, as plain forms: e-mail code, details, wallet, signature and terms. */
export function onboardingPages(app: FastifyInstance, ctx: Context): void {
  const perLink = new AttemptLimit(20, minuteMs);
  const perClient = new AttemptLimit(300, minuteMs);
  const config = { auth: 'public' as const };

  app.route({
    config,
    method: ['GET', 'HEAD'],
    url: '/onboard/:token',
    handler: (request: Visit, reply) => answer(ctx, request, reply, (step) => showStep(ctx, step)),
  });
  const steps = { code: sendCode, email: enterCode, details: saveDetails, wallet: saveWallet, complete: finish };
  for (const [name, run] of Object.entries(steps)) {
    // An address of a form that is opened directly, for example by a reload, redirects to the link.
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
        if (!isOwnForm(request.headers, ctx.config.baseUrl)) return sendForeignForm(reply);
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
    const { scope, row } = await openLink(ctx, token);
    const { ownHost } = request;
    if (ownHost && ownHost.partnerId !== row.partner_id) throw new MerchantRefusal('link_unknown');
    const typed = Object.fromEntries(
      Object.entries(request.body ?? {}).filter(([, value]) => typeof value === 'string'),
    );
    const emailPass = readCookie(request.headers.cookie, cookieName(ctx.config, passCookie));
    return await run({ token, path: `/onboard/${token}`, scope, row, emailPass, typed, request, reply });
  } catch (error) {
    if (!(error instanceof MerchantRefusal)) throw error;
    return error.reason === 'link_used' ? sendUsed(ctx, request, reply) : sendRefusal(reply, error.reason);
  }
}

/** For a merchant that has completed onboarding, the link leads to its dashboard, or to the sign-in. */
async function sendUsed(ctx: Context, request: Visit, reply: FastifyReply): Promise<FastifyReply> {
  const accountId = readOnboardingToken(ctx.config.secretKeys, request.params.token, ctx.clock.now())?.accountId;
  const cookie = sessionToken(request, ctx.config, 'merchant');
  const session = cookie === null ? null : await readMerchantSession(ctx, cookie, request.ownHost, true);
  if (session && session.accountId === accountId) return reply.redirect('/dashboard', 303);
  const words = wordsFor(request);
  const { title, rest } = walletTexts(words).refusals.link_used;
  return sendPage(reply, refusalStatus.link_used, {
    title,
    words,
    testMode: false,
    body: card(
      stateLine('paid', title, rest, 'h1'),
      html`<p><a class="button" href="/dashboard/sign-in">${signInTexts(words).signIn.signIn}</a></p>`,
    ),
  });
}

/** Sends a refusal that ends the visit as a page of its own. */
export function sendRefusal(reply: FastifyReply, reason: RefusalReason): FastifyReply {
  const { title, rest } = walletTexts(wordsFor(reply.request)).refusals[reason];
  return sendNotice(reply, refusalStatus[reason], title, rest);
}

/** Sends a step's page. A refusal is shown with its status, and the input is kept. */
async function show(
  ctx: Context,
  step: Step,
  refusal: MerchantRefusal | null,
  render: (page: StepPage) => Html,
): Promise<FastifyReply> {
  const { row, path, typed, reply } = step;
  const words = wordsFor(reply.request);
  const { walletConnect } = ctx.config;
  const url = hostAddress(ctx.config, reply.request.ownHost?.slug ?? null) + path;
  const branding = await readBranding(ctx, row.partner_id);
  return sendPage(reply, refusal ? refusalStatus[refusal.reason] : 200, {
    title: fill(onboardingTexts(words).onboard.title, { partner: row.partner_name }),
    whose: null,
    words,
    branding,
    testMode: row.test_mode,
    island: 'onboard',
    connectTo: relayOrigin(walletConnect),
    path,
    body: render({ words, branding, row, path, url, walletConnect, refusal, typed: refusal ? typed : {} }),
  });
}

/** Shows the merchant's current step, or an earlier one that it wants to change. */
async function showStep(ctx: Context, step: Step, refusal: MerchantRefusal | null = null): Promise<FastifyReply> {
  const { row, emailPass, request, scope } = step;
  if (!passedEmail(ctx, row, emailPass)) {
    const sent = await codeUnderWay(ctx, { scope, row });
    return show(ctx, step, refusal, sent ? enterCodePage : sendCodePage);
  }
  const wanted = refusal ? undefined : request.query.step;
  if (row.details_at === null || wanted === 'details') return showDetails(ctx, step, refusal);
  if (row.chosen_wallet === null || wanted === 'wallet') return showWallet(ctx, step, refusal);
  return showSign(ctx, step, refusal);
}

/** Shows the details step. Suggests the currency of the merchant's country, or otherwise of the browser's. */
async function showDetails(ctx: Context, step: Step, refusal: MerchantRefusal | null): Promise<FastifyReply> {
  const { row, request } = step;
  const currencies = await listCurrencies(ctx);
  const country = row.country ?? acceptedCountry(request.headers['accept-language'] ?? '') ?? '';
  const suggested = currencies.find((code) => code === currencyOfCountry(country)) ?? null;
  return show(ctx, step, refusal, (page) => detailsPage(page, { currencies, suggested }));
}

const showWallet = (ctx: Context, step: Step, refusal: MerchantRefusal | null) =>
  show(ctx, step, refusal, (page) => walletPage(page, chainsOf(ctx, step.row)));

/** Shows the signing step with the unsigned message, or with a new one. */
function showSign(
  ctx: Context,
  step: Step,
  refusal: MerchantRefusal | null,
  message?: string,
): FastifyReply | Promise<FastifyReply> {
  const { chosen_wallet: address, chosen_chain_id: chainId } = step.row;
  if (address === null || chainId === null) return showWallet(ctx, step, refusal);
  // The merchant may have chosen another wallet on another device in the meantime.
  const kept = message?.toLowerCase().includes(address) ? message : undefined;
  const text =
    kept ?? onboardingMessage(ctx, step.row, { address, chainId: Number(chainId), host: step.request.ownHost });
  return show(ctx, step, refusal, (page) =>
    signPage(page, text, address, chosenFirst(chainsOf(ctx, step.row), Number(chainId))),
  );
}

async function sendCode(ctx: Context, step: Step): Promise<FastifyReply> {
  try {
    await sendEmailCode(ctx, step.token, wordsFor(step.request));
  } catch (error) {
    return showStep(ctx, step, refusalToShow(error));
  }
  return step.reply.redirect(step.path, 303);
}

async function enterCode(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, reply, path } = step;
  try {
    const pass = await enterEmailCode(ctx, token, step.typed.code ?? '');
    setOwnCookie(reply, ctx.config, passCookie, pass, passMs);
    return reply.redirect(path, 303);
  } catch (error) {
    return showStep(ctx, step, refusalToShow(error));
  }
}

const isCodeTrouble = (refusal: MerchantRefusal) => refusal.reason.startsWith('email_code_');

async function saveDetails(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, emailPass, typed } = step;
  try {
    await submitDetails(ctx, {
      ...{ token, emailPass, ...readDetails(typed) },
      currency: typed.display_currency || null,
    });
    return step.reply.redirect(step.path, 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    return isCodeTrouble(refusal) ? showStep(ctx, step, refusal) : showDetails(ctx, step, refusal);
  }
}

async function saveWallet(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, emailPass, typed } = step;
  const address = typed.wallet_address?.trim() ?? '';
  const chainId = typed.chain_id ? Number(typed.chain_id) : null;
  try {
    await chooseWallet(ctx, { token, emailPass, address, chainId, host: step.request.ownHost });
    return step.reply.redirect(step.path, 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    return isCodeTrouble(refusal) ? showStep(ctx, step, refusal) : showWallet(ctx, step, refusal);
  }
}

/** Refusals that require another wallet. */
const takeAnother: RefusalReason[] = ['wallet_taken', 'wallet_differs'];

async function finish(ctx: Context, step: Step): Promise<FastifyReply> {
  const { token, typed, scope, emailPass, request, reply } = step;
  const { message = '', signature = '' } = typed;
  const client = clientOf(request);
  try {
    const { account_id: accountId, wallet_address: walletAddress } = await completeOnboarding(ctx, {
      token,
      emailPass,
      message,
      signature,
      host: request.ownHost,
      acceptTerms: typed.accept_terms === terms.version,
      language: languageFor(request),
      client,
    });
    const session = await createMerchantSession(
      ctx,
      { scope, accountId, walletAddress },
      client,
      sessionToken(request, ctx.config, 'merchant'),
    );
    letMerchantIn(ctx, reply, { token: session, walletAddress });
    return reply.redirect('/dashboard', 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    if (isCodeTrouble(refusal)) return showStep(ctx, step, refusal);
    if (takeAnother.includes(refusal.reason)) return showWallet(ctx, step, refusal);
    const same = signAgain.includes(refusal.reason) ? message.replaceAll('\r\n', '\n') : undefined;
    return showSign(ctx, step, refusal, same);
  }
}
