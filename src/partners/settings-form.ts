import { isOneAddress } from '../lib/text/email.ts';
import { type Html, html } from '../lib/text/html.ts';
import { type PortalTexts, portalTexts } from '../texts/portal.ts';
import { field, optionList, selectField } from '../ui/components.ts';
import { currencyLabel, formatDuration } from '../ui/formats.ts';
import type { Words } from '../ui/language.ts';
import { isUntouched, shownFields, shownIn } from '../web/shown.ts';
import { expiryMinutes, isPartnerName, maxPartnerName } from './rules.ts';
import type { Settings } from './store.ts';

export type SettingsFaults = Partial<Record<keyof PortalTexts['settings']['faults'], true>>;

/**
 * What was entered in the fields.
 *
 * @param typed a field as text, empty when it was not sent; `ticked` has all values of ticked boxes
 */
export function readSettings(typed: (name: string) => string, ticked: (name: string) => string[]): Settings {
  return {
    name: typed('name'),
    currency: typed('currency'),
    allowed_expiry_minutes: expiryMinutes.filter((minutes) => ticked('expiry').includes(String(minutes))),
    default_expiry_minutes: Number(typed('default_expiry')),
    email: typed('email') || null,
  };
}

/** What the fields held when the form was opened; undefined where a form that was sent does not say. */
export type ShownSettings = Record<keyof ReturnType<typeof shownSettings>, string | undefined>;

/** The settings as the fields of the form hold them. */
export const shownSettings = (settings: Settings) => ({
  name: settings.name,
  currency: settings.currency,
  expiry: settings.allowed_expiry_minutes.join(),
  default_expiry: String(settings.default_expiry_minutes),
  email: settings.email ?? '',
});

/** What a form that was sent had shown. */
export const readShown = (ticked: (name: string) => string[]): ShownSettings =>
  shownIn(['name', 'currency', 'expiry', 'default_expiry', 'email'], (name) => ticked(name)[0]);

/**
 * The settings that the sender of a form has changed. The expiry times belong together: the default is one of those
 * allowed.
 */
export function changedSettings(shown: ShownSettings, wanted: Settings): Partial<Settings> {
  const typed = shownSettings(wanted);
  const isChanged = (field: keyof ShownSettings) => !isUntouched(shown[field], typed[field]);
  return {
    ...(isChanged('name') && { name: wanted.name }),
    ...(isChanged('currency') && { currency: wanted.currency }),
    ...(isChanged('email') && { email: wanted.email }),
    ...((isChanged('expiry') || isChanged('default_expiry')) && {
      allowed_expiry_minutes: wanted.allowed_expiry_minutes,
      default_expiry_minutes: wanted.default_expiry_minutes,
    }),
  };
}

/**
 * Which fields hold what cannot be saved.
 *
 * @param codes the currencies that have a rate
 */
export function settingsFaults(wanted: Settings, codes: string[]): SettingsFaults {
  const { name, currency, email, allowed_expiry_minutes: allowed, default_expiry_minutes: standard } = wanted;
  return {
    ...(!isPartnerName(name) && { name: true }),
    ...(!codes.includes(currency) && { currency: true }),
    ...(allowed.length === 0 && { expiry: true }),
    ...(allowed.length > 0 && !allowed.includes(standard) && { default_expiry: true }),
    ...(email !== null && !isOneAddress(email) && { email: true }),
  };
}

/**
 * The fields, with what is wrong beside each.
 *
 * @param first what they held when the form was opened; null in the form for a new partner
 */
export function settingsFields(
  words: Words,
  shown: Settings,
  codes: string[],
  faults: SettingsFaults,
  first: ShownSettings | null,
): Html {
  const { settings } = portalTexts(words);
  const fault = (name: keyof SettingsFaults) => (faults[name] ? settings.faults[name] : undefined);
  const duration = (minutes: number) => formatDuration(words, minutes);
  const boxes = expiryMinutes.map(
    (minutes) =>
      html`
        <label class="check">
          <input
            type="checkbox"
            name="expiry"
            value="${minutes}"${shown.allowed_expiry_minutes.includes(minutes) && html` checked`}
          >
          <span>${duration(minutes)}</span>
        </label>
      `,
  );
  // A currency that has lost its rate is not silently replaced.
  const currencies = [...new Set([...codes, shown.currency])].filter(Boolean).sort();
  return html`
    ${first && shownFields(first)}
    ${field({
      name: 'name',
      label: settings.name,
      hint: settings.nameRest,
      value: shown.name,
      fault: fault('name'),
      attributes: `required maxlength="${maxPartnerName}"`,
    })}
    ${selectField({
      name: 'currency',
      label: settings.currency,
      hint: settings.currencyRest,
      fault: fault('currency'),
      options: optionList(
        currencies.map((code) => [code, currencyLabel(words, code)]),
        shown.currency,
      ),
    })}
    <fieldset class="boxes">
      <legend>${settings.expiry}</legend>
      <p class="quiet">${settings.expiryRest}</p>
      ${boxes}
      ${faults.expiry && html`<p class="fault" role="alert">${settings.faults.expiry}</p>`}
    </fieldset>
    ${selectField({
      name: 'default_expiry',
      label: settings.defaultExpiry,
      fault: fault('default_expiry'),
      options: optionList(
        expiryMinutes.map((minutes) => [String(minutes), duration(minutes)]),
        String(shown.default_expiry_minutes),
      ),
    })}
    ${field({
      name: 'email',
      label: settings.email,
      hint: settings.emailRest,
      value: shown.email,
      fault: fault('email'),
      attributes: 'type="email" maxlength="254" autocomplete="off"',
    })}
  `;
}
