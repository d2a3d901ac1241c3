import type { FastifyReply } from 'fastify';
import type { Context } from '../context.ts';
import type { Html } from '../lib/text/html.ts';
import { type MerchantRefusal, refusalStatus } from '../merchants/refusal.ts';
import { readBranding } from '../partners/branding.ts';
import type { Branding } from '../ui/branding.ts';
import { type Words, wordsFor } from '../ui/language.ts';
import { sendPage } from '../web/layout.ts';

/** A page's content, made from words and, where a merchant is known, its partner's branding. */
export type Shown = {
  title: (words: Words) => string;
  /** Whose look the page has, and whether it is about test money; null where nobody is known yet. */
  of: { partner_id: string; test_mode: boolean } | null;
  /** Address of the page, for the language switch; null on answers to a form. */
  path: string | null;
  refusal: MerchantRefusal | null;
  body: (words: Words, branding: Branding | null) => Html;
};

/** Answers with a page of the dashboard; with a refusal, under its status. */
export async function showPage(ctx: Context, reply: FastifyReply, shown: Shown): Promise<FastifyReply> {
  const words = wordsFor(reply.request);
  const branding = shown.of && (await readBranding(ctx, shown.of.partner_id));
  return sendPage(reply, shown.refusal ? refusalStatus[shown.refusal.reason] : 200, {
    title: shown.title(words),
    words,
    testMode: shown.of?.test_mode ?? false,
    island: 'onboard',
    body: shown.body(words, branding),
    ...(branding && { branding }),
    ...(shown.path !== null && { path: shown.path }),
  });
}
