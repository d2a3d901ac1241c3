import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { renderSVG } from 'uqr';
import type { Context } from '../context.ts';
import { minuteMs } from '../lib/durations.ts';
import type { Outcome } from '../payments/outcome.ts';
import { claim } from '../payments/submitted/claim.ts';
import { submitHash } from '../payments/submitted/submit.ts';
import { openRequest, opensRequest, storeLanguage } from '../requests/open.ts';
import { checksummed } from '../ui/address.ts';
import { wordsFor } from '../ui/language.ts';
import { walletConnectRoute } from '../web/assets.ts';
import { sendForeignForm, sendNotFound, sendTooMany } from '../web/error-page.ts';
import { isOwnForm } from '../web/origin.ts';
import { isAgent } from './agents/agent.ts';
import { serveAgents } from './agents/serve.ts';
import { feelessForms } from './feeless.ts';
import { postLimits } from './limits.ts';
import { payOptions, transferUri } from './options.ts';
import { sendPayPage } from './page.ts';
import { payRoute } from './paths.ts';
import { planPages } from './plan/pages.ts';
import { type Checkout, readCheckout } from './read.ts';
import { sendReceipt } from './receipt-page.ts';
import { stopMailsPages } from './stop-mails.ts';

type Visit = FastifyRequest<{
  Params: { request_id: string; option?: string };
  Body: Record<string, unknown> | undefined;
}>;

const publicRoute = { auth: 'public' as const };

/** `GET {pay_url}/<request_id>` and the addresses below it: the receipt, QR codes, and the forms of the page. */
export function payPages(app: FastifyInstance, ctx: Context): void {
  const route = payRoute(ctx.config);
  const show = (url: string, answer: (checkout: Checkout, request: Visit, reply: FastifyReply) => unknown) =>
    app.route({
      method: ['GET', 'HEAD'],
      url,
      exposeHeadRoute: false,
      config: publicRoute,
      handler: async (request: Visit, reply) => {
        const checkout = await readCheckout(ctx, request.params.request_id, wordsFor(request));
        return checkout ? answer(checkout, request, reply) : sendNotFound(reply);
      },
    });
  const serveAgent = serveAgents(app, ctx);
  const showPage = async (checkout: Checkout, request: Visit, reply: FastifyReply) => {
    const { scope, row } = checkout;
    if (opensRequest(request.method, request.headers)) {
      // Only a person's browser opens a request, not a preview: docs/decisions/0010-what-opens-a-request.md.
      if (row.status === 'requested') await openRequest(ctx, scope, row.id);
      await storeLanguage(ctx, scope, row, checkout.words.language);
    }
    return sendPayPage(reply, 200, checkout);
  };
  app.route({
    method: ['GET', 'HEAD'],
    url: route,
    exposeHeadRoute: false,
    config: publicRoute,
    handler: async (request: Visit, reply) => {
      reply.header('vary', 'accept');
      const checkout = await readCheckout(ctx, request.params.request_id, wordsFor(request));
      if (isAgent(request)) return serveAgent(request, reply, checkout);
      return checkout ? showPage(checkout, request, reply) : sendNotFound(reply);
    },
  });
  show(`${route}/receipt`, (checkout, _, reply) => sendReceipt(reply, checkout));
  const sendCode = (reply: FastifyReply, text: string) => {
    const svg = renderSVG(text, { border: 3, ecc: 'M' });
    return reply.headers({ 'content-type': 'image/svg+xml', 'cache-control': 'no-store' }).send(svg);
  };
  show(`${route}/qr/address`, (checkout, _, reply) =>
    payOptions(checkout).length > 0 ? sendCode(reply, checksummed(checkout.row.wallet_address)) : sendNotFound(reply),
  );
  show(`${route}/qr/:option`, (checkout, request, reply) => {
    const option = payOptions(checkout)[Number(request.params.option)];
    return option ? sendCode(reply, transferUri(checkout, option)) : sendNotFound(reply);
  });
  if (ctx.config.walletConnect) walletConnectRoute(app);
  payForms(app, ctx, route);
  feelessForms(app, ctx);
  planPages(app, ctx);
  app.register((pages) => stopMailsPages(pages, ctx)); // their form encoding is accepted by no other page
}

/** The forms that submit a transaction hash and a claim. Each says in plain words what the transaction is worth. */
function payForms(app: FastifyInstance, ctx: Context, route: string): void {
  const limits = postLimits({ perClient: 60, perClientAndRequest: 10, perRequest: 100 }, minuteMs);
  const forms: Record<string, (id: string, typed: (name: string) => string) => Promise<Outcome>> = {
    proof: (id, typed) => submitHash(ctx, id, { txHash: typed('tx_hash') }),
    claim: (id, typed) => {
      const key = { chainId: Number(typed('chain_id')), txHash: typed('tx_hash'), ordinal: Number(typed('ordinal')) };
      if (!Number.isSafeInteger(key.chainId) || !Number.isSafeInteger(key.ordinal)) {
        return Promise.resolve({ kind: 'malformed' });
      }
      return claim(ctx, id, { ...key, signature: typed('signature').trim() });
    },
  };
  for (const [name, run] of Object.entries(forms)) {
    app.route({
      method: 'POST',
      url: `${route}/${name}`,
      config: publicRoute,
      handler: async (request: Visit, reply) => {
        if (!isOwnForm(request.headers, ctx.config.payUrl)) return sendForeignForm(reply);
        const now = ctx.clock.now();
        if (!limits.ofClient(request.ip, now)) return sendTooMany(reply);
        const id = request.params.request_id.toLowerCase();
        const words = wordsFor(request);
        const before = await readCheckout(ctx, id, words);
        if (!before) return sendNotFound(reply);
        const typed = (field: string) => {
          const value = request.body?.[field];
          return typeof value === 'string' ? value.slice(0, 20_000) : '';
        };
        const typedHash = typed('tx_hash').slice(0, 200);
        if (!limits.ofRequest(request.ip, id, now)) {
          return sendPayPage(reply, 429, before, { typed: typedHash, outcome: { kind: 'tooMany' }, toSign: null });
        }
        const outcome = await run(id, typed);
        // After a signature that was wrong or could not be checked, asks for the same signature again.
        const retry = name === 'claim' && (outcome.kind === 'bad_signature' || outcome.kind === 'unavailable');
        const asked = retry ? await submitHash(ctx, id, { txHash: typed('tx_hash') }) : outcome;
        const toSign = asked.kind === 'needs_signature' ? { ...asked, signature: typed('signature') } : null;
        const checkout = (await readCheckout(ctx, id, words)) ?? before;
        const status = outcome.kind === 'malformed' ? 400 : 200;
        return sendPayPage(reply, status, checkout, { typed: typedHash, outcome, toSign });
      },
    });
  }
}
