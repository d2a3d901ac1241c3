import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** Each layer may import itself, `lib`, `texts`, `errors`, `config`, `context`, these, and types from anywhere. */
const foundations = ['auth', 'net', 'chain', 'mail', 'db', 'ui', 'web'];
const nouns = [
  ...['rates', 'partners', 'merchants', 'wallets', 'onboarding', 'requests', 'webhooks', 'receipts'],
  ...['payments', 'refunds', 'plans', 'customers', 'audit'],
];
const below: Record<string, string[]> = {
  lib: [],
  texts: [],
  config: [],
  db: [],
  ui: [],
  net: [],
  web: ['ui'],
  auth: ['db', 'chain', 'audit'],
  chain: ['db'],
  mail: ['db', 'ui', 'audit'],
  audit: ['db'],
  rates: [...foundations, 'audit'],
  partners: [...foundations, 'audit'],
  merchants: [...foundations, 'audit', 'rates', 'partners'],
  wallets: [...foundations, 'audit', 'partners', 'merchants'],
  onboarding: [...foundations, 'audit', 'rates', 'partners', 'merchants', 'wallets', 'requests'],
  requests: [...foundations, 'audit', 'rates', 'partners', 'merchants'],
  webhooks: [...foundations, 'audit', 'partners'],
  receipts: [...foundations, 'audit', 'partners', 'merchants', 'requests'],
  payments: [...foundations, 'audit', 'rates', 'partners', 'merchants', 'requests', 'webhooks', 'receipts'],
  refunds: [...foundations, 'audit', 'partners', 'merchants', 'requests', 'payments'],
  plans: [...foundations, 'audit', 'rates', 'partners', 'merchants', 'requests', 'payments'],
  customers: [...foundations, 'audit', 'requests', 'receipts', 'plans'],
  users: [...foundations, 'audit', 'partners'],
  checkout: [...foundations, 'partners', 'merchants', 'requests', 'payments', 'refunds', 'plans'],
  islands: [], // browser code: only types of the server
  dashboard: [...foundations, ...nouns],
  portal: [...foundations, ...nouns, 'checkout', 'users'],
  admin: [...foundations, ...nouns, 'checkout', 'users'],
  sandbox: [...foundations, ...nouns, 'users', 'checkout', 'http'],
  http: [...foundations, ...nouns, 'users', 'checkout', 'dashboard', 'portal', 'admin'],
};

const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
const folderOf = (file: string) => /^src\/([a-z]+)\//.exec(file)?.[1];

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8');
  return [...text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from '(\.{1,2}\/[^']+)'/gm)].map((match) =>
    normalize(join(dirname(file), match[1] as string)),
  );
}

