import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { displayStatuses } from '../src/dashboard/home/display-status.ts';
import { alarmKinds } from '../src/db/alarm-kinds.ts';
import { portalStatuses } from '../src/requests/lists/browse.ts';
import { chargesTexts } from '../src/texts/charges.ts';
import { dashboardTexts } from '../src/texts/dashboard.ts';
import { portalTexts } from '../src/texts/portal.ts';
import { wordsOf } from '../src/ui/language.ts';
import { newSecret, signedHeaders } from '../src/webhooks/sign.ts';

const root = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })];
const files = globSync('{src,test,bench,ops,docs,bin,contracts,migrations}/**/*', { cwd: root });
const ofNamed = (pattern: RegExp) =>
  documents.flatMap((document) => [...read(document).matchAll(pattern)].map(([, name = '']) => ({ document, name })));

test('a path that a document names → it exists', () => {
  const paths = ofNamed(/`((?:src|test|bench|ops|docs|bin|contracts|migrations)\/[\w./-]+)`/g);
  assert.ok(paths.length > 100);
  assert.deepEqual(
    paths.filter(({ name }) => !files.includes(name.replace(/\/$/, ''))),
    [],
  );
});

test('a file of src that a document names by its folder → it exists', () => {
  const paths = ofNamed(/`((?!(?:src|test|bench|ops|docs|bin|contracts|migrations)\/)[a-z]+\/[\w./-]+\.ts)`/g);
  assert.ok(paths.length > 30);
  assert.deepEqual(
    paths.filter(({ name }) => !files.includes(join('src', name))),
    [],
  );
});

test('an alarm → the table of docs/operating.md says when it is raised', () => {
  const named = [...read('docs/operating.md').matchAll(/^\| (`.+?) \|/gm)].map(([, first]) => first).join('\n');
  const missing = alarmKinds.filter((kind) => kind !== 'other' && !new RegExp(`\`${kind}[:\`]`).test(named));
  assert.deepEqual(missing, []);
});

test('a header that an event is signed with → docs/webhooks.md names it', () => {
  const sent = signedHeaders({ deliveryId: 'x', event: 'x', body: '{}' }, newSecret(), null, new Date());
  const headers = Object.keys(sent).filter((name) => /^(x-service|webhook)-/.test(name));
  assert.ok(headers.length > 5);
  const explained = read('docs/webhooks.md');
  assert.deepEqual(
    headers.filter((name) => !explained.includes(`${name}: `) && !explained.includes(`\`${name}\``)),
    [],
  );
});

test('tests that a document names → there are such tests', () => {
  const tests = files.filter((file) => file.endsWith('.test.ts'));
  const named = ofNamed(/`npm test -- ([\w/. -]+)`/g).flatMap(({ document, name }) =>
    name.split(' ').map((part) => ({ document, name: part })),
  );
  assert.ok(named.length > 10);
  assert.deepEqual(
    named.filter(({ name }) => !tests.some((file) => file.includes(name))),
    [],
  );
});

test('a chain of files in a document → each that names no folder is in the folder of the path before it', () => {
  const chains = documents.flatMap((document) => [
    ...read(document).matchAll(/`src\/[\w./-]+\.ts`(?:\s→\s`[\w./-]+`)+/g),
  ]);
  assert.ok(chains.length > 3);
  const missing = chains.flatMap(([chain]) => {
    let folder = '';
    return [...chain.matchAll(/`([\w./-]+\.ts)`/g)].flatMap(([, name = '']) => {
      if (name.startsWith('src/')) folder = dirname(name);
      return files.includes(name.startsWith('src/') ? name : join(folder, name)) ? [] : [chain];
    });
  });
  assert.deepEqual(missing, []);
});

test('a word that a column of an export may hold → the document on exports says what it means', () => {
  const explained = [...read('docs/exports.md').matchAll(/^\| (`.+?) \|.* \|$/gm)].join('\n');
  const reasons = Object.keys(dashboardTexts(wordsOf('en')).reason);
  assert.ok(reasons.length > 10);
  const collectionStates = Object.keys(chargesTexts(wordsOf('en')).states);
  const missing = [...displayStatuses, ...portalStatuses, ...reasons, ...collectionStates].filter(
    (word) => !explained.includes(`\`${word}\``),
  );
  assert.deepEqual(missing, []);
});

test('a reason why a delivery attempt failed → the document on webhooks says what it means, and the way out', () => {
  const explained = [...read('docs/webhooks.md').matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, word]) => word);
  const { other: _, ...failures } = portalTexts(wordsOf('en')).request.failures;
  assert.deepEqual(explained.toSorted(), Object.keys(failures).toSorted());
});
