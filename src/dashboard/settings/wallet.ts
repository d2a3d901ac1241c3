import type { FastifyReply } from 'fastify';
import { clientOf } from '../../auth/client.ts';
import { letMerchantIn } from '../../auth/known-browser.ts';
import { createMerchantSession } from '../../auth/merchant-session.ts';
import type { Context } from '../../context.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { type MerchantRefusal, refusalStatus, refusalToShow, signAgain } from '../../merchants/refusal.ts';
import { refusalLine, refusalSentence } from '../../onboarding/page.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { walletTexts } from '../../texts/wallets.ts';
import { card, descriptionList, shortAddress, stateLine } from '../../ui/components.ts';
import { fill, fillHtml } from '../../ui/language.ts';
import { connectForm, signForm } from '../../ui/wallet-forms.ts';
import { changeWallet, handOverMessage, proveChange, proveHandOver, takeOverMessage } from '../../wallets/change.ts';
import { readOpenRecovery, vetoRecovery } from '../../wallets/recovery.ts';
import { chainsOf, type TypedWallet } from '../../wallets/typed-wallet.ts';
import { relayOrigin } from '../../web/phone-wallets.ts';
import { walletsElsewhere } from '../open-page.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';
import { recoveryLine } from './recovery-line.ts';

const path = '/dashboard/wallet';

/** The pages for changing the wallet: the merchant names the new one, then the current one signs, then the new one. */
export function walletPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showStart(ctx, visit, null));
  const steps = { 'hand-over': handOver, 'take-over': takeOver, apply, veto };
  for (const [name, run] of Object.entries(steps)) {
    pages.page({ url: `${path}/${name}` }, ({ reply }) => reply.redirect(path, 303));
    pages.form({ url: `${path}/${name}` }, (visit) => run(ctx, visit));
  }
}

const typedWallet = ({ fields: { wallet_address = '', chain_id }, request }: MerchantVisit): TypedWallet => ({
  address: wallet_address.trim(),
  chainId: chain_id ? Number(chain_id) : null,
  host: request.ownHost,
});

/** Shows the current wallet and asks for the new one. After a change, confirms it. */
async function showStart(ctx: Context, visit: MerchantVisit, refusal: MerchantRefusal | null): Promise<FastifyReply> {
  const { merchant, session, words, request, fields } = visit;
  const { walletChange } = walletTexts(words);
  const { done } = request.query as { done?: unknown };
  const wallet = shortAddress(merchant.wallet_address ?? '');
  if (done === 'changed' || done === 'stopped') {
    const messages = {
      changed: stateLine('paid', walletChange.done, fillHtml(walletChange.doneRest, { wallet })),
      stopped: stateLine('paid', walletChange.stopped, fillHtml(walletChange.stoppedRest, { wallet })),
    };
    const back = html`<p class="quiet"><a href="/dashboard">${walletChange.back}</a></p>`;
    const body = card(html`<div role="status">${messages[done]}</div>`, back);
    return sendStep(ctx, visit, refusal, walletChange.title, body);
  }
  const recovery = await readOpenRecovery(ctx, session.scope, session.accountId);
  const body = card(
    recovery && recoveryLine(words, merchant, recovery),
    html`
      <p>${walletChange.rest}</p>
      ${descriptionList([[walletChange.now, wallet]])}
    `,
    refusalLine(words, refusal, ['wallet_malformed', 'wallet_same']),
    html`<h2>${walletChange.newWallet}</h2>`,
    connectForm(words, {
      action: `${path}/hand-over`,
      chains: chainsOf(ctx, merchant),
      typed: fields,
      unwanted: merchant.wallet_address,
      fault: refusalSentence(words, refusal, 'wallet_malformed') ?? refusalSentence(words, refusal, 'wallet_same'),
      elsewhere: walletsElsewhere(ctx, request, { path, name: merchant.partner_name, step: 'connect' }),
    }),
    html`<p class="quiet">${fill(walletChange.lost, { partner: merchant.partner_name })}</p>`,
  );
  return sendStep(ctx, visit, refusal, walletChange.heading, body);
}

/**
 * Sends a step of the change in a narrow column beside the navigation. With a refusal, the status is that of the
 * refusal.
 */
function sendStep(
  ctx: Context,
  visit: MerchantVisit,
  refusal: MerchantRefusal | null,
  title: string,
  body: Html,
): Promise<FastifyReply> {
  return sendDashboard(ctx, visit, {
    path,
    title,
    island: 'onboard',
    connectTo: relayOrigin(ctx.config.walletConnect),
    status: refusal ? refusalStatus[refusal.reason] : 200,
    body: html`<div class="narrow">${body}</div>`,
  });
}

type Signing = {
  step: 'hand-over' | 'take-over';
  message: string;
  refusal: MerchantRefusal | null;
  carry: Record<string, string>;
};