test('imports run one way', () => {
  const wrong = files.flatMap((file) => {
    const allowed = below[folderOf(file) ?? ''];
    if (!allowed) return []; // server, jobs, cli and main may import everything
    return importsOf(file)
      .filter((target) => {
        const folder = folderOf(target);
        if (folder === undefined) return !/^src\/(errors|config|context)\.ts$/.test(target);
        return folder !== folderOf(file) && !['lib', 'texts', 'config'].includes(folder) && !allowed.includes(folder);
      })
      .map((target) => `${file} → ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('no file imports itself through others', () => {
  const open: string[] = [];
  const done = new Set<string>();
  const circles: string[] = [];
  const walk = (file: string): void => {
    const at = open.indexOf(file);
    if (at >= 0) circles.push([...open.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    open.push(file);
    for (const target of importsOf(file)) walk(target);
    open.pop();
    done.add(file);
  };
  files.forEach(walk);
  assert.deepEqual(circles, []);
});

test('config reads the environment alone, and the context names types only', () => {
  assert.deepEqual(
    importsOf('src/config.ts').filter((target) => !/^src\/(?:config|lib)\//.test(target)),
    [],
  );
  assert.deepEqual(importsOf('src/context.ts'), []);
});

test('only the start and the command line load the sandbox', () => {
  const importers = files.filter(
    (file) =>
      !/^src\/(?:sandbox\/|cli\/|cli\.ts)/.test(file) &&
      (importsOf(file).some((target) => target.startsWith('src/sandbox/')) ||
        /import\('[^']*sandbox\//.test(readFileSync(file, 'utf8'))),
  );
  assert.deepEqual(importers, ['src/service.ts']);
});

test('rules import only lib and errors', () => {
  const wrong = files
    .filter((file) => file.endsWith('/rules.ts'))
    .flatMap((file) =>
      importsOf(file)
        .filter((target) => !/^src\/(lib\/|errors\.ts)/.test(target))
        .map((to) => `${file} → ${to}`),
    );
  assert.deepEqual(wrong, []);
});

test('the environment is read in one file', () => {
  const readers = files.filter((file) => /process\.env/.test(readFileSync(file, 'utf8')));
  // `cli.ts` and `main.ts` pass it to config.ts. The number of threads is set before anything else is loaded.
  assert.deepEqual(readers.sort(), ['src/cli.ts', 'src/lib/threads.ts', 'src/main.ts']);
});

test('chains are queried only through chain/rpc.ts, because viem’s client follows URLs that contracts name', () => {
  const makers = files.filter((file) =>
    /\b(?:create(?:Public|Wallet|Test)?Client|verify(?:Message|TypedData|Hash|SiweMessage)|fallback|http)\b[^;]*?from 'viem/.test(
      readFileSync(file, 'utf8'),
    ),
  );
  assert.deepEqual(makers, []);
});

const isStore = (file: string) => /\/(?:[a-z]+-)*store\.ts$/.test(file);

test('a store is private to its folder', () => {
  const wrong = files.flatMap((file) =>
    importsOf(file)
      .filter((target) => isStore(target) && folderOf(target) !== folderOf(file))
      .map((to) => `${file} → ${to}`),
  );
  assert.deepEqual(wrong, []);
});

/**
 * Files with SQL that are no stores, because a store is private to its folder. Each has one subject,
 * and decides nothing beside its statements.
 */
const sharedSql = {
  'other folders call them in their own transactions': [
    ...['chain/cursors', 'chain/reader/lease', 'merchants/onboarding-state', 'payments/transfers', 'plans/customer'],
    ...['plans/move-due', 'receipts/drop', 'requests/customer', 'requests/merchant-reset', 'requests/move-expiry'],
    ...[
      'requests/proof',
      'requests/references',
      'requests/reservations',
      'requests/reserved-rests',
      'wallets/release-all',
    ],
  ],
  'the statements of several stores contain these parts': [
    ...['merchants/in-states', 'merchants/names', 'payments/arriving', 'rates/currency-field', 'rates/quote'],
    ...['requests/expiry', 'requests/in-states', 'requests/refunded'],
  ],
  'the command line moves partitions as the owner of the tables': ['webhooks/attempt-partitions'],
};

/** In `auth` the statement is the decision: it uses up a link or a nonce, or counts a call. A command has its own questions. */
const withOwnSql = /^src\/(?:db|auth|cli)\//;

test('SQL is in stores, in the queries that wake the loops, and in a few files that other folders share', () => {
  const allowed = Object.values(sharedSql).flatMap((names) => names.map((name) => `src/${name}.ts`));
  const withSql = files
    .filter((file) => !isStore(file) && !file.endsWith('/due.ts') && !withOwnSql.test(file))
    .filter((file) => /\b(?:sql|tx|owner)(?:<[^`]*?>)?`/.test(readFileSync(file, 'utf8').replace(/\/\*.*?\*\//gs, '')));
  assert.deepEqual(withSql.sort(), allowed.sort());
});

test('a scope is made only by auth, and where nobody calls: seeding and the command line', () => {
  const makers = files.filter(
    (file) => !file.startsWith('src/auth/') && /\bscopeOf\(/.test(readFileSync(file, 'utf8')),
  );
  assert.deepEqual(
    makers.filter((file) => !/^src\/(sandbox\/demo\.ts|cli\/)/.test(file)),
    [],
  );
});

test('files stay small enough to be read at once', () => {
  // The texts of an area stay in one file, whatever its length.
  const long = files
    .filter((file) => !file.includes('/texts/'))
    .filter((file) => readFileSync(file, 'utf8').split('\n').length > 320);
  assert.deepEqual(long, []);
});
