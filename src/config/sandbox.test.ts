import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../config.ts';

const secrets = { SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` };

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults.join('\n');
  }
  return '';
}

const local: Record<string, string>[] = [
  {},
  { HOST: '127.0.0.1' },
  { HOST: '::1' },
  { HOST: 'localhost', BASE_URL: 'http://shop.localhost:8080' },
  { BASE_URL: 'http://127.0.0.1:3000' },
  { BASE_URL: 'https://[::1]:3000', PAY_URL: 'http://pay.localhost' },
];
const open: Record<string, string>[] = [
  { BASE_URL: 'https://pay.example' },
  { HOST: '0.0.0.0', BASE_URL: 'http://localhost:3000' },
  { HOST: '::', BASE_URL: 'http://localhost:3000' },
  { HOST: '10.0.0.5', BASE_URL: 'http://localhost:3000' },
  { BASE_URL: 'http://localhost.example' },
  { BASE_URL: 'http://127.evil.example' },
  { PAY_URL: 'https://pay.example', BASE_URL: 'http://localhost:3000' },
];

test('A service that only this machine reaches › a sandbox by itself', () => {
  for (const env of local) assert.equal(readConfig({ ...secrets, ...env }).sandbox, true, JSON.stringify(env));
});

test('A service that others can reach › production’s rules: what is missing, why, and the way out, at once', () => {
  for (const env of open) {
    const faults = faultsOf(env);
    for (const name of ['SECRET_KEYS', 'CHAINS_FILE'])
      assert.match(faults, new RegExp(`^${name} is required`, 'm'), name);
    const [cause] =
      Object.entries(env).find(([name, value]) => name !== 'BASE_URL' || !value.includes('localhost:')) ?? [];
    assert.match(faults, new RegExp(`because ${cause} `), JSON.stringify(env));
    assert.match(faults, /SANDBOX=on/);
  }
  assert.match(faultsOf({ HOST: '0.0.0.0' }), /^BASE_URL is required/m);
});

test('SANDBOX › on for a service that others can reach, off for one that they cannot; never with NODE_ENV=production', () => {
  for (const env of open) assert.equal(readConfig({ ...secrets, ...env, SANDBOX: 'on' }).sandbox, true);
  assert.match(faultsOf({ SANDBOX: 'off' }), /^CHAINS_FILE is required/m);
  assert.match(faultsOf({ NODE_ENV: 'production' }), /^CHAINS_FILE is required/m);
  assert.match(faultsOf({ SANDBOX: 'on', NODE_ENV: 'production' }), /^SANDBOX=on and NODE_ENV=production contradict/m);
  for (const NODE_ENV of ['Production', 'PRODUCTION', 'prod']) {
    assert.match(faultsOf({ NODE_ENV }), /is written NODE_ENV=production$/m, NODE_ENV);
  }
  assert.match(faultsOf({ SANDBOX: 'yes' }), /^SANDBOX must be on or off/m);
});

test('DEV_ALLOW_CIDRS › nobody by default; only with SANDBOX=on', () => {
  const networks = { DEV_ALLOW_CIDRS: '10.0.0.0/8, 192.0.2.7' };
  assert.deepEqual(readConfig(secrets).devAllowCidrs, []);
  assert.deepEqual(readConfig({ ...secrets, ...networks, SANDBOX: 'on' }).devAllowCidrs, [
    '10.0.0.0/8',
    '192.0.2.7/32',
  ]);
  assert.match(faultsOf(networks), /^DEV_ALLOW_CIDRS needs SANDBOX=on/m);
  assert.match(faultsOf({ SANDBOX: 'on', DEV_ALLOW_CIDRS: '0.0.0.0/0' }), /^DEV_ALLOW_CIDRS contains/m);
});
