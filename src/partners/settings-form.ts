import { isOneAddress } from '../lib/text/email.ts';
import { type Html, html } from '../lib/text/html.ts';
import { type PortalTexts, portalTexts } from '../texts/portal.ts';
import { field, optionList, selectField } from '../ui/components.ts';
import { currencyLabel, formatDuration } from '../ui/formats.ts';
import type { Words } from '../ui/language.ts';
import { expiryMinutes, isPartnerName, maxPartnerName } from './rules.ts';
import type { Partner } from './store.ts';

/** The settings that a partner's users and operators edit with the same fields. */
export type SettingsForm = Pick<
  Partner,
  'name' | 'currency' | 'allowed_expiry_minutes' | 'default_expiry_minutes' | 'email'
>;
export type SettingsFaults = Partial<Record<keyof PortalTexts['settings']['faults'], true>>;

/**
 * What was entered in the fields.
 *
 * @param typed a field as text, empty when it was not sent; `ticked` has all values of ticked boxes
 */
export function readSettings(typed: (name: string) => string, ticked: (name: string) => string[]): SettingsForm {
  return {
    name: typed('name'),
    currency: typed('currency'),
    allowed_expiry_minutes: expiryMinutes.filter((minutes) => ticked('expiry').includes(String(minutes))),
    default_expiry_minutes: Number(typed('default_expiry')),
    email: typed('email') || null,
  };
}

/**
 * Which fields hold what cannot be saved.
 *
 * @param codes the currencies that have a rate
 */
export function settingsFaults(wanted: SettingsForm, codes: string[]): SettingsFaults {
  const { name, currency, email, allowed_expiry_minutes: allowed, default_expiry_minutes: standard } = wanted;
  return {
    ...(!isPartnerName(name) && { name: true }),
    ...(!codes.includes(currency) && { currency: true }),
    ...(allowed.length === 0 && { expiry: true }),
    ...(allowed.length > 0 && !allowed.includes(standard) && { default_expiry: true }),
    ...(email !== null && !isOneAddress(email) && { email: true }),
  };
}

/** The fields, with what is wrong beside each. */
export function settingsFields(words: Words, shown: SettingsForm, codes: string[], faults: SettingsFaults): Html {
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
