import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { Refusal } from '../../errors.ts';
import { readAmount } from '../../lib/amount.ts';
import { currencyExponent } from '../../lib/money.ts';
import { type Html, html, raw } from '../../lib/text/html.ts';
import { createManually, type Expiries, readExpiries } from '../../requests/create-in-scope.ts';
import { maxFiatInt, textLimits } from '../../requests/rules.ts';
import type { RequestRow } from '../../requests/store.ts';
import { type DashboardTexts, dashboardTexts } from '../../texts/dashboard.ts';
import { card, field, optionList, selectField, stateLine } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { amountToType, formatDuration } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import type { FormFields, MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';

const path = '/dashboard/ask';

export type FaultKey = Extract<keyof DashboardTexts['faults'], string>;
/** What is wrong with the input, by field; `form` is about the form as a whole. */
export type Faults = Partial<Record<string, FaultKey>>;
export type Created = { row: RequestRow } | { faults: Faults; status: number };

/** `GET` and `POST /dashboard/ask`: a request or an invoice that the merchant creates manually. */
export function newRequestPages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showForm(ctx, visit, {}, 200));
  pages.form({ url: path }, async (visit) => {
    const created = await createFromForm(ctx, visit);
    if ('faults' in created) return showForm(ctx, visit, created.faults, created.status);
    return visit.reply.redirect(`/dashboard/payments/${created.row.id}?done=asked`, 303);
  });
}

/** An idempotency key for a form, so that sending it twice creates one request. */
export const formKey = () => randomBytes(24).toString('base64url');

/** Creates the request of a submitted form. */
export async function createFromForm(ctx: Context, visit: MerchantVisit): Promise<Created> {
  const { fields, session, merchant } = visit;
  const currency = merchant.display_currency;
  const amount = readAmount(fields.amount ?? '', currency);
  if ('fault' in amount) return { faults: { amount: amount.fault }, status: 400 };
  if (amount.minor > maxFiatInt) return { faults: { amount: 'tooMuch' }, status: 400 };
  const { scope, accountId } = session;
  const order = {
    account_id: accountId,
    fiat_amount_int: Number(amount.minor),
    // The amount was typed for the currency that the form showed.
    fiat_currency_code: fields.currency ?? currency,
    idempotency_key: fields.key ?? formKey(),
    payment_mode: fields.payment_mode === 'invoice' ? ('invoice' as const) : ('pos' as const),
    ...given('memo', fields.memo?.replaceAll('\r\n', '\n')),
    ...given('customer_name', fields.customer_name),
    ...given('customer_email', fields.customer_email),
    ...(fields.expiry && { expiry_minutes: Number(fields.expiry) }),
  };
  try {
    const { row } = await createManually(ctx, merchantActor(visit), scope, order);
    return { row };
  } catch (error) {
    if (error instanceof Refusal) return faultsOf(error);
    throw error;
  }
}

function given(name: string, value: string | undefined): Record<string, string> {
  const text = value?.trim();
  return text ? { [name]: text } : {};
}

/** Faults that the contract reports, by the form's own field names. */
const fieldFaults: Record<string, Faults> = {
  memo: { memo: 'memo' },
  customer_name: { customer_name: 'customerTooLong' },
  customer_email: { customer_email: 'customer_email' },
  expiry_minutes: { expiry: 'expiry' },
  // The currency has no rate.
  fiat_currency_code: { form: 'rate_unavailable' },
};

function faultsOf({ code, extra }: Refusal): Created {
  switch (code) {
    case 'customer_name_required':
      return { faults: { customer_name: 'customer_name' }, status: 400 };
    case 'expiry_not_allowed':
      return { faults: { expiry: 'expiry' }, status: 400 };
    case 'merchant_disabled':
    case 'partner_disabled':
      return { faults: { form: code }, status: 403 };
    case 'currency_mismatch':
    case 'rate_unavailable':
      return { faults: { form: code }, status: code === 'rate_unavailable' ? 503 : 409 };
    case 'invalid_request': {
      const fields = (extra.details as { field: string }[]).map(({ field }) => field);
      const known = fields.flatMap((name) => Object.entries(fieldFaults[name] ?? {}));
      return { faults: known.length > 0 ? Object.fromEntries(known) : { form: 'other' }, status: 400 };
    }
    default:
      return { faults: { form: 'other' }, status: 400 };
  }
}

/** An example amount with the currency's number of decimals and the language's decimal sign: `12.50`, `12,50`. */
export function exampleOf(words: Words, currency: string): string {
  const exponent = currencyExponent(currency) ?? 2;
  return amountToType(words, exponent === 0 ? 1200n : 125n * 10n ** BigInt(exponent - 1), currency);
}

