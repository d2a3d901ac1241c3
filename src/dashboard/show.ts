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

/** A page's content, made from texts and, if a merchant is known, its partner's branding. */
export type Shown = {
  title: (words: Words) => string;
  /** Whose branding the page has, and whether it is about test money; null if nobody is known yet. */
  of: { partner_id: string; test_mode: boolean } | null;
  /** Address of the page, for the language switch; null in responses to a form. */
  path: string | null;
  refusal: MerchantRefusal | null;
  body: (words: Words, branding: Branding | null) => Html;
};

/** Sends a page of the dashboard. With a refusal, the status is that of the refusal. */
export async function showPage(ctx: Context, reply: FastifyReply, shown: Shown): Promise<FastifyReply> {
  const words = wordsFor(reply.request);
  const branding = shown.of && (await readBranding(ctx, shown.of.partner_id));
  return sendPage(reply, shown.refusal ? refusalStatus[shown.refusal.reason] : 200, {
    title: shown.title(words),
    words,
    testMode: shown.of?.test_mode ?? null,
    island: 'onboard',
    connectTo: relayOrigin(ctx.config.walletConnect),
    body: shown.body(words, branding),
    ...(branding && { branding }),
    ...(shown.path !== null && { path: shown.path }),
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
