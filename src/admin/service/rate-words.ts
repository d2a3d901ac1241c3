import { type Html, html } from '../../lib/text/html.ts';
import type { RateView } from '../../rates/list.ts';
import { adminTexts } from '../../texts/admin.ts';
import { badge } from '../../ui/components.ts';
import { instant } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';

/** The state of a rate: whether it is an override, and otherwise whether it can be used. */
export function rateState(words: Words, { usable, override, override_until: until }: RateView): Html {
  const { rates: t } = adminTexts(words);
  if (!override) return usable ? badge('paid', t.usable) : badge('attention', t.tooOld);
  const time = until !== null && instant(words, new Date(until));
  const end = time && html`<p class="quiet">${fillHtml(t.overrideUntil, { time })}</p>`;
  return html`${badge('confirming', t.override)}${end}`;
}

/** The sources' rate beside an override, and how far the override is from it; null without an override. */
export function besideSources(
  words: Words,
  { override, sources_rate: sourcesRate, override_percent }: RateView,
): Html | null {
  if (!override) return null;
  const { rates: t } = adminTexts(words);
  const text =
    sourcesRate === null
      ? t.besideNone
      : fill(t.beside, { reported: sourcesRate, percent: percentText(words, override_percent ?? '0') });
  return html`<p class="quiet">${text}</p>`;
}

/** `-46` as a percentage, in the format of the reader's language. */
export function percentText({ language }: Words, percent: string | undefined): string {
  if (percent === undefined) return '';
  const format = new Intl.NumberFormat(language, { signDisplay: 'exceptZero', style: 'unit', unit: 'percent' });
  return format.format(percent as Intl.StringNumericLiteral);
}