/** Asks for one of the two signatures: first the current wallet's, then the new one's. */
function showSigning(ctx: Context, visit: MerchantVisit, signing: Signing): Promise<FastifyReply> {
  const { merchant, words, request, fields } = visit;
  const { step, message, refusal, carry } = signing;
  const { address } = typedWallet(visit);
  const signer = step === 'hand-over' ? (merchant.wallet_address ?? '') : address.toLowerCase();
  const { walletChange } = walletTexts(words);
  const dashboard = dashboardTexts(words);
  const [heading, rest] =
    step === 'hand-over' ? [walletChange.step1, walletChange.step1Rest] : [walletChange.step2, walletChange.step2Rest];
  const body = card(
    refusalLine(words, refusal, ['signature_invalid']),
    html`
      <p>${fillHtml(rest, { wallet: shortAddress(address) })}</p>
      ${descriptionList([[step === 'hand-over' ? dashboard.wallet : walletChange.newWallet, shortAddress(signer)]])}
    `,
    signForm(words, {
      action: `${path}/${step === 'hand-over' ? 'take-over' : 'apply'}`,
      address: signer,
      message,
      signature: refusal ? (fields.signature ?? '') : '',
      fault: refusalSentence(words, refusal, 'signature_invalid'),
      carry: { wallet_address: address, chain_id: fields.chain_id ?? '', ...carry },
      button: walletChange.sign,
      elsewhere: walletsElsewhere(ctx, request, { path, name: merchant.partner_name, step: 'sign' }),
    }),
    html`<p class="quiet"><a href="/dashboard">${walletChange.cancel}</a></p>`,
  );
  return sendStep(ctx, visit, refusal, heading, body);
}

const plain = (text = '') => text.replaceAll('\r\n', '\n');

async function handOver(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  try {
    const message = handOverMessage(ctx, visit.merchant, typedWallet(visit));
    return await showSigning(ctx, visit, { step: 'hand-over', message, refusal: null, carry: {} });
  } catch (error) {
    return showStart(ctx, visit, refusalToShow(error));
  }
}

/** After a refusal: shows the same message if it can still be signed, otherwise a new one, or returns to the start. */
async function signingAgain(
  ctx: Context,
  visit: MerchantVisit,
  refusal: MerchantRefusal,
  signing: Omit<Signing, 'refusal' | 'message'>,
): Promise<FastifyReply> {
  const { fields, merchant } = visit;
  if (signAgain.includes(refusal.reason)) {
    return showSigning(ctx, visit, { ...signing, message: plain(fields.message), refusal });
  }
  try {
    const write = signing.step === 'hand-over' ? handOverMessage : takeOverMessage;
    const message = write(ctx, merchant, typedWallet(visit));
    if (refusal.reason === 'wallet_taken' || refusal.reason === 'changed_too_often')
      return await showStart(ctx, visit, refusal);
    return await showSigning(ctx, { ...visit, fields: { ...fields, signature: '' } }, { ...signing, message, refusal });
  } catch (error) {
    return showStart(ctx, visit, refusalToShow(error));
  }
}

async function takeOver(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { fields, merchant, request } = visit;
  const { message = '', signature = '' } = fields;
  try {
    await proveHandOver(ctx, merchant, typedWallet(visit), { message, signature, host: request.ownHost });
    return await showSigning(ctx, visit, {
      step: 'take-over',
      message: takeOverMessage(ctx, merchant, typedWallet(visit)),
      refusal: null,
      carry: { old_message: plain(message), old_signature: signature },
    });
  } catch (error) {
    return signingAgain(ctx, visit, refusalToShow(error), { step: 'hand-over', carry: {} });
  }
}

async function apply(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { fields, merchant, session, request, reply } = visit;
  const { message = '', signature = '', old_message = '', old_signature = '' } = fields;
  const { scope, accountId } = session;
  try {
    const proved = await proveChange(ctx, merchant, typedWallet(visit), {
      handOver: { message: old_message, signature: old_signature, host: request.ownHost },
      takeOver: { message, signature, host: request.ownHost },
    });
    const walletAddress = proved.newWallet.address;
    await changeWallet(ctx, merchantActor(visit), scope, accountId, proved);
    // The change ended every session of the old wallet, including this one.
    const token = await createMerchantSession(ctx, { scope, accountId, walletAddress }, clientOf(request), null);
    letMerchantIn(ctx, reply, { token, walletAddress });
    return reply.redirect(`${path}?done=changed`, 303);
  } catch (error) {
    const carry = { old_message: plain(old_message), old_signature };
    return signingAgain(ctx, visit, refusalToShow(error), { step: 'take-over', carry });
  }
}

/** A signed-in merchant has proved that it holds its wallet, so it needs no further signature to stop a recovery. */
async function veto(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, reply } = visit;
  try {
    const recovery = await readOpenRecovery(ctx, session.scope, session.accountId);
    if (recovery) await vetoRecovery(ctx, merchantActor(visit), session.scope, recovery.id);
    return reply.redirect(`${path}?done=stopped`, 303);
  } catch (error) {
    return showStart(ctx, visit, refusalToShow(error));
  }
}
