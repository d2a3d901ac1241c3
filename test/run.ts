import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { connect } from '../src/db/connection.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { findChromium } from './support/chromium.ts';
import { findPhp } from './support/php.ts';

/**
 * Runs tests with a PostgreSQL server of their own: `npm test`, `npm test -- <file> …`, `npm run test:pages`.
 * Each test file clones the migrated template database.
 */
const folder = mkdtempSync(join(tmpdir(), 'quittance-test-'));
const server = await startEmbedded(folder);
try {
  await makeTemplate(server.url);
  process.exitCode = await runTests(server.url);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function makeTemplate(url: string): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {} });
  await admin`create database quittance_template`;
  await admin.end();
  const template = new URL(url);
  template.pathname = '/quittance_template';
  const db = connect(template.href, 1);
  await migrate(db.sql);
  await db.close();
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('exit', (exit) => resolve(exit ?? 1)));
}

function chooseFiles(): string[] {
  const wanted = process.argv.slice(2);
  const pages = globSync('test/pages/**/*.test.ts');
  if (wanted.length > 0 && wanted[0] !== 'pages') return wanted;
  if (wanted[0] === 'pages' && findChromium()) return pages;
  const others =
    wanted[0] === 'pages' ? [] : globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { exclude: ['test/pages/**'] });
  if (findChromium()) return [...others, ...pages];
  console.log(
    `Chromium was not found, so these page tests are left out:\n${pages.map((name) => `  ${name}`).join('\n')}`,
  );
  return others;
}
