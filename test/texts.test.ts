import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { patienceMs } from './support/patience.ts';
import { allTexts, type Group, isPlural } from './support/texts.ts';

/** Groups whose texts are chosen by browser code, or by a name known only when a page is rendered. */
const chosenByName = [
  'pay.wallet',
  'wallets.signing.browser',
  'onboarding.terms',
  'mandates.wallet',
  'mails.code',
  'mails.wallet',
  'wallets.refusals',
  'dashboard.done',
  'sign-in.passkey.done',
  'sign-in.passkey.mails.removed',
  'portal.request.failures',
  'portal.requests.displayStatuses',
  'portal.webhooks.done',
  'portal.webhooks.refused',
  'portal.webhooks.urlFaults',
  'portal.webhooks.displayStatuses',
  'portal.webhooks.noAnswer',
  'portal.merchants.done',
  'portal.merchants.refused',
  'portal.merchants.acts',
  'portal.team.done',
  'portal.team.restore',
  'audit.objects',
  'audit.actions',
  'audit.detailNames',
  'audit.detailValues',
  'portal.start.steps',
];

/** The paths of all texts of a group, such as `pay.statusMessage.paid`. */
const pathsOf = (group: Group, path = ''): string[] =>
  Object.entries(group).flatMap(([key, value]) =>
    typeof value === 'string' || isPlural(value) ? [path + key] : pathsOf(value, `${path}${key}.`),
  );

/** The type of a group without its texts: only nested groups, each with its own path. */
function emptied(group: Group, path: string): string {
  const groups = Object.entries(group).flatMap(([key, value]) =>
    typeof value === 'string' || isPlural(value) ? [] : `${key}: ${emptied(value, `${path}.${key}`)};`,
  );
  return `{ group: '${path}'; ${groups.join(' ')} }`;
}

/** The compiler's errors about our pages if every text is removed. */
async function complaints(): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'texts-'));
  try {
    await cp('src', join(folder, 'src'), { recursive: true, filter: (file) => !file.endsWith('.test.ts') });
    await cp('tsconfig.json', join(folder, 'tsconfig.json'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    for (const [area, texts] of Object.entries(await allTexts('en'))) {
      const file = join(folder, `src/texts/${area}.ts`);
      const source = await readFile(file, 'utf8');
      const type = 'Translated<typeof en, L>';
      assert.ok(source.includes(type));
      // An indexed type has no name, so the compiler writes out the group in which a text is missing.
      await writeFile(file, source.replace(type, `{ area: ${emptied(texts, area)} }['area']`));
    }
    return await new Promise((resolve, reject) => {
      const args = ['--noEmit', '--noErrorTruncation', '-p', folder];
      const limits = { maxBuffer: 2 ** 27, timeout: patienceMs };
      execFile('node_modules/.bin/tsc', args, limits, (error, out) => {
        // A compiler that was ended has named only a part of the texts.
        if (error?.killed) reject(error);
        else resolve(out.split('\n'));
      });
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('every text is shown somewhere', async () => {
  const used = new Set<string>();
  const names = new Set<string>();
  for (const line of await complaints()) {
    if (line.includes('src/texts/')) continue; // only checks the texts against their type
    const group = /group: "([^"]*)"/.exec(line)?.[1] ?? '';
    const missed = /Property '(\w+)' does not exist/.exec(line)?.[1];
    // If no text is missing by name, the name is computed: it may be any of the group.
    used.add(missed === undefined ? `${group}.*` : `${group}.${missed}`);
    for (const [, name = ''] of line.replace(/group: "[^"]*"/g, '').matchAll(/"(\w+)"/g)) names.add(name);
  }
  const isShown = (path: string) => {
    const [, group = '', name = ''] = /^(.*)\.(\w+)$/.exec(path) ?? [];
    const byName = chosenByName.some((chosen) => path.startsWith(`${chosen}.`)) || names.has(name);
    return byName || used.has(path) || used.has(`${group}.*`);
  };
  const invented = 'pay.statusMessage.shownByNobody';
  assert.deepEqual(
    [...pathsOf(await allTexts('en')), invented].filter((path) => !isShown(path)),
    [invented],
  );
});
