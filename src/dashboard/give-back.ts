import type { FastifyReply } from 'fastify';
import { audited } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { type Html, html } from '../lib/html.ts';
import { formatMicro } from '../lib/money.ts';
import { noteReturn, offerReturn, type ReturnOffer } from '../payments/give-back.ts';
import { writeTransferKey } from '../payments/of-merchant.ts';
import { card, facts, field, mono, shortAddress, stateLine } from '../ui/components.ts';
import { copyable } from '../ui/copyable.ts';
import { groupMicro } from '../ui/formats.ts';
import { fill, fillHtml, type Words, wordsFor } from '../ui/language.ts';
import { keyIn } from './attach.ts';
import type { DashboardRoutes, MerchantVisit } from './route.ts';
import { actorOf, sendDashboard } from './shell.ts';

const path = '/dashboard/give-back';

/** `GET /dashboard/give-back/<key>`: a prepared transfer to who paid; `POST` notes that it was made. */
export function giveBackPages(routes: DashboardRoutes, ctx: Context): void {
  routes.signedIn({
    method: 'GET',
    url: `${path}/:key`,
    handle: async (visit) => {
      const offer = await offerReturn(ctx, visit.session.scope, visit.session.accountId, keyIn(visit));
      return showOffer(ctx, visit, offer, undefined);
    },
  });
  routes.signedIn({ method: 'POST', url: `${path}/:key`, handle: (visit) => note(ctx, visit) });
}

async function note(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, typed, reply, request } = visit;
  const { scope, accountId } = session;
  const key = keyIn(visit);
  const returnTxHash = typed.return_tx_hash ?? '';
  const { outcome, offer } = await audited(
    ctx,
    actorOf(visit),
    (inner) => noteReturn(inner, scope, accountId, { ...key, returnTxHash }),
    (done) =>
      done.outcome !== 'noted'
        ? null
        : {
            action: 'payment.returned',
            partnerId: scope.partnerId,
            testMode: scope.testMode,
            object: { kind: 'payment', id: writeTransferKey(key) },
            details: {
              request: done.offer.requestId,
              usdc_micro: done.offer.usdcMicro.toString(),
              transaction: returnTxHash.trim().toLowerCase(),
            },
          },
  );
  const { faults } = wordsFor(request).t.dashboard;
  if (outcome === 'malformed') return showOffer(ctx, visit, offer, faults.hash);
  if (outcome === 'already_given') return showOffer(ctx, visit, offer, faults.alreadyGiven);
  const back = offer.requestId === null ? '/dashboard/unmatched' : `/dashboard/payments/${offer.requestId}`;
  return reply.redirect(`${back}?done=returned`, 303);
}

/** What browser code sends with the merchant's wallet: it reads it from `data-return`. */
function orderOf({ chain, token, fromAddress, data }: ReturnOffer, words: Words): string {
  const { chainId, name, publicRpcUrl, coin, explorerUrl } = chain;
  const { send, waiting, sent, none, noAccount, otherAccount, declined, failed } = words.t.dashboard.giveBack;
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
  fault: string | undefined,
): Promise<FastifyReply> {
  const words = wordsFor(visit.request);
  const { giveBack: t } = words.t.dashboard;
  const amount = groupMicro(words, offer.usdcMicro);
  return sendDashboard(ctx, visit, {
    path: `${path}/${writeTransferKey(offer.key)}`,
    title: fill(t.title, { amount }),
    status: fault === undefined ? 200 : 409,
    island: 'give-back',
    body: offer.given
      ? givenCard(words, offer, fault)
      : html`${warning(words, offer)}
<div class="two">${preparedCard(words, offer)}${byHandCard(words, visit, offer, fault)}</div>`,
  });
}

function givenCard(words: Words, { given, toAddress }: ReturnOffer, fault: string | undefined): Html {
  const { giveBack: t } = words.t.dashboard;
  const amount = groupMicro(words, BigInt(given?.usdc_micro ?? 0));
  return card(
    stateLine('ended', t.noted),
    html`<p>${fillHtml(t.notedRest, { amount, address: shortAddress(toAddress) })}</p>`,
    fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`,
    facts([[t.hash, mono(given?.return_tx_hash ?? '')]]),
  );
}

/** Whoever pays from an exchange has no address of their own there. Nobody can know it for sure, so it is always said. */
function warning(words: Words, { manyMerchants }: ReturnOffer): Html {
  const { giveBack: t } = words.t.dashboard;
  return card(
    manyMerchants ? stateLine('failed', t.many, t.manyRest) : stateLine('attention', t.careful, t.carefulRest),
  );
}

function preparedCard(words: Words, offer: ReturnOffer): Html {
  const { giveBack: t } = words.t.dashboard;
  return card(
    html`<h2>${t.prepared}</h2><p class="quiet">${t.rest}</p>`,
    facts([
      [t.amount, html`<strong><bdi>${groupMicro(words, offer.usdcMicro)} ${offer.token.symbol}</bdi></strong>`],
      [t.to, mono(offer.toAddress)],
      [t.from, mono(offer.fromAddress)],
      [t.network, offer.chain.name],
    ]),
    html`<div class="wallets" data-return="${orderOf(offer, words)}" hidden></div><p class="told" role="alert" hidden></p>`,
  );
}

function byHandCard(words: Words, { typed }: MerchantVisit, offer: ReturnOffer, fault: string | undefined): Html {
  const { giveBack: t } = words.t.dashboard;
  return card(
    html`<h2>${t.byHand}</h2><p class="quiet">${fill(t.byHandRest, { token: offer.token.symbol, network: offer.chain.name })}</p>`,
    copyable(words, t.amount, formatMicro(offer.usdcMicro), t.copyAmount),
    copyable(words, t.to, offer.toAddress, t.copyAddress),
    facts([[t.token, mono(offer.token.address)]]),
    html`<form method="post" action="${path}/${writeTransferKey(offer.key)}" id="note" class="stack">${field({
      name: 'return_tx_hash',
      label: t.hash,
      hint: t.hashHint,
      value: typed.return_tx_hash ?? '',
      fault,
      attributes:
        'required autocomplete="off" autocapitalize="off" spellcheck="false" maxlength="66" dir="ltr" placeholder="0x…"',
    })}<button class="second">${t.note}</button></form>`,
  );
}
