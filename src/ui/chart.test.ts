import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFiat } from '../lib/money.ts';
import { chart } from './chart.ts';
import { wordsOf } from './language.ts';

const format = (value: number) => `${value} EUR`;

test('a chart › each column names its values, and a table beside it has the same figures', () => {
  const bars = [
    { label: '1 May', values: [120, 7] },
    { label: '2 <May>', values: [0, 3] },
  ];
  const { text } = chart(wordsOf('en'), { title: 'Paid', series: ['Shop', 'Web'], bars, format });
  assert.ok(text.includes('aria-label="1 May: Shop 120 EUR, Web 7 EUR"'));
  assert.ok(text.includes('2 &lt;May&gt;') && !text.includes('<May>'));
  assert.equal(text.match(/<tr>/g)?.length, 3);
  assert.match(text, /<caption[^>]*>Paid<\/caption>/);
  assert.doesNotMatch(text, /<th[^>]*>\s*<\/th>/, 'no heading without a name');
  assert.ok(text.includes('200 EUR'), 'the axis ends at a round figure above the highest');
});

test('a chart › leaves room for the longest figure of its scale', () => {
  const { text } = chart(wordsOf('en'), {
    title: 'Paid',
    series: ['Shop'],
    bars: [{ label: 'x', values: [40] }],
    format: (value) => `KWD 123,456,${value}.000`,
  });
  const grid = Number(/<line x1="([\d.]+)"/.exec(text)?.[1]);
  assert.ok(grid > 'KWD 123,456,25.000'.length * 7, `the lines begin at ${grid}`);
});

test('a chart › the lines of its scale are where their labels say, also for the smallest amounts', () => {
  const format = (value: number) => formatFiat(BigInt(Math.round(value)), 'JPY', 'en');
  for (const [most, scale] of [
    [1, ['¥0', '¥1']],
    [2, ['¥0', '¥1', '¥2']],
    [5, ['¥0', '¥5']],
    [7, ['¥0', '¥5', '¥10']],
    [45, ['¥0', '¥25', '¥50']],
  ] as const) {
    const { text } = chart(wordsOf('en'), {
      title: 'Paid',
      series: ['Shop'],
      bars: [{ label: 'x', values: [most] }],
      format,
    });
    const labels = [...text.matchAll(/<text class="scale"[^>]*>([^<]*)</g)].map(([, label]) => label);
    assert.deepEqual(labels, scale);
    const lines = [...text.matchAll(/y1="([\d.]+)"/g)].map(([, y]) => Number(y));
    const [bottom = 0, top = 0] = [lines[0], lines.at(-1)];
    for (const [i, label] of labels.entries()) {
      const part = Number(label?.slice(1)) / Number(labels.at(-1)?.slice(1));
      assert.ok(Math.abs((lines[i] ?? 0) - (bottom - part * (bottom - top))) < 0.01, label);
    }
  }
});

test('a chart without values, or without columns → still drawn', () => {
  for (const bars of [[], [{ label: 'x', values: [0] }]]) {
    const { text } = chart(wordsOf('en'), { title: 'Paid', series: ['Shop'], bars, format });
    assert.ok(text.includes('<svg') && !text.includes('NaN'));
  }
});
