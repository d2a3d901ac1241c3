import type { FastifyReply } from 'fastify';
import type { Context } from '../../context.ts';
import { html } from '../../lib/text/html.ts';
import { writeNotice } from '../../mail/notice.ts';
import { detailLimits, furtherLimits } from '../../merchants/details.ts';
import { changeProfile, type ProfileFault, profileTexts, shownProfile } from '../../merchants/profile.ts';
import { countryField } from '../../onboarding/detail-fields.ts';
import { readMailBranding } from '../../partners/branding.ts';
import { listCurrencies } from '../../rates/list.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { card, field, optionList, selectField } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { currencyLabel } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import { shownFields } from '../../web/shown.ts';
import type { MerchantPages, MerchantVisit } from '../route.ts';
import { merchantActor, sendDashboard } from '../shell.ts';

const path = '/dashboard/profile';
const limits: Record<string, number> = { ...detailLimits, ...furtherLimits, email: 254 };

/** `GET` and `POST /dashboard/profile`: the merchant's details and its currency. */
export function profilePages(pages: MerchantPages, ctx: Context): void {
  pages.page({ url: path }, (visit) => showForm(ctx, visit, null));
  pages.form({ url: path }, (visit) => save(ctx, visit));
}

async function save(ctx: Context, visit: MerchantVisit): Promise<FastifyReply> {
  const { session, fields, reply, words, merchant } = visit;
  const { scope, accountId } = session;
  const { mailSubject: subject, mailBody: body } = dashboardTexts(words).profile;
  const branding = await readMailBranding(ctx, scope.partnerId);
  const notice = writeNotice({ words, branding, subject, body, values: { partner: merchant.partner_name } });
  const outcome = await changeProfile(ctx, merchantActor(visit), scope, { accountId, typed: fields, notice });
  if ('faults' in outcome) return showForm(ctx, visit, outcome.faults);
  return reply.redirect(`${path}?done=saved`, 303);
}

async function showForm(
  ctx: Context,
  visit: MerchantVisit,
  faults: Record<string, ProfileFault> | null,
): Promise<FastifyReply> {
  const { merchant, fields, words } = visit;
  const { profile: t, faults: sentences } = dashboardTexts(words);
  type Name = 'display_name' | 'business_name' | 'email' | 'phone' | 'website' | 'instagram' | 'industry';
  // After a fault the fields keep what was typed.
  const value = (name: string) => (faults ? (fields[name] ?? '') : (merchant[name as Name] ?? ''));
  const shown = faults ? shownProfile(fields) : profileTexts(merchant);
  const fault = (name: string) => {
    const kind = faults?.[name];
    return kind && fill(sentences[kind], { limit: limits[name] ?? 200 });
  };
  const text = (name: Name, label: string, autocomplete: string, hint?: string) =>
    field({
      name,
      label,
      value: value(name),
      fault: fault(name),
      attributes: `maxlength="${limits[name]}" autocomplete="${autocomplete}"${name === 'email' ? ' type="email"' : ''}`,
      ...(hint !== undefined && { hint }),
    });
  return sendDashboard(ctx, visit, {
    path,
    title: t.title,
    status: faults ? 400 : 200,
    body: html`
      <div class="narrow">
        ${card(
          html`
            <p class="quiet">${fill(t.rest, { partner: merchant.partner_name })}</p>
            ${form({
              action: path,
              inside: html`
                ${shownFields(shown)}
                ${text('business_name', t.businessName, 'organization', t.businessHint)}
                ${text('display_name', t.name, 'name')}
                ${text('email', t.email, 'email', t.emailHint)}
                ${countryField(words, faults ? (fields.country ?? '') : (merchant.country ?? ''), fault('country'))}
                ${text('phone', t.phone, 'tel')}
                ${text('website', t.website, 'url')}
                ${text('instagram', t.instagram, 'off')}
                ${text('industry', t.industry, 'off')}
                ${await currencyField(
                  ctx,
                  words,
                  visit,
                  faults ? (fields.display_currency ?? '') : merchant.display_currency,
                  fault('display_currency'),
                )}
              `,
              submit: t.save,
            })}
          `,
        )}
      </div>
    `,
  });
}

async function currencyField(
  ctx: Context,
  words: Words,
  { merchant }: MerchantVisit,
  chosen: string,
  fault: string | undefined,
) {
  const { profile: t } = dashboardTexts(words);
  const codes = [...new Set([...(await listCurrencies(ctx)), merchant.display_currency])].sort();
  return selectField({
    name: 'display_currency',
    label: t.currency,
    hint: fill(t.currencyHint, { partner: merchant.partner_name }),
    fault,
    options: optionList(
      codes.map((code) => [code, currencyLabel(words, code)]),
      chosen,
    ),
  });
}
