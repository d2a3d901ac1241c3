import type { FastifyReply } from 'fastify';
import type { Act } from '../../audit/actions.ts';
import { auditedIn } from '../../audit/write.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { formatMicro } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readFirm } from '../../payments/proof/firm.ts';
import { type TransferKey, writeTransferKey } from '../../payments/transfers.ts';
import { type ReturnRow, standsReturned } from '../../refunds/read.ts';
import { checkReturn, noteReturn, offerReturn, type ReturnFault, type ReturnOffer } from '../../refunds/refund.ts';
import { releasePart } from '../../refunds/release-part.ts';
import { putBack, takeForReturn } from '../../refunds/take.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, descriptionList, field, mono, stateLine } from '../../ui/components.ts';
import { copyable } from '../../ui/copyable.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, type Words, wordsFor } from '../../ui/language.ts';
import { confirmButton } from '../../web/table.ts';
import { eventsPath } from '../live.ts';
import type { DashboardRoutes, MerchantVisit } from '../route.ts';
import { actorOf, sendDashboard } from '../shell.ts';
import { keyIn } from './attach.ts';
import { returnedFacts, returnedLine } from './refunded.ts';

const path = '/dashboard/give-back';

/**
 * `GET /dashboard/give-back/<key>`: what can go back to who paid, and once it is taken (`POST …/take`) a prepared transfer;
 * `POST` notes that it was made, `…/put-back` that it was not.
 */
export function giveBackPages(routes: DashboardRoutes, ctx: Context): void {
  routes.signedIn({
    method: 'GET',
    url: `${path}/:key`,
    handle: async (visit) => {
      const offer = await offerReturn(ctx, visit.session.scope, visit.session.accountId, keyIn(visit));
      return showOffer(ctx, visit, offer, null);
    },
  });
  routes.signedIn({ method: 'POST', url: `${path}/:key`, handle: (visit) => note(ctx, visit) });
  routes.signedIn({ method: 'POST', url: `${path}/:key/part`, handle: (visit) => takeOff(ctx, visit) });
  routes.signedIn({ method: 'POST', url: `${path}/:key/take`, handle: (visit) => take(ctx, visit) });
  routes.signedIn({ method: 'POST', url: `${path}/:key/put-back`, handle: (visit) => untake(ctx, visit) });
}

/** Does something with the payment of the address, with what the audit log says of it; null where nothing was done. */
function actOn<T>(
  ctx: Context,
  visit: MerchantVisit,
  work: (inner: Context, scope: Scope, accountId: string, key: TransferKey) => Promise<T>,
  told: (done: T) => Told | null,
): Promise<T> {
  const { scope, accountId } = visit.session;
  const key = keyIn(visit);
  return auditedIn(
    ctx,
    scope,
    actorOf(visit),
    (inner) => work(inner, scope, accountId, key),
    (done) => {
      const act = told(done);
      return act && { ...scope, ...act, object: { kind: 'payment', id: writeTransferKey(key) } };
    },
  );
}

type Told = {
  [A in 'payment.taken' | 'payment.put_back' | 'payment.released' | 'payment.returned']: Pick<
    Act<A>,
    'action' | 'details'
  >;
}['payment.taken' | 'payment.put_back' | 'payment.released' | 'payment.returned'];

/** Takes the payment, then offers the transfer; once more changes nothing, nor before the payment is firm: the page says so. */
async function take(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const key = keyIn(visit);
  // Outside the transaction: the chain may be slow.
  const firm = await readFirm(ctx, visit.session.scope, visit.session.accountId, key);
  await actOn(
    ctx,
    visit,
    (inner, scope, accountId) => takeForReturn(inner, scope, accountId, key, firm),
    (taken) =>
      taken.kind === 'taken'
        ? { action: 'payment.taken', details: { request: taken.requestId, usdc_micro: taken.usdcMicro.toString() } }
        : null,
  );
  return visit.reply.redirect(`${path}/${writeTransferKey(key)}`, 303);
}

/** Puts the payment back by the merchant's word; what is on its way stays. */
async function untake(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const done = await actOn(ctx, visit, putBack, (isBack) =>
    isBack ? { action: 'payment.put_back', details: {} } : null,
  );
  return visit.reply.redirect(`${path}/${writeTransferKey(keyIn(visit))}${done ? '?done=put_back' : ''}`, 303);
}

