import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accentFor, contrast, fromOklch, parseHex, readableContrast, toOklch } from './color.ts';

const anyHex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('parseHex › short and long, any case, with or without #; nothing else', () => {
  for (const text of ['#0a7', '0A7', '#00aa77', '00AA77']) assert.equal(parseHex(text), '#00aa77');
  for (const text of ['', '#', '#0a', '#00aa7', '#00aa777', 'green', '#00aa7g', ' #0a7', '#0a7\n', 'rgb(0,1,2)']) {
    assert.equal(parseHex(text), null, JSON.stringify(text));
  }
});

test('contrast › has the ratios that WCAG gives, either way round', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  assert.equal(contrast('#123456', '#123456'), 1);
  assert.equal(contrast('#777777', '#ffffff').toFixed(2), '4.48');
  assert.equal(contrast('#ffffff', '#767676').toFixed(2), '4.54');
  assert.equal(contrast('#ff0000', '#ffffff').toFixed(2), '4.00');
});

test('toOklch › gives the published coordinates of the primaries', () => {
  const published: [string, number, number, number][] = [
    ['#ff0000', 0.628, 0.2577, 29.23],
    ['#00ff00', 0.8664, 0.2948, 142.5],
    ['#0000ff', 0.452, 0.3132, 264.05],
  ];
  for (const [hex, l, c, h] of published) {
    const color = toOklch(hex);
    assert.ok(Math.abs(color.l - l) < 5e-4 && Math.abs(color.c - c) < 5e-4 && Math.abs(color.h - h) < 0.05, hex);
  }
});

test('OKLCH › any colour comes back as it was', () => {
  fc.assert(
    fc.property(anyHex, (hex) => fromOklch(toOklch(hex)) === hex),
    { numRuns: 2000 },
  );
});

test('fromOklch › a colour that a screen cannot show keeps its lightness and hue', () => {
  const asked = { l: 0.6, c: 0.4, h: 150 };
  const shown = toOklch(fromOklch(asked));
  assert.ok(Math.abs(shown.l - asked.l) < 0.01 && Math.abs(shown.h - asked.h) < 2, JSON.stringify(shown));
  assert.ok(shown.c > 0.1 && shown.c < asked.c);
});

test('accentFor › any colour becomes readable on any pair of light or of dark grounds, and so does text on it', () => {
  const grey = (from: number, to: number) =>
    fc.integer({ min: from, max: to }).map((value) => `#${value.toString(16).padStart(2, '0').repeat(3)}`);
  const grounds = fc.oneof(fc.tuple(grey(190, 255), grey(190, 255)), fc.tuple(grey(0, 64), grey(0, 64)));
  fc.assert(
    fc.property(grounds, anyHex, (pair, wanted) => {
      const { accent, onAccent } = accentFor(pair, wanted);
      for (const ground of pair) assert.ok(contrast(accent, ground) >= readableContrast, `${accent} on ${ground}`);
      assert.ok(contrast(onAccent, accent) >= readableContrast, `${onAccent} on ${accent}`);
    }),
    { numRuns: 1000 },
  );
});

test('accentFor › a readable accent stays as it is; another moves no further than it must and keeps its hue', () => {
  assert.equal(accentFor(['#ffffff', '#fafafa'], '#005f9e').accent, '#005f9e');
  const { accent } = accentFor(['#ffffff'], '#ff9900');
  assert.ok(contrast(accent, '#ffffff') < 4.7, accent);
  assert.ok(Math.abs(toOklch(accent).h - toOklch('#ff9900').h) < 3, accent);
  assert.throws(() => accentFor(['#ffffff', '#000000', '#767676'], '#ff9900'), /can be read/);
});
