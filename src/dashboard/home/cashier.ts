import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { currencyExponent, formatFiat } from '../../lib/money.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { readBranding } from '../../partners/branding.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { hiddenField, isWrong, largeAmount, qr, stateLine } from '../../ui/components.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { sendPage } from '../../web/layout.ts';
import { noConnectionNotice } from '../../web/shell.ts';
import { dashboardEventsPath } from '../live.ts';
import { type Payment, readPayment } from '../payments/payment.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { nameOf } from '../shell.ts';
import { dashboardStatusOf } from './display-status.ts';
import { createFromForm, disabledText, type Faults, formKey, requestFaultText } from './new-request.ts';

const path = '/dashboard/cashier';

/** The cashier's screen: an amount, a code to scan, a large "paid". One column, turned towards the customer. */
export function cashierPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showKeypad(ctx, visit, {}, 200));
  pages.form({ url: path }, async (visit) => {
    const created = await createFromForm(ctx, visit);
    if ('faults' in created) return showKeypad(ctx, visit, created.faults, created.status);
    return visit.reply.redirect(`${path}/${created.row.id}`, 303);
  });
  pages.page({ url: `${path}/:id` }, (visit) => showCode(ctx, visit));
}

async function send(ctx: Context, visit: MerchantVisit, status: number, body: Html): Promise<FastifyReply> {
  const { merchant, reply, words } = visit;
  return sendPage(reply, status, {
    title: dashboardTexts(words).cashier.title,
    whose: nameOf(merchant) ?? undefined,
    words,
    branding: await readBranding(ctx, merchant.partner_id),
    testMode: merchant.test_mode,
    island: 'cashier',
    frame: { before: html``, wide: true },
    body: html`
      <div class="cashier">
        <h1 class="quiet">${nameOf(merchant) ?? dashboardTexts(words).cashier.title}</h1>
        ${noConnectionNotice(words)}
        ${body}
      </div>
    `,
  });
}

const digits = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];

function showKeypad(ctx: Context, visit: MerchantVisit, faults: Faults, status: number): Promise<FastifyReply> {
  const { fields, merchant, words } = visit;
  const { cashier } = dashboardTexts(words);
  const currency = merchant.display_currency;
  const firstFault = Object.values(faults).find((one) => one !== undefined);
  const fault = requestFaultText(words, visit, firstFault) ?? disabledText(words, visit);
  const exponent = currencyExponent(currency) ?? 2;
  const nothing = new Intl.NumberFormat(`${words.language}-u-nu-latn`, { minimumFractionDigits: exponent }).format(0);
  const point = exponent === 0 ? '00' : nothing.charAt(1);
  const key = (value: string) => html`<button type="button" class="second key" data-key="${value}">${value}</button>`;
  return send(
    ctx,
    visit,
    status,
    html`
      <form method="post" action="${path}" class="card" data-keypad="${exponent}">
        ${hiddenField('key', formKey())}
        ${hiddenField('currency', currency)}
        <div class="field">
          <label for="amount">${fill(cashier.amount, { currency })}</label>
          <input
            id="amount"
            name="amount"
            class="large"
            value="${fields.amount ?? ''}"
            inputmode="decimal"
            autocomplete="off"
            required
            maxlength="16"
            placeholder="${nothing}"${fault !== undefined && html`${isWrong} aria-describedby="amount-fault"`}
          >
          ${fault !== undefined && html`<p class="fault" id="amount-fault" role="alert">${fault}</p>`}
        </div>
        <div class="keys" role="group" aria-label="${cashier.keys}" hidden>
          ${digits.map(key)}
          ${key(point)}
          ${key('0')}
          <button type="button" class="second key" data-key="back" aria-label="${cashier.clear}">⌫</button>
        </div>
        <button class="large">${cashier.show}</button>
      </form>
      <p><a href="/dashboard">${cashier.leave}</a></p>
    `,
  );
}

async function showCode(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, words, request } = visit;
  const { id } = request.params as { id: string };
  const payment = await readPayment(ctx, session.scope, session.accountId, id);
  const { cashier } = dashboardTexts(words);
  const { row } = payment;
  const displayStatus = dashboardStatusOf(row);
  return send(
    ctx,
    visit,
    200,
    html`
      <div class="list" data-live="${dashboardEventsPath(row.id)}" data-region="cashier">
        ${largeAmount(formatFiat(BigInt(row.fiat_int), row.fiat_code, words.language))}
        <p class="coin"><bdi>${groupMicro(words, BigInt(row.usdc_micro))} USDC</bdi></p>
        ${displayStatus === 'open' && qr(payment.url, cashier.scan, cashier.scanRest)}
        <div class="verdict" role="status" data-status="${displayStatus}">${verdict(words, payment)}</div>
        <p>
          <a class="button large${displayStatus !== 'open' && html` primary`}" href="${path}">${cashier.next}</a>
        </p>
      </div>
      <p><a href="/dashboard/payments/${row.id}">${cashier.detail}</a></p>
    `,
  );
}

/** The state that the cashier must be able to read from across the counter. */
function verdict(words: Words, { row, progress }: Payment): Html {
  const { cashier } = dashboardTexts(words);
  const isShort = progress.receivedMicro > 0n && progress.missingMicro > 0n;
  const short = stateLine('attention', fill(cashier.short, { amount: groupMicro(words, progress.missingMicro) }));
  switch (dashboardStatusOf(row)) {
    case 'paid':
      return stateLine('paid', cashier.paid);
    case 'confirming':
      return stateLine('confirming', cashier.confirming);
    case 'expired':
      return isShort
        ? html`${short}${stateLine('ended', cashier.expired)}`
        : stateLine('ended', cashier.expired, cashier.expiredRest);
    case 'voided':
      return stateLine('ended', cashier.voided);
    case 'open':
      return isShort ? short : stateLine('waiting', row.status === 'opened' ? cashier.opened : cashier.waiting);
  }
}
