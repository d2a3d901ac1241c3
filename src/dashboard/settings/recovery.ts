import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf } from '../../auth/client.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { MerchantRefusal, refusalToShow, signAgain } from '../../merchants/refusal.ts';
import { refusalLine, refusalSentence } from '../../onboarding/page.ts';
import { sendRefusal } from '../../onboarding/pages.ts';
import { walletTexts } from '../../texts/wallets.ts';
import { logoOf } from '../../ui/branding.ts';
import { card, shortAddress, stateLine } from '../../ui/components.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { chosenFirst, connectForm, signForm } from '../../ui/wallet-forms.ts';
import {
  openRecovery,
  proveVeto,
  type Recovery,
  type RecoveryLink,
  recoveryMessage,
  signRecovery,
  vetoMessage,
  vetoRecovery,
} from '../../wallets/recovery.ts';
import { chainsOf } from '../../wallets/typed-wallet.ts';
import { sendOpenPage, walletsElsewhere } from '../open-page.ts';
import type { OpenPages, Visit } from '../route.ts';

/**
 * The two pages of a recovery, opened by their links: on one the new wallet signs, on the other the current wallet
 * objects.
 */
export function recoveryPages(pages: OpenPages, ctx: Context): void {
  const page = (link: RecoveryLink, base: string, steps: Record<string, Step>, first: Step) => {
    const run = (visit: Visit, step: Step) => answer(ctx, visit, link, base, step);
    pages.page({ url: `${base}/:token` }, (visit) => run(visit, first));
    for (const [name, step] of Object.entries(steps)) {
      const url = `${base}/:token/${name}`;
      pages.form({ url }, (visit) => run(visit, step));
      pages.page({ url }, ({ request, reply }) =>
        reply.redirect(`${base}/${encodeURIComponent(tokenOf(request))}`, 303),
      );
    }
  };
  const sign: Record<string, Step> = { wallet: takeWallet, complete: completeSigning };
  page('sign', '/recover', sign, (c, opened) => showRecovery(c, opened, null));
  page('veto', '/veto', { complete: completeVeto }, (c, opened) => showVeto(c, opened, null));
}

type Opened = Visit & { recovery: Recovery; path: string };
type Step = (ctx: Context, opened: Opened) => Promise<FastifyReply>;

const tokenOf = (request: FastifyRequest) => (request.params as { token: string }).token;

async function answer(ctx: Context, visit: Visit, link: RecoveryLink, base: string, step: Step): Promise<FastifyReply> {
  try {
    const token = tokenOf(visit.request);
    const recovery = await openRecovery(ctx, link, token, visit.request.ownHost);
    return await step(ctx, { ...visit, recovery, path: `${base}/${token}` });
  } catch (error) {
    if (error instanceof MerchantRefusal) return sendRefusal(visit.reply, error.reason);
    throw error;
  }
}

/** Sends a page of the recovery: the step to take, or the outcome of a recovery that has ended. */
function show(ctx: Context, opened: Opened, refusal: MerchantRefusal | null, body: (words: Words) => Html | null) {
  const { recovery, reply, request, path } = opened;
  const { change, merchant } = recovery;
  return sendOpenPage(ctx, reply, {
    title: (words) => walletTexts(words).recovery.title,
    subject: merchant,
    path: request.method === 'GET' ? path : null,
    refusal,
    body: (words, branding) => {
      const { recovery } = walletTexts(words);
      const { walletChange } = walletTexts(words);
      const { refusals } = walletTexts(words);
      const wallet = shortAddress(change.new_wallet ?? '');
      const ended: Partial<Record<typeof change.state, Html>> = {
        applied: stateLine('paid', recovery.applied, fillHtml(recovery.appliedRest, { wallet }), 'h1'),
        vetoed: stateLine(
          'ended',
          walletChange.stopped,
          fillHtml(walletChange.stoppedRest, { wallet: shortAddress(change.old_wallet) }),
          'h1',
        ),
        cancelled: stateLine('ended', refusals.change_over.title, refusals.change_over.rest, 'h1'),
      };
      return card(branding && logoOf(branding), ended[change.state] ?? body(words));
    },
  });
}

const elsewhereOf = (ctx: Context, { request, path, recovery }: Opened, step: 'connect' | 'sign') =>
  walletsElsewhere(ctx, request, { path, name: recovery.merchant.partner_name, step, isSecret: true });

function showRecovery(ctx: Context, opened: Opened, refusal: MerchantRefusal | null): Promise<FastifyReply> {
  const { change, merchant } = opened.recovery;
  return show(ctx, opened, refusal, (words) => {
    const { recovery } = walletTexts(words);
    const { due_at: dueAt, new_wallet: newWallet } = change;
    if (dueAt !== null && newWallet !== null) {
      const values = { time: instant(words, dueAt), wallet: shortAddress(newWallet) };
      return stateLine('confirming', recovery.waiting, fillHtml(recovery.waitingRest, values), 'h1');
    }
    return html`
      <h1>${fill(recovery.heading, { partner: merchant.partner_name })}</h1>
      <p>${fillHtml(recovery.rest, { wallet: shortAddress(change.old_wallet) })}</p>
      ${refusalLine(words, refusal, ['wallet_malformed', 'wallet_same'])}
      ${connectForm(words, {
        action: `${opened.path}/wallet`,
        chains: chainsOf(ctx, merchant),
        typed: opened.fields,
        unwanted: change.old_wallet,
        fault: refusalSentence(words, refusal, 'wallet_malformed') ?? refusalSentence(words, refusal, 'wallet_same'),
        elsewhere: elsewhereOf(ctx, opened, 'connect'),
      })}
    `;
  });
}

