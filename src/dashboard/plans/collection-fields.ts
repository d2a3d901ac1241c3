import type { Context } from '../../context.ts';
import { currencyExponent, formatFiat } from '../../lib/money.ts';
import { type Html, html, raw } from '../../lib/text/html.ts';
import { type Collection, usualReserve } from '../../plans/collection-form.ts';
import type { PlanFaults, PlanField } from '../../plans/form.ts';
import { automaticChains, type NoAutomatic } from '../../plans/mandates/chains.ts';
import { capMicro } from '../../plans/mandates/terms.ts';
import { readRate } from '../../rates/read.ts';
import { mandateTexts } from '../../texts/mandates.ts';
import { field } from '../../ui/components.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, type Words } from '../../ui/language.ts';
import type { MerchantVisit } from '../route.ts';

/** Why automatic charges are not offered to this merchant; null if they are. */
export function noAutomatic(ctx: Context, { merchant }: MerchantVisit): NoAutomatic | null {
  const found = automaticChains(ctx, merchant.test_mode, merchant.wallet_chain_ids);
  return 'why' in found ? found.why : null;
}

/** The values of the fields: as typed, otherwise from the plan. */
type FieldValues = Partial<Record<PlanField, string | undefined>>;

/** The fields for how a plan's charges are paid: by link, or automatically within limits. They work without script. */
export function collectionFields(
  words: Words,
  currency: string,
  typed: FieldValues,
  faults: PlanFaults,
  why: NoAutomatic | null,
): Html {
  const { form: t } = mandateTexts(words);
  const isAutomatic = typed.collect === 'automatic' && why === null;
  const ways = [
    ['link', t.link, t.linkRest],
    ['automatic', t.automatic, why === null ? t.automaticRest : t.unavailable[why]],
  ] as const;
  return html`
    <fieldset class="choice collect">
      <legend>${t.how}</legend>
      ${ways.map(
        ([value, name, rest]) =>
          html`
            <label>
              <input
                type="radio"
                name="collect"
                value="${value}"${(value === 'automatic') === isAutomatic && raw(' checked')}
                aria-describedby="collect-${value}"${value === 'automatic' && why !== null && raw(' disabled')}
              >
              <span>${name}</span>
            </label>
            <p class="quiet" id="collect-${value}">${rest}</p>
          `,
      )}
    </fieldset>
    ${why === null && limits(words, currency, typed, faults)}
  `;
}

function limits(words: Words, currency: string, typed: FieldValues, faults: PlanFaults): Html {
  const { form: t } = mandateTexts(words);
  const say = (name: 'cap' | 'reserve') => {
    const fault = faults[name];
    return fault === undefined ? undefined : t.faults[fault === 'reserve' ? 'reserve' : 'cap'];
  };
  const pastDue = [
    ['link', t.pastDueLink],
    ['end', t.pastDueEnd],
  ] as const;
  return html`
    <div class="if-automatic">
      ${field({
        name: 'cap',
        label: fill(t.cap, { currency }),
        hint: t.capHint,
        value: typed.cap ?? '',
        fault: say('cap'),
        attributes: 'inputmode="decimal" autocomplete="off" maxlength="16"',
      })}
      ${
        currency !== 'USD' &&
        field({
          name: 'reserve',
          label: t.reserve,
          hint: t.reserveHint,
          value: typed.reserve ?? String(usualReserve(currency)),
          fault: say('reserve'),
          attributes: 'inputmode="numeric" autocomplete="off" maxlength="3"',
        })
      }
      <fieldset class="choice">
        <legend>${t.pastDue}</legend>
        ${pastDue.map(
          ([value, name]) =>
            html`
              <label>
                <input
                  type="radio"
                  name="past_due"
                  value="${value}"${value === (typed.past_due ?? 'link') && raw(' checked')}
                >
                <span>${name}</span>
              </label>
            `,
        )}
      </fieldset>
    </div>
  `;
}

/**
 * How charges are paid, as facts. The limits of automatic ones are in the plan's currency, and in USDC at the current
 * rate.
 */
export async function collectionFacts(
  ctx: Context,
  words: Words,
  collection: Collection,
  currency: string,
): Promise<[string, string][]> {
  const { form: t } = mandateTexts(words);
  if (collection.collect === 'link') return [[t.how, t.link]];
  const rate = await readRate(ctx, currency);
  const micro =
    rate === null ? t.noRate : fill(t.capMicro, { amount: groupMicro(words, capAt(collection, currency, rate)) });
  return [
    [t.how, t.automatic],
    [t.max, `${capText(words, collection, currency)} (${micro})`],
    [t.pastDue, collection.afterPastDue === 'end' ? t.pastDueEnd : t.pastDueLink],
  ];
}

/** The most per charge, in micro units. */
function capAt({ capFiatInt, reservePercent }: Collection, currency: string, rate: string): bigint {
  return capMicro(
    { fiatInt: BigInt(capFiatInt ?? 0), exponent: currencyExponent(currency) ?? 2, reservePercent },
    rate,
  );
}

/** The most per charge in fiat, with its reserve: `€9.00 and 10% reserve`. */
export function capText(
  words: Words,
  { capFiatInt, reservePercent }: Pick<Collection, 'capFiatInt' | 'reservePercent'>,
  currency: string,
): string {
  const cap = formatFiat(BigInt(capFiatInt ?? 0), currency, words.language);
  if (reservePercent === 0) return cap;
  return fill(mandateTexts(words).form.reserveOf, { cap, percent: reservePercent });
}
