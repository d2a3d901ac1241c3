import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../config.ts';

const secrets = { SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` };

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig({ ...secrets, ...env });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults.join('\n');
  }
  return '';
}

const elsewhere = [
  'postgres://app:pw@db.example/pay',
  'postgresql://app:pw@10.0.0.5:5432/pay',
  'postgres://app:pw@[2001:db8::1]/pay',
  'postgres://app:pw@127.0.0.1@db.example/pay',
  'postgres://app:pw@localhost.example/pay',
];

test('DATABASE_URL › this machine needs no TLS', () => {
  for (const host of ['localhost', '127.0.0.1:5433', '[::1]:5432', 'db.localhost']) {
    assert.equal(faultsOf({ DATABASE_URL: `postgres://app:pw@${host}/pay` }), '', host);
  }
});

test('DATABASE_URL › another machine needs TLS, or DATABASE_TLS=off; faults never contain the password', () => {
  for (const url of elsewhere) {
    for (const mode of [
      '',
      '?sslmode=disable',
      '?sslmode=prefer',
      '?sslmode=allow',
      '?ssl=false',
      '?sslmode=require&sslmode=disable',
    ]) {
      const faults = faultsOf({ DATABASE_URL: url + mode });
      assert.match(
        faults,
        /^DATABASE_URL points to another machine without TLS: .*sslmode=verify-full.*DATABASE_TLS=off/,
        url + mode,
      );
      assert.ok(!faults.includes('pw'));
    }
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      const DATABASE_URL = `${url}?sslmode=${mode}`;
      assert.equal(readConfig({ ...secrets, DATABASE_URL }).databaseUrl, DATABASE_URL);
    }
    assert.equal(faultsOf({ DATABASE_URL: url, DATABASE_TLS: 'off' }), '', url);
  }
  assert.match(faultsOf({ DATABASE_URL: 'postgres://app:pw@db.example/pay#?sslmode=require' }), /must look like/);
  assert.match(faultsOf({ DATABASE_TLS: 'no' }), /^DATABASE_TLS must be on or off/);
});

test('DATABASE_URL › several hosts, and what is no address, are refused', () => {
  for (const url of [
    'postgres://app:pw@127.0.0.1:5432,db.example:5432/pay',
    'postgres://app:pw@localhost,db.example/pay',
    'postgres://app:p%w@localhost/pay',
    'postgres://app:p#w@localhost/pay',
    'postgres://app:p/w@localhost/pay',
    'postgres://app:p@ss#w@localhost/pay',
    'postgres://app:p@ss/w@localhost/pay',
    'mysql://app:pw@localhost/pay',
    'POSTGRES://app:pw@localhost/pay',
    'postgres:app:pw@localhost/pay',
    'postgres://app:pw@db.example%2Cx.localhost/pay',
    'postgres://app:pw@db.example%2cx.localhost/pay?sslmode=require',
  ]) {
    assert.match(
      faultsOf({ DATABASE_URL: url }),
      /^DATABASE_URL must look like postgres:.*characters such as #, .* are percent-encoded/,
      url,
    );
  }
  assert.equal(faultsOf({ DATABASE_URL: 'postgres://app:p%2Cw@localhost/pay' }), '');
});

test('DATABASE_URL › without a host, PGHOST decides', () => {
  const DATABASE_URL = 'postgres:///pay';
  assert.equal(faultsOf({ DATABASE_URL }), '');
  assert.equal(faultsOf({ DATABASE_URL, PGHOST: '/var/run/postgresql' }), '');
  assert.match(faultsOf({ DATABASE_URL, PGHOST: 'db.example' }), /^DATABASE_URL points to another machine/);
});

test('DATABASE_POOL_MODE › transaction needs the pooler and the server itself', () => {
  const [DATABASE_URL, DATABASE_OWNER_URL] = ['postgres://localhost:6432/pay', 'postgres://owner:pw@localhost/pay'];
  const DATABASE_POOL_MODE = 'transaction';
  assert.equal(readConfig({ ...secrets, DATABASE_URL }).databasePoolMode, 'session');
  const config = readConfig({ ...secrets, DATABASE_URL, DATABASE_OWNER_URL, DATABASE_POOL_MODE });
  assert.equal(config.databasePoolMode, 'transaction');
  assert.match(faultsOf({ DATABASE_URL, DATABASE_POOL_MODE }), /^DATABASE_POOL_MODE=transaction needs .*OWNER_URL/);
  assert.match(faultsOf({ DATABASE_POOL_MODE: 'statement' }), /^DATABASE_POOL_MODE must be session or transaction/);
});
