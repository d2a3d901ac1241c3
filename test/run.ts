import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openOwner } from '../src/db/connection.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { findChromium } from './support/browser/chromium.ts';
import { findPhp } from './support/php.ts';

/**
 * Runs tests with a PostgreSQL server of their own: `npm test`, `npm test -- <file> …`, `npm run test:pages`, and with
 * Debian's PostgreSQL 15 as it comes, `npm run test:stock`. Each test file clones the migrated template database.
 */
const [first = '', ...rest] = process.argv.slice(2);
/** Debian's; it compiles statements and plans as every managed one does. */
const stock = '/usr/lib/postgresql/15';
/** What partners and payments depend on; pages and processes show nothing new there. */
const stockFiles = ['test/api/*.test.ts', 'test/journeys/*.test.ts', 'test/payments/*.test.ts'];

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
if (first === 'stock' && !existsSync(stock)) throw new Error(`There is no ${stock}: apt-get install postgresql-15`);
const folder = mkdtempSync(join(tmpdir(), 'quittance-test-'));
try {
  const server = await startEmbedded(folder, first === 'stock' ? stock : null);
  try {
    await makeTemplate(server.url);
    process.exitCode = await runTests(server.url);
  } finally {
    await server.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function makeTemplate(url: string): Promise<void> {
  const admin = openOwner(url);
  await admin`create database quittance_template`;
  await admin.end();
  const template = new URL(url);
  template.pathname = '/quittance_template';
  const owner = openOwner(template.href);
  await migrate(owner);
  await owner.end();
}

async function runTests(url: string): Promise<number> {
  if (!findPhp()) {
    console.log('PHP was not found, so what runs it in these tests is left out:\n  test/journeys/portal-start.test.ts');
  }
  const child = spawn(
    process.execPath,
    ['--test', '--test-reporter=spec', '--test-concurrency=2', '--test-timeout=300000', ...chooseFiles()],
    { stdio: 'inherit', env: { ...process.env, TEST_DATABASE_URL: url } },
  );
  const stop = () => child.kill('SIGTERM');
  if (ending.signal.aborted) stop();
  ending.signal.addEventListener('abort', stop);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exit) => resolve(exit ?? 1));
  });
}

function chooseFiles(): string[] {
  const pages = globSync('test/pages/**/*.test.ts');
  if (first === 'stock') return rest.length > 0 ? rest : globSync(stockFiles);
  if (first !== '' && first !== 'pages') return [first, ...rest];
  if (first === 'pages' && findChromium()) return pages;
  const others =
    first === 'pages' ? [] : globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { exclude: ['test/pages/**'] });
  if (findChromium()) return [...others, ...pages];
  console.log(
    `Chromium was not found, so these page tests are left out:\n${pages.map((name) => `  ${name}`).join('\n')}`,
  );
  return others;
}
