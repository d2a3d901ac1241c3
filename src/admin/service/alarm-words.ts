import type { Context } from '../../context.ts';
import type { Alarm } from '../../db/alarms.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readLook } from '../../partners/branding.ts';
import { adminTexts } from '../../texts/admin.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { oneOf } from '../../web/query.ts';

const plain = [
  'mail_transport',
  'mail_failing',
  'phone_gateway',
  'receipts_missing',
  'recoveries_stuck',
  'plans_failing',
  'order_ahead',
] as const;
const ofChain = /^chain-(\d+)-(unconfirmed|unread|final-reorged|deep-reorg)(?::0x[0-9a-f]+)?$/;
const chainKinds = {
  unconfirmed: 'unconfirmed',
  unread: 'unread',
  'final-reorged': 'final_reorged',
  'deep-reorg': 'deep_reorg',
} as const;
const ofWebhook = /^webhook_disabled:([0-9a-f-]{36}):(test|live)$/;
const ofRequest = /^(verified-reorged|returned-bound)-([0-9a-f-]{36})$/;

/**
 * What is wrong, in the reader's language. The alarm's name says which kind it is and what it concerns; what a server, a
 * network or the database said of it stands beside, as it was said. A kind that has no words yet is told by its message.
 */
export async function alarmWords(ctx: Context, words: Words, { name, message }: Alarm): Promise<Html> {
  const { alarms, test, live } = adminTexts(words);
  const own = oneOf(plain, name);
  if (own) return html`${alarms[own]}${own !== 'mail_transport' && html` ${asSaid(message)}`}`;
  const [, partnerId, mode] = ofWebhook.exec(name) ?? [];
  if (partnerId !== undefined) {
    const why = / 410\.$/.test(message) ? alarms.webhook_gone : alarms.webhook_dead;
    const { name: partner } = await readLook(ctx, partnerId);
    return html`${fill(why, { partner, mode: mode === 'live' ? live : test })}`;
  }
  const [, chainId, trouble] = ofChain.exec(name) ?? [];
  if (trouble !== undefined) {
    const kind = chainKinds[trouble as keyof typeof chainKinds];
    const network = networkName(ctx, Number(chainId));
    return html`${fill(alarms[kind], { network })}${(kind === 'final_reorged' || kind === 'unread') && html` ${asSaid(message)}`}`;
  }
  const [, what, request] = ofRequest.exec(name) ?? [];
  if (request !== undefined) {
    const text = what === 'returned-bound' ? alarms.returned_bound : alarms.verified_reorged;
    return fillHtml(text, { request: html`<code>${request}</code>` });
  }
  return html`<code lang="en" dir="ltr">${message}</code>`;
}

/** The part of a message that is not ours: what follows its first colon. */
function asSaid(message: string): Html {
  return html`<code lang="en" dir="ltr">${message.slice(message.indexOf(': ') + 1).trim()}</code>`;
}

function networkName({ chains }: Context, chainId: number): string {
  return [...chains.test, ...chains.live].find((chain) => chain.chainId === chainId)?.name ?? String(chainId);
}
