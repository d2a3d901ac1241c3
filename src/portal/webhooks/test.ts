import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { may } from '../../auth/roles.ts';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { createShell } from '../../merchants/create.ts';
import { readPartner } from '../../partners/read.ts';
import { onboardWithKey } from '../../sandbox/onboard.ts';
import { SandboxRefusal, sandboxOutcome } from '../../sandbox/outcomes.ts';
import { createTestRequest, findPayableMerchant, hasTestWallet } from '../../sandbox/test-event.ts';
import { portalTexts } from '../../texts/portal.ts';
import { card, hiddenField } from '../../ui/components.ts';
import { fill } from '../../ui/language.ts';
import { actionIn, doneAt, type PortalCall, portalForm, recorded } from '../route.ts';

const path = '/portal/webhooks';

/** `POST /portal/webhooks/test`: a real request, paid by the test wallet, whose event then goes out like every other. */
export function testEventForm(app: FastifyInstance, ctx: Context): void {
  portalForm(app, ctx, `${path}/test`, { permission: 'payments.test', fresh: 'never' }, async (call) => {
    if (!hasTestWallet(ctx, call.scope)) return doneAt(call.reply, path, 'no_test_wallet');
    try {
      const { row, replayed } = await askForPayment(ctx, call);
      if (!replayed) await sandboxOutcome(ctx, call.scope, row.id, 'exact'); // a form that is sent twice pays once
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === null) throw error;
      return doneAt(call.reply, path, reason);
    }
    return doneAt(call.reply, path, 'test_sent');
  });
}

function reasonOf(error: unknown): string | null {
  if (error instanceof SandboxRefusal) return error.reason === 'busy' ? 'busy' : 'test_failed';
  return error instanceof Refusal && error.code === 'rate_unavailable' ? error.code : null;
}

async function askForPayment(ctx: Context, call: PortalCall) {
  const { scope, typed } = call;
  const accountId = (await findPayableMerchant(ctx, scope)) ?? (await newTestMerchant(ctx, call));
  return recorded(
    ctx,
    call,
    (inner) => createTestRequest(inner, scope, accountId, typed('key')),
    ({ row, replayed }) =>
      replayed
        ? null
        : {
            ...scope,
            action: 'request.created',
            object: { kind: 'request', id: row.id },
            details: { amount: Number(row.fiat_int), currency: row.fiat_code, payment_mode: row.payment_mode },
          },
  );
}

/** Makes a merchant with a test wallet of its own, for a scope that has none which can be paid. Returns its id. */
export async function newTestMerchant(ctx: Context, call: PortalCall): Promise<string> {
  const { scope, user, words } = call;
  const partner = await readPartner(ctx.db, user.partner.slug);
  if (!partner) throw new Error('the partner of a session vanished'); // partners are never deleted
  const fields = { business_name: portalTexts(words).webhooks.testMerchant, display_currency: partner.currency };
  const { id } = await recorded(
    ctx,
    call,
    (inner) => createShell(inner, scope, fields),
    (made) => ({ ...scope, action: 'merchant.created', object: { kind: 'merchant', id: made.id }, details: {} }),
  );
  await onboardWithKey(ctx, id);
  return id;
}

/** The card with the button; where there is no test wallet, what to do instead. */
export async function testEventPart(ctx: Context, call: PortalCall): Promise<Html | null> {
  const { words, scope, user, mode } = call;
  const { webhooks } = portalTexts(words);
  if (!may(user, 'payments.test', mode)) return null;
  const heading = html`<h2>${webhooks.test}</h2>`;
  if (!hasTestWallet(ctx, scope)) {
    return card(heading, html`<p class="quiet">${mode === 'live' ? webhooks.testLive : webhooks.testByHand}</p>`);
  }
  const isFirst = (await findPayableMerchant(ctx, scope)) === null;
  const rest = isFirst ? fill(webhooks.testFirst, { name: webhooks.testMerchant }) : webhooks.testRest;
  return card(
    heading,
    html`<p class="quiet">${rest}</p>`,
    html`<form method="post" action="${actionIn(call, `${path}/test`)}">${hiddenField('key', randomBytes(24).toString('base64url'))}<button>${webhooks.sendTest}</button></form>`,
  );
}
