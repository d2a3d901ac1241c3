import { readFileSync } from 'node:fs';
import { accentFor, fromOklch } from '../lib/text/color.ts';
import { type Html, html } from '../lib/text/html.ts';

/** The name on pages that belong to no partner. */
export const houseName = 'Quittance';

/** A partner's branding, prepared for a page. */
export type Branding = {
  name: string;
  /** The path of its logo on this site; null without one. */
  logoPath: string | null;
  /** A style sheet with its accent colour for light and dark mode; null for ours. */
  accentStyle: string | null;
};

/**
 * The backgrounds on which an accent must be readable: the paper and the cards of a style sheet's light or dark half.
 */
function groundsOf(half: string): string[] {
  const tokens = [...half.matchAll(/--(?:paper|card): oklch\(([\d.]+)% ([\d.]+) ([\d.]+)\);/g)];
  if (tokens.length !== 2)
    throw new Error('style.css does not say --paper and --card once for light and once for dark.');
  return tokens.map(([, l, c, h]) => fromOklch({ l: Number(l) / 100, c: Number(c), h: Number(h) }));
}

const [light = '', dark = ''] = readFileSync(new URL('./style.css', import.meta.url), 'utf8').split(
  '@media screen and (prefers-color-scheme: dark)',
);
const lightGrounds = groundsOf(light);
const darkGrounds = groundsOf(dark);

/**
 * A partner's accent, `#rrggbb`, readable on light paper, and the colour of text on it: for mails, which have no style
 * sheet.
 */
export function lightAccent(wanted: string): { accent: string; onAccent: string } {
  return accentFor(lightGrounds, wanted);
}

/** As `lightAccent`, for dark pages. */
export function darkAccent(wanted: string): { accent: string; onAccent: string } {
  return accentFor(darkGrounds, wanted);
}

/** A style sheet that replaces our accent with a partner's, `#rrggbb`: readable in light and dark mode. */
export function accentStyle(wanted: string): string {
  const root = (grounds: string[]) => {
    const { accent, onAccent } = accentFor(grounds, wanted);
    return `:root{--accent:${accent};--on-accent:${onAccent}}`;
  };
  return `${root(lightGrounds)}@media screen and (prefers-color-scheme:dark){${root(darkGrounds)}}`;
}

/** A partner's logo; null if it has none. */
export function logoOf(branding: Branding): Html | null {
  return branding.logoPath === null
    ? null
    : html`<img class="logo" src="${branding.logoPath}" alt="${branding.name}" height="40">`;
}