/** Takes a part off its request, and leads to the transfer that gives it back. */
async function takeOff(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const release = await actOn(ctx, visit, releasePart, (done) =>
    done.kind === 'released'
      ? { action: 'payment.released', details: { request: done.requestId, usdc_micro: done.usdcMicro.toString() } }
      : null,
  );
  const isFree = release.kind === 'released' || release.kind === 'again';
  const next = isFree
    ? `${path}/${writeTransferKey(keyIn(visit))}`
    : `/dashboard/payments/${release.requestId}?done=part_refused`;
  return visit.reply.redirect(next, 303);
}

async function note(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, typed, reply } = visit;
  const { scope, accountId } = session;
  const key = keyIn(visit);
  const said = { returnTxHash: typed.return_tx_hash ?? '', elsewhere: typed.elsewhere === '1' };
  // Outside the transaction: the chain may be slow.
  const checked = await checkReturn(ctx, scope, accountId, key, said);
  if (checked.fault !== null) {
    return showOffer(ctx, visit, await offerReturn(ctx, scope, accountId, key), checked.fault);
  }
  const { offer, returnTxHash } = checked;
  const details = {
    request: offer.requestId,
    usdc_micro: offer.usdcMicro.toString(),
    transaction: returnTxHash,
    ...(offer.unknownHash !== null && { replaces: offer.unknownHash }),
  };
  const fault = await actOn(
    ctx,
    visit,
    (inner) => noteReturn(inner, scope, accountId, checked),
    (refused) => (refused ? null : { action: 'payment.returned', details }),
  );
  if (fault) return showOffer(ctx, visit, await offerReturn(ctx, scope, accountId, key), fault);
  const requestId = offer.requestId ?? offer.candidateRequestId;
  const back = requestId === null ? '/dashboard/unmatched' : `/dashboard/payments/${requestId}`;
  return reply.redirect(`${back}?done=returned`, 303);
}

/** Why a transaction was not noted, as a sentence. */
function faultText(words: Words, fault: ReturnFault, { token }: ReturnOffer): string {
  const { faults } = dashboardTexts(words);
  if (fault === 'other') return fill(faults.returnOther, { token: token.symbol });
  const { hash: malformed, alreadyGiven: already_given, returnTooMany: too_many, returnFailed: failed } = faults;
  return { malformed, already_given, too_many, failed }[fault];
}

/** What browser code sends with the merchant's wallet: it reads it from `data-return`. */
function orderOf({ chain, token, fromAddress, data }: ReturnOffer, words: Words): string {
  const { chainId, name, publicRpcUrl, coin, explorerUrl } = chain;
  const { send, waiting, sent, none, noAccount, otherAccount, declined, failed } = dashboardTexts(words).giveBack;
  return JSON.stringify({
    chain: { chainId, name, publicRpcUrl, coin, explorerUrl },
    token: token.address,
    from: fromAddress,
    data,
    texts: { send, waiting, sent, none, noAccount, otherAccount, declined, failed },
  });
}

function showOffer(
  ctx: Context,
  visit: MerchantVisit,
  offer: ReturnOffer,
  fault: ReturnFault | null,
): Promise<FastifyReply> {
  const words = wordsFor(visit.request);
  const { giveBack: t, returned } = dashboardTexts(words);
  const amount = groupMicro(words, offer.usdcMicro);
  const text = fault === null ? undefined : faultText(words, fault, offer);
  const { given } = offer;
  const another = mayNoteAnother(offer);
  const early = card(stateLine('attention', t.early, t.earlyRest));
  const first = offer.data === null ? early : html`${warning(words, offer)}${takeCard(words, offer, text)}`;
  const ways =
    offer.data === null
      ? html`${early}${card(noteForm(words, visit, offer, text))}${putBackForm(words, offer)}`
      : html`${warning(words, offer)}
<div class="two">${preparedCard(words, offer)}${byHandCard(words, visit, offer, text)}</div>
${putBackForm(words, offer)}`;
  return sendDashboard(ctx, visit, {
    path: `${path}/${writeTransferKey(offer.key)}`,
    under: offer.requestId === null ? '/dashboard/unmatched' : '/dashboard/payments',
    title: fill(t.title, { amount }),
    status: fault === null ? 200 : 409,
    island: 'refund',
    body: html`${given && givenCard(words, offer, given, text)}
${
  another
    ? html`<details class="card"${fault !== null && html` open`}><summary>${returned.another}</summary>${noteForm(words, visit, offer, text)}</details>`
    : given === null
      ? first
      : !standsReturned(given) && ways
}`,
  });
}

