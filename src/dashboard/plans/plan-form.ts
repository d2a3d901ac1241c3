import type { Context } from '../../context.ts';
import { type Html, html, raw } from '../../lib/text/html.ts';
import { unitName } from '../../lib/text/unit-name.ts';
import { isAmountFault, longest, type PlanFaults, type PlanField } from '../../plans/form.ts';
import { chargesLimit, type Day, periods, yearAfter } from '../../plans/rules.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { field, hiddenField, isWrong, optionList, selectField } from '../../ui/components.ts';
import { fill, isLanguage, type Language, languageName, languages } from '../../ui/language.ts';
import { dateText } from '../../web/plan-words.ts';
import { exampleOf, formKey, requestFaultText } from '../home/new-request.ts';
import type { MerchantVisit } from '../route.ts';
import { collectionFields, noAutomatic } from './collection-fields.ts';

/**
 * The form of a new plan, with the input and its faults.
 *
 * @param form `today`: the first day on which it can begin
 */
export function planForm(
  ctx: Context,
  visit: MerchantVisit,
  form: { action: string; faults: PlanFaults; today: Day },
): Html {
  const { fields, merchant, words } = visit;
  const { action, faults, today } = form;
  const { newRequest, plans: t } = dashboardTexts(words);
  const currency = merchant.display_currency;
  const example = exampleOf(words, currency);
  const say = (name: PlanField) => faultText(visit, faults[name], today);
  return html`
    <form method="post" action="${action}">
      ${hiddenField('key', fields.key ?? formKey())}
      ${hiddenField('currency', currency)}
      ${field({
        name: 'name',
        label: t.what,
        hint: t.whatHint,
        value: fields.name ?? '',
        fault: say('name'),
        attributes: `required maxlength="${longest.name}" autocomplete="off"`,
      })}
      ${field({
        name: 'amount',
        label: fill(newRequest.amount, { currency }),
        hint: fill(newRequest.amountHint, { example }),
        value: fields.amount ?? '',
        fault: say('amount'),
        attributes: 'required inputmode="decimal" autocomplete="off" maxlength="16"',
      })}
      ${rhythm(visit, say('every'))}
      ${field({
        name: 'first_on',
        label: t.from,
        hint: fill(t.fromHint, { from: dateText(words, today), to: dateText(words, yearAfter(today)) }),
        value: fields.first_on ?? today,
        fault: say('first_on'),
        attributes: `required type="date" min="${today}" max="${yearAfter(today)}"`,
      })}
      ${endChoice(visit, say('charges'))}
      ${collectionFields(words, currency, fields, faults, noAutomatic(ctx, visit))}
      ${field({
        name: 'customer_name',
        label: newRequest.customer,
        value: fields.customer_name ?? '',
        fault: say('customer_name'),
        attributes: `required maxlength="${longest.customer_name}" autocomplete="off"`,
      })}
      ${field({
        name: 'customer_email',
        label: t.email,
        hint: t.emailHint,
        value: fields.customer_email ?? '',
        fault: say('customer_email'),
        attributes: `type="email" maxlength="${longest.customer_email}" autocomplete="off"`,
      })}
      ${languageChoice(visit)}
      ${field({
        name: 'customer_phone',
        label: t.phone,
        value: fields.customer_phone ?? '',
        fault: say('customer_phone'),
        attributes: `type="tel" maxlength="${longest.customer_phone}" autocomplete="off"`,
      })}
      ${field({
        name: 'metadata',
        label: t.metadata,
        hint: fill(t.metadataHint, { partner: merchant.partner_name }),
        value: fields.metadata ?? '',
        fault: say('metadata'),
        rows: 3,
        attributes: 'spellcheck="false"',
      })}
      <button name="step" value="review">${t.look}</button>
    </form>
  `;
}

function faultText(visit: MerchantVisit, fault: PlanFaults[PlanField], today: Day): string | undefined {
  const { words } = visit;
  if (fault === undefined) return undefined;
  if (fault === 'cap' || fault === 'reserve') return undefined; // shown beside their own fields
  if (isAmountFault(fault)) return requestFaultText(words, visit, fault);
  const limits = { from: dateText(words, today), to: dateText(words, yearAfter(today)), max: chargesLimit };
  return fill(dashboardTexts(words).plans.faults[fault], limits);
}

/** The fields for the rhythm: a number and a period. */
function rhythm({ words, fields }: MerchantVisit, fault: string | undefined): Html {
  const { plans } = dashboardTexts(words);
  const described = `every-hint${fault === undefined ? '' : ' every-fault'}`;
  const invalid = fault !== undefined && isWrong;
  const { every = '1' } = fields;
  const count = /^\d+$/.test(every) ? Number(every) : 1;
  return html`
    <fieldset class="field boxes">
      <legend>${plans.often}</legend>
      <p class="quiet" id="every-hint">${plans.oftenHint}</p>
      <div class="pair">
        <input
          id="every"
          name="every"
          value="${every}"
          data-counts="period"
          aria-label="${plans.oftenCount}"
          aria-describedby="${described}"${invalid}
          required
          inputmode="numeric"
          maxlength="3"
          autocomplete="off"
        >
        <select id="period" name="period" aria-label="${plans.oftenPeriod}" aria-describedby="${described}">
          ${optionList(
            periods.map((one) => [one, unitName(words.language, one, count)]),
            fields.period ?? 'month',
          )}
        </select>
      </div>
      ${fault !== undefined && html`<p class="fault" id="every-fault">${fault}</p>`}
    </fieldset>
  `;
}

function endChoice({ words, fields }: MerchantVisit, fault: string | undefined): Html {
  const { plans } = dashboardTexts(words);
  const kinds = [
    ['never', plans.never],
    ['after', plans.after],
  ] as const;
  const chosen = fields.ends === 'after' ? 'after' : 'never';
  return html`
    <fieldset class="choice">
      <legend>${plans.long}</legend>
      ${kinds.map(
        ([value, name]) =>
          html`
            <label>
              <input type="radio" name="ends" value="${value}"${value === chosen && raw(' checked')}>
              <span>${name}</span>
            </label>
          `,
      )}
    </fieldset>
    ${field({
      name: 'charges',
      label: plans.chargesField,
      hint: fill(plans.chargesHint, { max: chargesLimit }),
      value: fields.charges ?? '',
      fault,
      attributes: 'inputmode="numeric" maxlength="3" autocomplete="off"',
    })}
  `;
}

function languageChoice(visit: MerchantVisit): Html {
  const { plans } = dashboardTexts(visit.words);
  const chosen = languageIn(visit);
  const options = languages.map(
    (one) =>
      html`<option value="${one}" lang="${one}"${one === chosen && html` selected`}>${languageName(one)}</option>`,
  );
  return selectField({ name: 'language', label: plans.language, options });
}

/** The language of mails to the customer: as chosen, otherwise the merchant's own. */
export function languageIn({ fields, words }: MerchantVisit): Language {
  return isLanguage(fields.language) ? fields.language : words.language;
}
