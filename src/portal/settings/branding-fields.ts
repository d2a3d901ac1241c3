import { parseHex } from '../../lib/text/color.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { houseAccent } from '../../partners/branding.ts';
import { logoPath } from '../../partners/logo.ts';
import type { SettingsFaults } from '../../partners/settings-form.ts';
import type { Partner } from '../../partners/store.ts';
import { portalTexts } from '../../texts/portal.ts';
import { darkAccent, lightAccent } from '../../ui/branding.ts';
import { field } from '../../ui/components.ts';
import { fill, type Words } from '../../ui/language.ts';
import { shownFields } from '../../web/shown.ts';

/** The initial colour of the picker, which always has one. */
const pickerColor = ({ accent }: Pick<Partner, 'accent'>): string => parseHex(accent ?? '') ?? houseAccent;

/**
 * The accent that a form asks for. A picker always sends a colour, so its colour counts only if it was changed and the
 * text was not.
 *
 * @param shown the text with which the form was shown: after a fault, not what is stored
 */
export function chosenAccent(shown: string, text: string, picked: string | undefined): string {
  const color = parseHex(picked ?? '');
  const isMoved = color !== null && color !== pickerColor({ accent: shown });
  return isMoved && text === shown ? color : text;
}

/** The fields for accent and logo, each with a preview. */
export function brandingFields(words: Words, shown: Partner, faults: SettingsFaults): Html {
  const { settings } = portalTexts(words);
  const logo = logoPath(shown);
  const fault = (name: keyof SettingsFaults) => (faults[name] ? settings.faults[name] : undefined);
  return html`
    ${shownFields({ accent: shown.accent ?? '', accent_picked: pickerColor(shown) })}
    ${field({
      name: 'accent',
      label: settings.accent,
      hint: settings.accentRest,
      value: shown.accent,
      fault: fault('accent'),
      attributes: 'maxlength="7" autocomplete="off" spellcheck="false" placeholder="#0a7"',
    })}
    ${field({
      name: 'accent_picked',
      label: settings.pick,
      value: pickerColor(shown),
      attributes: 'type="color" data-picks="accent"',
    })}
    ${swatches(words, pickerColor(shown))}
    ${logo && html`<p><img class="logo" src="${logo}" alt="${settings.logo}" height="40"></p>`}
    ${field({
      name: 'logo',
      label: settings.logo,
      hint: settings.logoRest,
      fault: fault('logo'),
      attributes: 'type="file" accept="image/png,image/jpeg,image/webp" data-previews="logo-preview"',
    })}
    <p hidden><img class="logo" id="logo-preview" alt="${settings.logoPreview}" height="40"></p>
    ${
      logo &&
      html`
        <label class="check">
          <input type="checkbox" name="no_logo" value="yes">
          <span>${settings.noLogo}</span>
        </label>
      `
    }
  `;
}

/** The accent as pages show it: lighter or darker if it would not be legible. */
function swatches(words: Words, wanted: string): Html {
  const { settings } = portalTexts(words);
  const swatch = (text: string, { accent, onAccent }: { accent: string; onAccent: string }) => html`
    <p class="row">
      <svg width="72" height="32" aria-hidden="true">
        <rect width="72" height="32" rx="8" fill="${onAccent}"/>
        <rect x="4" y="4" width="64" height="24" rx="6" fill="${accent}"/>
      </svg>
      <span class="quiet">${fill(text, { color: accent })}</span>
    </p>
  `;
  return html`
    ${swatch(settings.accentLight, lightAccent(wanted))}
    ${swatch(settings.accentDark, darkAccent(wanted))}
  `;
}
