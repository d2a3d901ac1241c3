import { randomBytes } from 'node:crypto';
import { may } from '../../auth/roles.ts';
import { RpcError } from '../../chain/rpc.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { createShell } from '../../merchants/create.ts';
import { findPayableMerchant } from '../../merchants/read.ts';
import { readPartner } from '../../partners/read.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { portalTexts } from '../../texts/portal.ts';
import { card } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { fill } from '../../ui/language.ts';
import { actionIn, type PortalCall, type PortalPages } from '../route.ts';

const path = '/portal/webhooks';

/** The sandbox whose test wallet can pay requests of this scope; null if there is none. */
export function testWalletOf(ctx: Context, scope: Scope): Sandbox | null {
  return ctx.sandbox?.hasTestWallet(ctx, scope) ? ctx.sandbox : null;
}

/**
 * `POST /portal/webhooks/test`: creates a real request and pays it with the test wallet. Its event is then delivered
 * like any other.
 */
export function testEventForm(pages: PortalPages, ctx: Context): void {
  pages.form({ url: `${path}/test`, permission: 'payments.test', fresh: 'never' }, async (call) => {
    const sandbox = testWalletOf(ctx, call.scope);
    if (!sandbox) return call.done(path, 'no_test_wallet');
    const made = await requestTestPayment(ctx, sandbox, call).catch((error) => {
      if (error instanceof RpcError) return 'chain_down';
      if (error instanceof Refusal && error.code === 'rate_unavailable') return error.code;
      throw error;
    });
    if (typeof made === 'string') return call.done(path, made);
    // A form that is sent twice pays once.
    const refusal = made.replayed ? null : await sandbox.payTestRequest(ctx, call.scope, made.row.id);
    return call.done(path, refusal ?? 'test_sent');
  });
}

async function requestTestPayment(ctx: Context, sandbox: Sandbox, call: PortalCall) {
  const { scope, typed } = call;
  const accountId = (await findPayableMerchant(ctx, scope)) ?? (await newTestMerchant(ctx, sandbox, call));
  return sandbox.createTestRequest(ctx, call.actor, scope, accountId, typed('key'));
}

/** Creates a merchant with its own test wallet, for a scope without a merchant that can be paid. Returns its id. */
export async function newTestMerchant(ctx: Context, sandbox: Sandbox, call: PortalCall): Promise<string> {
  const { scope, user, words } = call;
  const partner = await readPartner(ctx.db, user.partner.slug);
  if (!partner) throw new Error('the partner of a session no longer exists'); // partners are never deleted
  const fields = { business_name: portalTexts(words).webhooks.testMerchant, display_currency: partner.currency };
  const { id } = await createShell(ctx, call.actor, scope, fields);
  await sandbox.onboardWithKey(ctx, id);
  return id;
}

/** The card with the button. Without a test wallet, it says what to do instead. Null for users who may not. */
export async function testEventSection(ctx: Context, call: PortalCall): Promise<Html | null> {
  const { words, scope, user, mode } = call;
  const { webhooks } = portalTexts(words);
  if (!may(user, 'payments.test', mode)) return null;
  const heading = html`<h2>${webhooks.test}</h2>`;
  if (!testWalletOf(ctx, scope)) {
    return card(heading, html`<p class="quiet">${mode === 'live' ? webhooks.testLive : webhooks.testManually}</p>`);
  }
  const isFirst = (await findPayableMerchant(ctx, scope)) === null;
  const rest = isFirst ? fill(webhooks.testFirst, { name: webhooks.testMerchant }) : webhooks.testRest;
  return card(
    heading,
    html`<p class="quiet">${rest}</p>`,
    form({
      action: actionIn(call, `${path}/test`),
      hidden: { key: randomBytes(24).toString('base64url') },
      submit: webhooks.sendTest,
      second: true,
    }),
  );
}
