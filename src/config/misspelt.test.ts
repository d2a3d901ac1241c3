import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../config.ts';
import { findMisspelt, misspeltAdvice, settingNames } from './misspelt.ts';

test('the settings are those of the table in docs/operating.md', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
  const rows = document.split('\n').filter((line) => /^\| `[A-Z]/.test(line));
  const documented = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  );
  const undocumented = ['OTEL_EXPORTER_OTLP_PROTOCOL']; // has one value only
  assert.deepEqual([...documented, ...undocumented].sort(), settingNames.toSorted());
});

test('the settings are those that the configuration reads', () => {
  const files = globSync(['config.ts', 'config/*.ts'], { cwd: join(import.meta.dirname, '..') });
  const texts = files
    .filter((file) => !file.endsWith('.test.ts') && !file.endsWith('misspelt.ts'))
    .map((file) => readFileSync(join(import.meta.dirname, '..', file), 'utf8'));
  const read = texts.flatMap((text) => [...text.matchAll(/\benv\.([A-Z_]+)/g)].map(([, name]) => String(name)));
  const ofOthers = ['PGHOST']; // of PostgreSQL’s own clients: where the host of DATABASE_URL is empty
  const missing = [...new Set(read)].filter((name) => !settingNames.includes(name) && !ofOthers.includes(name));
  assert.deepEqual(missing, [], 'name each in settingNames, and in the table of docs/operating.md');
  const unread = settingNames.filter(
    (name) => !texts.some((text) => new RegExp(`\\benv\\.${name}\\b|'${name}'`).test(text)),
  );
  assert.deepEqual(unread, [], 'nothing reads these');
});

test('a name that is close to a setting › found, unless that setting is set, or the name is empty', () => {
  const env = { TRUST_PROXI: '10.0.0.0/8', DATABSE_URL: 'x', smtp_url: 'x', METRICS_TOKE: '', PATH: '/', PGHOST: 'x' };
  assert.deepEqual(findMisspelt(env), [
    { name: 'TRUST_PROXI', meant: 'TRUST_PROXY' },
    { name: 'DATABSE_URL', meant: 'DATABASE_URL' },
    { name: 'smtp_url', meant: 'SMTP_URL' },
  ]);
  assert.deepEqual(findMisspelt({ DATABASE_URI: 'x', DATABASE_URL: 'y' }), []);
});

test('a byte order mark before a setting, however short its name → named with what to do', () => {
  const [found, ...others] = findMisspelt({ '\ufeffPORT': '8080' });
  assert.ok(found && others.length === 0);
  assert.match(misspeltAdvice(found), /^PORT is ignored, .* without a byte order mark\.$/);
  assert.deepEqual(findMisspelt({ '\ufeffPORT': '8080', PORT: '3000' }), []);
});

test('readConfig › a file of settings in UTF-16 is named, before the settings that are missing because of it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-utf16-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'env');
  const readBack = (text: Buffer): NodeJS.ProcessEnv => {
    writeFileSync(file, text);
    const args = [`--env-file=${file}`, '--print', 'JSON.stringify(process.env)'];
    return JSON.parse(execFileSync(process.execPath, args, { env: {}, encoding: 'utf8' }));
  };
  const text = 'NODE_ENV=production\nBASE_URL=https://pay.example.com\n';
  const faultsOf = (env: NodeJS.ProcessEnv): string[] => {
    try {
      readConfig({ ...env, NODE_ENV: 'production' });
      return [];
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.faults;
    }
  };
  const [first, ...others] = faultsOf(readBack(Buffer.from(`\ufeff${text}`, 'utf16le')));
  assert.equal(first, 'A file of settings is in UTF-16, so nothing in it was read: save it in UTF-8');
  assert.ok(others.some((fault) => fault.startsWith('BASE_URL is required')));
  const inUtf8 = faultsOf(readBack(Buffer.from(text)));
  assert.ok(!inUtf8.some((fault) => /UTF-16|BASE_URL/.test(fault)));
});

test('readConfig › names them beside the faults that they cause; alone they are no fault', () => {
  const name = { SECRET_KEY: 's3cret' };
  const { misspelt } = readConfig({ SECRET_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`, TRUST_PROXI: '::1' });
  assert.deepEqual(misspelt, [{ name: 'TRUST_PROXI', meant: 'TRUST_PROXY' }]);
  assert.throws(
    () => readConfig({ NODE_ENV: 'production', ...name }),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.ok(error.faults.includes('SECRET_KEY is not a setting, so it is ignored: is it meant to be SECRET_KEYS?'));
      assert.ok(!error.message.includes('s3cret'));
      return true;
    },
  );
});
