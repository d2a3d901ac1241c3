import type { FastifyReply } from 'fastify';
import { clientOf } from '../auth/client.ts';
import { knownBrowser, letMerchantIn } from '../auth/known-browser.ts';
import { takeReturnPath } from '../auth/return-path.ts';
import { sessionToken } from '../auth/session-cookie.ts';
import type { Context } from '../context.ts';
import { html } from '../lib/text/html.ts';
import { MerchantRefusal, refusalToShow, signAgain } from '../merchants/refusal.ts';
import { refusalLine, refusalSentence } from '../onboarding/page.ts';
import { dashboardTexts } from '../texts/dashboard.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { logoOf } from '../ui/branding.ts';
import { card, descriptionList, shortAddress } from '../ui/components.ts';
import { chosenFirst, connectForm, signForm } from '../ui/wallet-forms.ts';
import { signInChains, signInMessage, signInWithWallet } from '../wallets/sign-in.ts';
import { keptNotice } from '../web/kept-forms.ts';
import { isUnsaved } from '../web/sign-in-address.ts';
import { sendOpenPage, walletsElsewhere } from './open-page.ts';
import { type FormFields, merchantSessionOf, type OpenPages, signInPath, type Visit } from './route.ts';

/** Signing in with a wallet: first its address, then its signature. */
export function merchantSignInPages(pages: OpenPages, ctx: Context): void {
  pages.page({ url: signInPath }, async ({ request, reply }) => {
    if (await merchantSessionOf(ctx, request)) return reply.redirect('/dashboard', 303);
    return showConnect(ctx, reply, {}, null);
  });
  pages.form({ url: `${signInPath}/wallet` }, (visit) => takeWallet(ctx, visit));
  pages.form({ url: `${signInPath}/complete` }, (visit) => complete(ctx, visit));
  for (const step of ['wallet', 'complete']) {
    const url = `${signInPath}/${step}`;
    pages.page({ url }, ({ reply }) => reply.redirect(signInPath, 303));
  }
}

/** The branding of a partner's own host. Whether the sign-in is about test money is not known yet. */
const ofHost = ({ request: { ownHost } }: FastifyReply) =>
  ownHost && { partner_id: ownHost.partnerId, test_mode: false };

/** @param refused the address of a wallet whose sign-in was refused, in lower case */
function showConnect(
  ctx: Context,
  reply: FastifyReply,
  fields: FormFields,
  refusal: MerchantRefusal | null,
  refused: string | null = null,
) {
  return sendOpenPage(ctx, reply, {
    title: (words) => signInTexts(words).signIn.title,
    subject: ofHost(reply),
    path: signInPath,
    refusal,
    body: (words, branding) =>
      card(
        branding && logoOf(branding),
        html`<h1>${signInTexts(words).signIn.heading}</h1>`,
        keptNotice(words, isUnsaved(reply.request)),
        html`<p>${signInTexts(words).signIn.rest}</p>`,
        refusalLine(words, refusal, ['wallet_malformed']),
        connectForm(words, {
          action: `${signInPath}/wallet`,
          chains: signInChains(ctx),
          typed: fields,
          unwanted: refused,
          fault: refusalSentence(words, refusal, 'wallet_malformed'),
          elsewhere: walletsElsewhere(ctx, reply.request, { path: signInPath, name: branding?.name, step: 'connect' }),
        }),
        html`<p class="quiet">${signInTexts(words).signIn.lost}</p>`,
      ),
  });
}

/** Shows a message to sign: after a refusal the same one if it can still be signed, otherwise a new one. */
function showSign(ctx: Context, reply: FastifyReply, fields: FormFields, refusal: MerchantRefusal | null) {
  const address = fields.wallet_address?.trim() ?? '';
  const chainId = fields.chain_id ? Number(fields.chain_id) : null;
  const kept = refusal && signAgain.includes(refusal.reason) ? fields.message?.replaceAll('\r\n', '\n') : undefined;
  const message = kept ?? signInMessage(ctx, { address, chainId, host: reply.request.ownHost });
  return sendOpenPage(ctx, reply, {
    title: (words) => signInTexts(words).signIn.title,
    subject: ofHost(reply),
    path: null,
    refusal,
    body: (words, branding) =>
      card(
        branding && logoOf(branding),
        html`<h1>${signInTexts(words).signIn.signHeading}</h1><p>${signInTexts(words).signIn.signRest}</p>`,
        refusalLine(words, refusal, ['signature_invalid']),
        descriptionList([[dashboardTexts(words).wallet, shortAddress(address)]]),
        signForm(words, {
          action: `${signInPath}/complete`,
          address: address.toLowerCase(),
          message,
          signature: kept === undefined ? '' : (fields.signature ?? ''),
          fault: refusalSentence(words, refusal, 'signature_invalid'),
          carry: { wallet_address: address, chain_id: fields.chain_id ?? '' },
          button: signInTexts(words).signIn.signIn,
          chains: chosenFirst(signInChains(ctx), chainId),
          elsewhere: walletsElsewhere(ctx, reply.request, { path: signInPath, name: branding?.name, step: 'sign' }),
        }),
        html`<p class="quiet"><a href="${signInPath}">${signInTexts(words).signIn.another}</a></p>`,
      ),
  });
}

async function takeWallet(ctx: Context, { reply, fields }: Visit): Promise<FastifyReply> {
  try {
    return await showSign(ctx, reply, fields, null);
  } catch (error) {
    return showConnect(ctx, reply, fields, refusalToShow(error));
  }
}

async function complete(ctx: Context, { request, reply, fields }: Visit): Promise<FastifyReply> {
  try {
    const { message = '', signature = '' } = fields;
    const browser = {
      earlier: sessionToken(request, ctx.config, 'merchant'),
      isKnown: (wallet: string) => knownBrowser(ctx, request, { kind: 'merchant', name: wallet }) !== null,
    };
    const signedIn = await signInWithWallet(
      ctx,
      { message, signature, host: request.ownHost },
      clientOf(request),
      browser,
    );
    letMerchantIn(ctx, reply, signedIn);
    return reply.redirect(takeReturnPath(request, reply, ctx.config, 'merchant'), 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    if (refusal.reason === 'wallet_unknown') {
      return showConnect(ctx, reply, {}, refusal, fields.wallet_address?.toLowerCase());
    }
    try {
      return await showSign(ctx, reply, fields, refusal);
    } catch (fault) {
      if (fault instanceof MerchantRefusal) return showConnect(ctx, reply, {}, refusal); // not the fields of our form
      throw fault;
    }
  }
}
