import type { FastifyReply } from 'fastify';
import { merchantSession } from '../auth/session.ts';
import { sessionToken, setSessionCookie, showsSomebody } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import { html } from '../lib/text/html.ts';
import { MerchantRefusal, refusalToShow, signAgain } from '../merchants/refusal.ts';
import { refusalLine, refusalSentence } from '../onboarding/page.ts';
import { dashboardTexts } from '../texts/dashboard.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { logoOf } from '../ui/branding.ts';
import { card, shortAddress } from '../ui/components.ts';
import { connectForm, signForm } from '../ui/wallet-forms.ts';
import { signInChains, signInMessage, signInWithWallet } from '../wallets/sign-in.ts';
import { type DashboardRoutes, merchantSessionOf, signInPath, type Typed, type Visit } from './route.ts';
import { showPage } from './show.ts';

/** Signing in with a wallet: its address, then its signature. */
export function merchantSignInPages(routes: DashboardRoutes, ctx: Context): void {
  routes.open({
    method: 'GET',
    url: signInPath,
    handle: async ({ request, reply }) => {
      if (await merchantSessionOf(ctx, request, showsSomebody(request))) return reply.redirect('/dashboard', 303);
      return showConnect(ctx, reply, {}, null);
    },
  });
  routes.open({ method: 'POST', url: `${signInPath}/wallet`, handle: (visit) => takeWallet(ctx, visit) });
  routes.open({ method: 'POST', url: `${signInPath}/complete`, handle: (visit) => complete(ctx, visit) });
  for (const step of ['wallet', 'complete']) {
    const url = `${signInPath}/${step}`;
    routes.open({ method: 'GET', url, handle: ({ reply }) => reply.redirect(signInPath, 303) });
  }
}

/** On a partner's own host its branding; nobody knows yet whether it is about test money. */
const ofHost = ({ request: { ownHost } }: FastifyReply) =>
  ownHost && { partner_id: ownHost.partnerId, test_mode: false };

/** @param refused a wallet that signed in vain, in lower case */
function showConnect(
  ctx: Context,
  reply: FastifyReply,
  typed: Typed,
  refusal: MerchantRefusal | null,
  refused: string | null = null,
) {
  return showPage(ctx, reply, {
    title: (words) => signInTexts(words).signIn.title,
    of: ofHost(reply),
    path: signInPath,
    refusal,
    body: (words, branding) =>
      card(
        branding && logoOf(branding),
        html`<h1>${signInTexts(words).signIn.heading}</h1><p>${signInTexts(words).signIn.rest}</p>`,
        refusalLine(words, refusal, ['wallet_malformed']),
        connectForm(words, {
          action: `${signInPath}/wallet`,
          chains: signInChains(ctx),
          typed,
          unwanted: refused,
          fault: refusalSentence(words, refusal, 'wallet_malformed'),
        }),
        html`<p class="quiet">${signInTexts(words).signIn.lost}</p>`,
      ),
  });
}

/** A message to sign: the one that was not signed rightly, or a new one. */
function showSign(ctx: Context, reply: FastifyReply, typed: Typed, refusal: MerchantRefusal | null) {
  const address = typed.wallet_address?.trim() ?? '';
  const chainId = typed.chain_id ? Number(typed.chain_id) : null;
  const kept = refusal && signAgain.includes(refusal.reason) ? typed.message?.replaceAll('\r\n', '\n') : undefined;
  const message = kept ?? signInMessage(ctx, { address, chainId, host: reply.request.ownHost });
  return showPage(ctx, reply, {
    title: (words) => signInTexts(words).signIn.title,
    of: ofHost(reply),
    path: null,
    refusal,
    body: (words, branding) =>
      card(
        branding && logoOf(branding),
        html`<h1>${signInTexts(words).signIn.signHeading}</h1><p>${signInTexts(words).signIn.signRest}</p>`,
        refusalLine(words, refusal, ['signature_invalid']),
        html`
          <dl class="facts">
            <div>
              <dt>${dashboardTexts(words).wallet}</dt>
              <dd>${shortAddress(address)}</dd>
            </div>
          </dl>
        `,
        signForm(words, {
          action: `${signInPath}/complete`,
          address: address.toLowerCase(),
          message,
          signature: kept === undefined ? '' : (typed.signature ?? ''),
          fault: refusalSentence(words, refusal, 'signature_invalid'),
          carry: { wallet_address: address, chain_id: typed.chain_id ?? '' },
          button: signInTexts(words).signIn.signIn,
        }),
        html`<p class="quiet"><a href="${signInPath}">${signInTexts(words).signIn.another}</a></p>`,
      ),
  });
}

async function takeWallet(ctx: Context, { reply, typed }: Visit): Promise<FastifyReply> {
  try {
    return await showSign(ctx, reply, typed, null);
  } catch (error) {
    return showConnect(ctx, reply, typed, refusalToShow(error));
  }
}

async function complete(ctx: Context, { request, reply, typed }: Visit): Promise<FastifyReply> {
  try {
    const { message = '', signature = '' } = typed;
    const client = { ip: request.ip, userAgent: request.headers['user-agent'] };
    const earlier = sessionToken(request, ctx.config, 'merchant');
    const token = await signInWithWallet(ctx, { message, signature, host: request.ownHost }, client, earlier);
    setSessionCookie(reply, ctx.config, 'merchant', token, merchantSession.absoluteMs);
    return reply.redirect('/dashboard', 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    if (refusal.reason === 'wallet_unknown') {
      return showConnect(ctx, reply, {}, refusal, typed.wallet_address?.toLowerCase());
    }
    try {
      return await showSign(ctx, reply, typed, refusal);
    } catch (fault) {
      if (fault instanceof MerchantRefusal) return showConnect(ctx, reply, {}, refusal); // the form was not ours
      throw fault;
    }
  }
}