/** What is noted gave nothing back as far as the network tells, or is unknown to it, as a mistyped hash is. */
const mayNoteAnother = ({ given, unknownHash }: ReturnOffer) => given?.state === 'other' || unknownHash !== null;

/** That it is taken, what is noted, and what the network says of it; it renews itself. */
function givenCard(words: Words, offer: ReturnOffer, given: ReturnRow, fault: string | undefined): Html {
  const told = fault !== undefined && !mayNoteAnother(offer) && standsReturned(given);
  return html`<div data-live="${eventsPath()}" data-region="given">${card(
    returnedLine(words, given),
    told && html`<p class="fault" role="alert">${fault}</p>`,
    returnedFacts(words, given),
  )}</div>`;
}

/** Whoever pays from an exchange has no address of their own there. Nobody can know it for sure, so it is always said. */
function warning(words: Words, { manyMerchants }: ReturnOffer): Html {
  const { giveBack: t } = dashboardTexts(words);
  return card(
    manyMerchants ? stateLine('failed', t.many, t.manyRest) : stateLine('attention', t.careful, t.carefulRest),
  );
}

function returnFacts(words: Words, offer: ReturnOffer): Html {
  const { giveBack: t } = dashboardTexts(words);
  return descriptionList([
    [t.amount, html`<strong><bdi>${groupMicro(words, offer.usdcMicro)} ${offer.token.symbol}</bdi></strong>`],
    [t.to, mono(offer.toAddress)],
    [t.from, mono(offer.fromAddress)],
    [t.network, offer.chain.name],
  ]);
}

/** Nothing is offered to be sent before the payment is taken: until then its sender could still pay a request with it. */
function takeCard(words: Words, offer: ReturnOffer, fault: string | undefined): Html {
  const { giveBack: t } = dashboardTexts(words);
  return card(
    html`${fault && html`<p class="fault" role="alert">${fault}</p>`}<p class="quiet">${t.takeRest}</p>`,
    returnFacts(words, offer),
    html`<form method="post" action="${path}/${writeTransferKey(offer.key)}/take"><button>${t.take}</button></form>`,
  );
}

function putBackForm(words: Words, { key }: ReturnOffer): Html {
  const { giveBack: t } = dashboardTexts(words);
  const action = `${path}/${writeTransferKey(key)}/put-back`;
  return confirmButton({ label: t.putBack, title: t.putBackTitle, consequence: t.putBackRest, action }, null);
}

function preparedCard(words: Words, offer: ReturnOffer): Html {
  const { giveBack: t } = dashboardTexts(words);
  return card(
    html`<h2>${t.prepared}</h2><p class="quiet">${t.rest}</p>`,
    returnFacts(words, offer),
    html`<div class="wallets" data-return="${orderOf(offer, words)}" hidden></div><p class="told" role="alert" hidden></p>`,
  );
}

function byHandCard(words: Words, visit: MerchantVisit, offer: ReturnOffer, fault: string | undefined): Html {
  const { giveBack: t } = dashboardTexts(words);
  return card(
    html`<h2>${t.byHand}</h2><p class="quiet">${fill(t.byHandRest, { token: offer.token.symbol, network: offer.chain.name })}</p>`,
    copyable(words, t.amount, formatMicro(offer.usdcMicro), t.copyAmount),
    copyable(words, t.to, offer.toAddress, t.copyAddress),
    descriptionList([[t.token, mono(offer.token.address)]]),
    noteForm(words, visit, offer, fault),
  );
}

/** Takes the hash of the transaction; browser code fills it in and sends it. */
function noteForm(words: Words, { typed }: MerchantVisit, offer: ReturnOffer, fault: string | undefined): Html {
  const { giveBack: t } = dashboardTexts(words);
  return html`<form method="post" action="${path}/${writeTransferKey(offer.key)}" id="note" class="stack">${field({
    name: 'return_tx_hash',
    label: t.hash,
    hint: t.hashHint,
    value: typed.return_tx_hash ?? '',
    fault,
    attributes:
      'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="66" dir="ltr" placeholder="0x…"',
  })}<label class="check"><input type="checkbox" name="elsewhere" value="1"${typed.elsewhere === '1' && html` checked`}><span>${t.elsewhere}</span></label>
<button class="second">${t.note}</button></form>`;
}