/** A fault as a sentence. */
export function requestFaultText(words: Words, visit: MerchantVisit, fault: FaultKey | undefined): string | undefined {
  if (fault === undefined) return undefined;
  const { merchant } = visit;
  return fill(dashboardTexts(words).faults[fault], {
    example: exampleOf(words, merchant.display_currency),
    currency: merchant.display_currency,
    partner: merchant.partner_name,
    limit: 200,
  });
}

/** Why the merchant cannot create requests at all, so that nobody learns it only after filling in the form. */
export function disabledText(words: Words, { merchant }: MerchantVisit): string | undefined {
  const { failures } = dashboardTexts(words).plans;
  if (merchant.disabled_by_partner || merchant.disabled_by_operator) return failures.merchant_disabled;
  return merchant.partner_disabled ? fill(failures.partner_disabled, { partner: merchant.partner_name }) : undefined;
}

async function showForm(ctx: Context, visit: MerchantVisit, faults: Faults, status: number): Promise<FastifyReply> {
  const { fields, session, words, merchant } = visit;
  const { newRequest } = dashboardTexts(words);
  const expiries = await readExpiries(ctx, session.scope);
  const say = (name: string) => requestFaultText(words, visit, faults[name]);
  const failed = say('form') ?? disabledText(words, visit);
  return sendDashboard(ctx, visit, {
    path,
    title: newRequest.title,
    status,
    body: html`
      <p><a href="/dashboard/cashier">${newRequest.cashier}</a></p>
      ${failed !== undefined && html`<div role="alert">${stateLine('attention', newRequest.off, failed)}</div>`}
      <div class="narrow">
        ${card(
          form({
            action: path,
            hidden: { key: formKey(), currency: merchant.display_currency },
            inside: html`
              ${kindChoice(words, fields)}
              ${field({
                name: 'amount',
                label: fill(newRequest.amount, { currency: merchant.display_currency }),
                hint: fill(newRequest.amountHint, { example: exampleOf(words, merchant.display_currency) }),
                value: fields.amount ?? '',
                fault: say('amount'),
                attributes: 'required inputmode="decimal" autocomplete="off" maxlength="16"',
              })}
              ${field({
                name: 'customer_name',
                label: newRequest.customer,
                hint: newRequest.customerHint,
                value: fields.customer_name ?? '',
                fault: say('customer_name'),
                attributes: `maxlength="${textLimits.customer_name}" autocomplete="off"`,
              })}
              ${field({
                name: 'customer_email',
                label: newRequest.email,
                value: fields.customer_email ?? '',
                fault: say('customer_email'),
                attributes: `type="email" maxlength="${textLimits.customer_email}" autocomplete="off"`,
              })}
              ${field({
                name: 'memo',
                label: newRequest.memo,
                hint: newRequest.memoHint,
                value: fields.memo ?? '',
                fault: say('memo'),
                rows: 3,
                attributes: `maxlength="${textLimits.memo}"`,
              })}
              ${expiryChoice(words, fields, expiries, say('expiry'))}
            `,
            submit: newRequest.make,
          }),
        )}
      </div>
    `,
  });
}

function kindChoice(words: Words, fields: FormFields): Html {
  const { newRequest } = dashboardTexts(words);
  const kinds = [
    ['pos', newRequest.pos, newRequest.posRest],
    ['invoice', newRequest.invoice, newRequest.invoiceRest],
  ] as const;
  const chosen = fields.payment_mode === 'invoice' ? 'invoice' : 'pos';
  return html`
    <fieldset class="choice">
      <legend>${newRequest.what}</legend>
      ${kinds.map(
        ([value, name, rest]) =>
          html`
            <label>
              <input type="radio" name="payment_mode" value="${value}"${value === chosen && raw(' checked')}>
              <span>
                <strong>${name}</strong> <span class="quiet">${rest}</span>
              </span>
            </label>
          `,
      )}
    </fieldset>
  `;
}

function expiryChoice(words: Words, fields: FormFields, expiries: Expiries, fault: string | undefined): Html {
  const { newRequest } = dashboardTexts(words);
  const duration = (minutes: number) => formatDuration(words, minutes);
  const { pos, invoice } = expiries.usual;
  const options = [
    ['', newRequest.usual] as const,
    ...expiries.allowed.map((one) => [String(one), duration(one)] as const),
  ];
  return selectField({
    name: 'expiry',
    label: newRequest.expiry,
    hint: fill(newRequest.usualRest, { pos: duration(pos), invoice: duration(invoice) }),
    fault,
    options: optionList(options, fields.expiry),
  });
}
