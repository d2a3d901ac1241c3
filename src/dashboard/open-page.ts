import type { FastifyReply, FastifyRequest } from 'fastify';
import { hostAddress } from '../auth/host.ts';
import type { Context } from '../context.ts';
import type { Html } from '../lib/text/html.ts';
import { type MerchantRefusal, refusalStatus } from '../merchants/refusal.ts';
import { readBranding } from '../partners/branding.ts';
import type { Branding } from '../ui/branding.ts';
import { type Words, wordsFor } from '../ui/language.ts';
import type { Elsewhere } from '../ui/wallet-forms.ts';
import { sendPage } from '../web/layout.ts';
import { relayOrigin, signingElsewhere } from '../web/phone-wallets.ts';

/** A page that needs no session: made from texts and, if a merchant or host is known, its partner's branding. */
export type OpenPage = {
  title: (words: Words) => string;
  /** Whose branding the page has, and whether it is about test money; null if nobody is known yet. */
  subject: { partner_id: string; test_mode: boolean } | null;
  /** Address of the page, for the language switch; null in responses to a form. */
  path: string | null;
  refusal: MerchantRefusal | null;
  body: (words: Words, branding: Branding | null) => Html;
};

/** Sends a page that needs no session. With a refusal, the status is that of the refusal. */
export async function sendOpenPage(ctx: Context, reply: FastifyReply, page: OpenPage): Promise<FastifyReply> {
  const words = wordsFor(reply.request);
  const branding = page.subject && (await readBranding(ctx, page.subject.partner_id));
  return sendPage(reply, page.refusal ? refusalStatus[page.refusal.reason] : 200, {
    title: page.title(words),
    words,
    testMode: page.subject?.test_mode ?? null,
    island: 'onboard',
    connectTo: relayOrigin(ctx.config.walletConnect),
    body: page.body(words, branding),
    ...(branding && { branding }),
    ...(page.path !== null && { path: page.path }),
  });
}

/**
 * The ways to sign with a wallet on another device.
 *
 * @param path the page on which to continue on a phone
 * @param name who asks, as the wallet shows it
 * @param isSecret whether the path gives access to whoever has it
 */
export function walletsElsewhere(
  { config }: Context,
  request: FastifyRequest,
  { path, name, step, isSecret = false }: ElsewhereOf,
): Elsewhere {
  const { walletConnect } = config;
  const url = hostAddress(config, request.ownHost?.slug ?? null) + path;
  const words = wordsFor(request);
  return signingElsewhere({ words, walletConnect, name: name ?? productName, url, isSecret }, step);
}

type ElsewhereOf = { path: string; name: string | undefined; step: 'connect' | 'sign'; isSecret?: boolean };

const productName = 'Quittance';
