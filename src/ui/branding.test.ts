import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { contrast, parseHex } from '../lib/text/color.ts';
import { accentStyle, logoOf } from './branding.ts';

/** The paper and card colours of style.css as a screen shows them. */
const grounds = { light: ['#fbfaf8', '#ffffff'], dark: ['#111419', '#191d24'] };

const anyHex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const pattern =
  /^:root\{--accent:(#[0-9a-f]{6});--on-accent:(#[0-9a-f]{6})\}@media screen and \(prefers-color-scheme:dark\)\{:root\{--accent:(#[0-9a-f]{6});--on-accent:(#[0-9a-f]{6})\}\}$/;

test('accentStyle › any colour is readable in light and in dark mode, and so is text on it', () => {
  fc.assert(
    fc.property(anyHex, (wanted) => {
      const [, light = '', onLight = '', dark = '', onDark = ''] = pattern.exec(accentStyle(wanted)) ?? [];
      for (const ground of [...grounds.light, onLight]) assert.ok(contrast(light, ground) >= 4.5, `${light} ${ground}`);
      for (const ground of [...grounds.dark, onDark]) assert.ok(contrast(dark, ground) >= 4.5, `${dark} ${ground}`);
    }),
    { numRuns: 500, examples: [['#000000'], ['#ffffff'], ['#ffff00'], ['#0000ff'], ['#777777']] },
  );
});

test('accentStyle › keeps a colour that can be read, and takes no text that is no colour', () => {
  assert.match(accentStyle('#005f9e'), /^:root\{--accent:#005f9e;--on-accent:#ffffff\}/);
  assert.equal(parseHex('#fff}body{display:none'), null);
});

test('logoOf › a picture with the partner’s name, escaped; nothing without a logo', () => {
  const branding = { name: 'Tills "& Co"', logoPath: '/logo/tills?v=0123456789abcdef', accentStyle: null };
  assert.equal(
    logoOf(branding)?.text,
    '<img class="logo" src="/logo/tills?v=0123456789abcdef" alt="Tills &quot;&amp; Co&quot;" height="40">',
  );
  assert.equal(logoOf({ ...branding, logoPath: null }), null);
});
