import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Hex } from '../chain/rpc.ts';
import { readSignature } from '../chain/signature.ts';
import type { Context } from '../context.ts';
import { hourMs, minuteMs } from '../lib/durations.ts';
import { isAddress, isHash32, isUuid } from '../lib/ids.ts';
import type { AuthorizedOffer } from '../payments/authorized/offer.ts';
import { prepareAuthorization } from '../payments/authorized/prepare.ts';
import { submitAuthorization } from '../payments/authorized/submit.ts';
import { readAuthorizationNonce } from '../requests/authorization-nonce.ts';
import { wordsFor } from '../ui/language.ts';
import { isOwnForm } from '../web/origin.ts';
import { postLimits } from './limits.ts';
import { payRoute } from './paths.ts';
import { type Checkout, readCheckout } from './read.ts';
import { payable } from './state.ts';

type Visit = FastifyRequest<{ Params: { request_id: string }; Body: Record<string, unknown> | undefined }>;

/** The answer to browser code. `reason`: a word for which the page has a text. */
type Answer = { ok: true; [more: string]: unknown } | { ok: false; reason: string };

type FormName = 'authorization' | 'authorized';

/**
 * Whether an authorization was prepared for this request: its nonce names the request. Authorizations that were signed
 * for something else are not accepted here.
 */
function isNonceOf({ reference }: { reference: Uint8Array }, nonce: string): boolean {
  const named = isHash32(nonce) && readAuthorizationNonce(Buffer.from(nonce.slice(2), 'hex'));
  return named ? named.reference.equals(reference) : false;
}

/**
 * `POST {pay_url}/<id>/authorization` (`chain_id`, `token`, `from`): returns what a wallet must sign to pay without
 * coin for fees. `POST {pay_url}/<id>/authorized` (the same, with `nonce`, `valid_before`, `signature`): submits the
 * signature, and the service sends the transaction. Both answer browser code in JSON. The server rebuilds the signed
 * data itself and does not trust what the browser sends.
 */
export function feelessForms(app: FastifyInstance, ctx: Context): void {
  const route = payRoute(ctx.config);
  // Preparing queries the chain several times, and submitting may cost a fee.
  const preparing = postLimits({ perClientAndRequest: 20, perRequest: 200, perClient: 120 }, minuteMs);
  const handingIn = postLimits({ perClientAndRequest: 5, perRequest: 40, perClient: 30 }, minuteMs);
  const handingInLong = postLimits({ perClientAndRequest: 15, perRequest: 120, perClient: 120 }, hourMs);
  const form = (
    name: FormName,
    limits: ReturnType<typeof postLimits>[],
    answer: (checkout: Checkout, offer: AuthorizedOffer, from: Hex, typed: FieldReader) => Promise<Answer>,
  ) =>
    app.route({
      method: 'POST',
      url: `${route}/${name}`,
      config: { auth: 'public' },
      handler: async (request: Visit, reply) => {
        const no = (status: number, reason: string) => send(reply, status, { ok: false, reason });
        if (!isOwnForm(request.headers, ctx.config.payUrl)) return no(403, 'closed');
        const id = request.params.request_id.toLowerCase();
        if (!isUuid(id)) return no(404, 'closed');
        const now = ctx.clock.now();
        const isAllowed = limits.every((of) => of.ofClient(request.ip, now) && of.ofRequest(request.ip, id, now));
        if (!isAllowed) return no(429, 'tooMany');
        const checkout = await readCheckout(ctx, id, wordsFor(request));
        if (!checkout) return no(404, 'closed');
        const typed: FieldReader = (field, longest) => {
          const value = request.body?.[field];
          return typeof value === 'string' ? value.slice(0, longest).trim().toLowerCase() : '';
        };
        const from = typed('from', 100);
        if (!isAddress(from)) return no(400, 'closed');
        const [chainId, token] = [Number(typed('chain_id', 20)), typed('token', 100)];
        const offer = checkout.feeless.find((one) => one.chain.chainId === chainId && one.token.address === token);
        return send(
          reply,
          200,
          offer ? await answer(checkout, offer, from as Hex, typed) : without(checkout, name, from),
        );
      },
    });

  form('authorization', [preparing], async ({ scope, row }, offer, from) => {
    const prepared = await prepareAuthorization(ctx, scope, row, offer, from);
    if (prepared.kind !== 'ready') return { ok: false, reason: reasons[prepared.kind] };
    const { typedData, nonce, validBefore, lacksCoin } = prepared;
    return { ok: true, typed: typedData, nonce, valid_before: validBefore.toString(), lacks_coin: lacksCoin };
  });
  form('authorized', [handingIn, handingInLong], async ({ scope, row }, offer, from, typed) => {
    const [nonce, ends] = [typed('nonce', 100), typed('valid_before', 20)];
    const signature = readSignature(typed('signature', 20_000));
    if (!isNonceOf(row, nonce) || !/^\d{1,12}$/.test(ends) || !signature) return { ok: false, reason: 'badSignature' };
    const { chain, token, amountMicro } = offer;
    const to = row.wallet_address as Hex;
    const terms = {
      from,
      to,
      valueMicro: amountMicro,
      validAfter: 0n,
      validBefore: BigInt(ends),
      nonce: nonce as Hex,
    };
    const signed = { ...terms, signature };
    const whose = { requestId: row.id, accountId: row.account_id };
    const { kind } = await submitAuthorization(ctx, scope, { ...whose, chain, token, amountMicro, signed });
    return kind === 'sent' ? { ok: true } : { ok: false, reason: reasons[kind] };
  });
}

/** The answer if nothing is offered any more. A payment that was submitted before is already under way. */
function without({ state }: Checkout, name: FormName, from: string): Answer {
  if (state.kind === 'sending') {
    const isOwn = name === 'authorized' && state.authorization.authorizer === from;
    return isOwn ? { ok: true } : { ok: false, reason: 'otherUnderWay' };
  }
  if (state.kind === 'confirming' || state.kind === 'paid') return { ok: false, reason: 'alreadyUsed' };
  return { ok: false, reason: payable(state) === 'no' ? 'closed' : 'notOffered' };
}

type FieldReader = (field: string, longest: number) => string;

/** The name of the text for each outcome. */
const reasons = {
  used: 'alreadyUsed',
  taken: 'alreadyUsed',
  other_under_way: 'otherUnderWay',
  closed: 'closed',
  changed: 'changed',
  signature: 'badSignature',
  balance: 'lowBalance',
  refused: 'refused',
  too_often: 'notOffered',
  too_many_at_once: 'tooMany',
  not_offered: 'notOffered',
  unreachable: 'noNetwork',
} as const;

function send(reply: FastifyReply, status: number, answer: Answer): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').type('application/json; charset=utf-8').send(answer);
}
