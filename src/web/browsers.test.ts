import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { assetRoutes, type IslandName, islandPath } from './assets.ts';
import { type Browser, oldestForCustomers, oldestForUsers, type Versions } from './browsers.ts';

const app = fastify();
assetRoutes(app);
after(() => app.close());

type Feature = { used: RegExp } & Record<Exclude<Browser, 'Edge'>, number>;
const feature = (used: RegExp, Chrome: number, Firefox: number, Safari: number): Feature => ({
  ...{ used, Chrome, Firefox, Safari },
});

/** Without these a page looks plainer and works. */
const enhancements = /text-wrap: |@view-transition|field-sizing|::details-content|accent-color/;

/** Since when browsers have what pages use, and what somebody might use next. Edge is as Chrome. */
const styles: Record<string, Feature> = {
  ':has()': feature(/:has\(/, 105, 121, 15.4),
  'oklch()': feature(/oklch\(/, 111, 113, 15.4),
  'color-mix()': feature(/color-mix\(/, 111, 113, 16.2),
  svh: feature(/\dsvh/, 108, 101, 15.4),
  popover: feature(/:popover-open|\[popover\]/, 114, 125, 17),
  '@layer': feature(/@layer/, 99, 97, 15.4),
  '@container': feature(/@container/, 105, 110, 16),
  nesting: feature(/^\s*&/m, 120, 117, 17.2),
  'relative colours': feature(/\(from /, 119, 128, 16.4),
  '@property': feature(/@property/, 85, 128, 16.4),
  'light-dark()': feature(/light-dark\(/, 123, 120, 17.5),
  '@starting-style': feature(/@starting-style/, 117, 129, 17.5),
  '@scope': feature(/@scope/, 118, 146, 17.4),
  'anchor positions': feature(/anchor\(|position-area/, 125, 147, 26),
};
const scripts: Record<string, Feature> = {
  'Array.findLast': feature(/\.findLast\b/, 97, 104, 15.4),
  'AbortSignal.timeout': feature(/AbortSignal\.timeout/, 103, 100, 16),
  'Object.hasOwn': feature(/Object\.hasOwn\b/, 93, 92, 15.4),
  'Array.toSorted': feature(/\.to(?:Sorted|Reversed|Spliced)\b/, 110, 115, 16),
  'AbortSignal.any': feature(/AbortSignal\.any/, 116, 124, 17.4),
  'URL.canParse': feature(/\.canParse\b/, 120, 115, 17),
  checkVisibility: feature(/\.checkVisibility\b/, 105, 106, 17.4),
  groupBy: feature(/\.groupBy\b/, 117, 119, 17.4),
  'Promise.withResolvers': feature(/\.withResolvers\b/, 119, 121, 17.4),
  'Array.fromAsync': feature(/\.fromAsync\b/, 121, 115, 16.4),
  popovers: feature(/\.(?:show|hide|toggle)Popover\b/, 114, 125, 17),
  'URL.parse': feature(/URL\.parse\b/, 126, 126, 18),
  'Promise.try': feature(/Promise\.try\b/, 128, 134, 18.2),
  startViewTransition: feature(/\.startViewTransition\b/, 111, 144, 18),
};

/** The features of a text that these browsers lack. */
const lacking = (text: string, features: Record<string, Feature>, oldest: Versions): string[] =>
  Object.entries(features).flatMap(([name, { used, ...since }]) =>
    used.test(text) && Object.entries(since).some(([browser, version]) => version > oldest[browser as Browser])
      ? [name]
      : [],
  );

const readStyle = (name: string) =>
  readFileSync(new URL(`../ui/${name}.css`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => !enhancements.test(line))
    .join('\n');

/** The built script of an island, with the parts that it imports. */
async function built(path: string, seen = new Set<string>()): Promise<string> {
  if (seen.has(path)) return '';
  seen.add(path);
  const { statusCode, body } = await app.inject(path);
  assert.equal(statusCode, 200, path);
  const parts = [...body.matchAll(/"\.\/(part-\w+\.js)"/g)].map(([, name]) => built(`/assets/${name}`, seen));
  return [body, ...(await Promise.all(parts))].join('\n');
}

const ofCustomers: IslandName[] = ['pay', 'plan', 'receipt', 'onboard'];
const ofUsers: IslandName[] = ['app', 'cashier', 'refund', 'passkey', 'reference'];

test('pages of customers use nothing that the oldest browsers named for them lack', async () => {
  assert.deepEqual(lacking(readStyle('style'), styles, oldestForCustomers), []);
  for (const name of ofCustomers) {
    const script = await built(islandPath(name));
    assert.ok(script.length > 300, name);
    assert.deepEqual(lacking(script, scripts, oldestForCustomers), [], name);
  }
});

test('pages behind a sign-in use nothing that the oldest browsers named for them lack', async () => {
  assert.deepEqual(lacking(readStyle('shell'), styles, oldestForUsers), []);
  for (const name of ofUsers)
    assert.deepEqual(lacking(await built(islandPath(name)), scripts, oldestForUsers), [], name);
});

test('what the oldest browsers are said to lack is found where it is used', () => {
  assert.deepEqual(lacking(readStyle('shell'), styles, oldestForCustomers), ['popover']);
  assert.deepEqual(lacking('x.checkVisibility()', scripts, oldestForUsers), ['checkVisibility']);
  const older = { ...oldestForCustomers, Firefox: oldestForCustomers.Firefox - 1 };
  assert.deepEqual(lacking(readStyle('style'), styles, older), [':has()'], 'no version is named that is not needed');
});