function showSigning(ctx: Context, opened: Opened, message: string, refusal: MerchantRefusal | null) {
  const { fields, path } = opened;
  const address = fields.wallet_address?.trim() ?? '';
  return show(ctx, opened, refusal, (words) => {
    const { recovery, walletChange } = walletTexts(words);
    return html`
      <h1>${recovery.signHeading}</h1>
      ${refusalLine(words, refusal, ['signature_invalid'])}
      <p>${fillHtml(recovery.signRest, { wallet: shortAddress(address) })}</p>
      ${signForm(words, {
        action: `${path}/complete`,
        address: address.toLowerCase(),
        message,
        signature: refusal ? (fields.signature ?? '') : '',
        fault: refusalSentence(words, refusal, 'signature_invalid'),
        carry: { wallet_address: address, chain_id: fields.chain_id ?? '' },
        button: recovery.sign,
        chains: chosenFirst(chainsOf(ctx, opened.recovery.merchant), Number(fields.chain_id)),
        elsewhere: elsewhereOf(ctx, opened, 'sign'),
      })}
      <p class="quiet"><a href="${path}">${walletChange.cancel}</a></p>
    `;
  });
}

function messageOf(ctx: Context, { recovery, fields, request }: Opened): string {
  const chainId = fields.chain_id ? Number(fields.chain_id) : null;
  return recoveryMessage(ctx, recovery, {
    address: fields.wallet_address?.trim() ?? '',
    chainId,
    host: request.ownHost,
  });
}

async function takeWallet(ctx: Context, opened: Opened): Promise<FastifyReply> {
  try {
    return await showSigning(ctx, opened, messageOf(ctx, opened), null);
  } catch (error) {
    return showRecovery(ctx, opened, refusalToShow(error));
  }
}

async function completeSigning(ctx: Context, opened: Opened): Promise<FastifyReply> {
  const { fields, recovery, request, reply, path } = opened;
  const { message = '', signature = '' } = fields;
  try {
    await signRecovery(ctx, recovery, { message, signature, host: request.ownHost }, clientOf(request));
    return reply.redirect(path, 303);
  } catch (error) {
    const refusal = refusalToShow(error);
    if (refusal.reason === 'wallet_taken' || refusal.reason === 'wallet_same')
      return showRecovery(ctx, opened, refusal);
    const same = signAgain.includes(refusal.reason) ? message.replaceAll('\r\n', '\n') : null;
    try {
      return await showSigning(ctx, opened, same ?? messageOf(ctx, opened), refusal);
    } catch (fault) {
      return showRecovery(ctx, opened, refusalToShow(fault));
    }
  }
}

function showVeto(ctx: Context, opened: Opened, refusal: MerchantRefusal | null): Promise<FastifyReply> {
  const { recovery, fields, path } = opened;
  const { old_wallet: oldWallet } = recovery.change;
  const kept = refusal && signAgain.includes(refusal.reason) ? fields.message?.replaceAll('\r\n', '\n') : undefined;
  const message = kept ?? vetoMessage(ctx, recovery, opened.request.ownHost);
  return show(ctx, opened, refusal, (words) => {
    const { walletChange } = walletTexts(words);
    return html`
      <h1>${walletChange.stopHeading}</h1>
      ${refusalLine(words, refusal, ['signature_invalid'])}
      <p>${fillHtml(walletChange.stopRest, { wallet: shortAddress(oldWallet) })}</p>
      ${signForm(words, {
        action: `${path}/complete`,
        address: oldWallet,
        message,
        signature: kept === undefined ? '' : (fields.signature ?? ''),
        fault: refusalSentence(words, refusal, 'signature_invalid'),
        button: walletChange.stop,
        chains: chainsOf(ctx, recovery.merchant),
        elsewhere: elsewhereOf(ctx, opened, 'sign'),
      })}
    `;
  });
}

async function completeVeto(ctx: Context, opened: Opened): Promise<FastifyReply> {
  const { fields, recovery, request, reply, path } = opened;
  const { message = '', signature = '' } = fields;
  try {
    await proveVeto(ctx, recovery, { message, signature, host: request.ownHost }, request.ip);
    const { scope, change } = recovery;
    const merchant = { kind: 'merchant', accountId: change.account_id, walletAddress: change.old_wallet } as const;
    await vetoRecovery(ctx, { ...merchant, ...clientOf(request) }, scope, change.id);
    return reply.redirect(path, 303);
  } catch (error) {
    return showVeto(ctx, opened, refusalToShow(error));
  }
}
