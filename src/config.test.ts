import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

const secrets = { SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` };

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig({ ...secrets, ...env });
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.faults;
  }
  return [];
}

test('TRUST_PROXY › nobody unless said; addresses and networks of both kinds', () => {
  assert.deepEqual(readConfig(secrets).trustProxy, []);
  const { trustProxy } = readConfig({ ...secrets, TRUST_PROXY: '10.0.0.0/8, 192.0.2.7,fd00::/8,::1' });
  assert.deepEqual(trustProxy, ['10.0.0.0/8', '192.0.2.7/32', 'fd00::/8', '::1/128']);
});

test('TRUST_PROXY and WEBHOOK_ALLOW_CIDRS › what is no network → a fault for each, with all others', () => {
  const wrong = [
    '10.0.0.0/33',
    '::/129',
    'loopback',
    'true',
    '1',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '10.0.0.0/+8',
    '256.1.1.1',
  ];
  for (const name of ['TRUST_PROXY', 'WEBHOOK_ALLOW_CIDRS']) {
    const faults = faultsOf({ [name]: wrong.join(','), LOG_LEVEL: 'loud' });
    assert.equal(faults.length, wrong.length + 1, faults.join('\n'));
    for (const network of wrong) assert.ok(faults.some((fault) => fault.startsWith(`${name} holds "${network}"`)));
  }
});

test('TRUST_PROXY › everybody → a fault: each client could choose its address', () => {
  assert.equal(faultsOf({ TRUST_PROXY: '0.0.0.0/0,::/0' }).length, 2);
});

test('PORT › 0 and what is no port → a fault; answers and commands must know it', () => {
  for (const PORT of ['0', '-1', '65536', '80.5', 'http']) assert.equal(faultsOf({ PORT }).length, 1, PORT);
  assert.equal(readConfig({ ...secrets, PORT: '8080' }).baseUrl, 'http://localhost:8080');
});

test('SMTP_URL and MAIL_FROM › read together, faults told, the password never', () => {
  assert.equal(readConfig(secrets).mail, null);
  const smtpUrl = 'smtps://ada:p%40ss@mail.example:465';
  for (const from of ['pay@quittance.example', 'Quittance <pay@quittance.example>']) {
    assert.deepEqual(readConfig({ ...secrets, SMTP_URL: smtpUrl, MAIL_FROM: from }).mail, { smtpUrl, from });
  }
  assert.match(faultsOf({ SMTP_URL: smtpUrl }).join(), /^MAIL_FROM is needed/);
  for (const from of ['pay', 'a@b, c@d', 'Quittance <pay@b', 'pay@b>', 'a\r\nBcc: x <a@b>']) {
    assert.match(faultsOf({ SMTP_URL: smtpUrl, MAIL_FROM: from }).join(), /^MAIL_FROM must/, from);
  }
  for (const url of ['http://ada:p%40ss@mail.example', 'mail.example:25', 'smtp://', 'smtps://a?pool=true']) {
    const faults = faultsOf({ SMTP_URL: url, MAIL_FROM: 'a@b' }).join();
    assert.match(faults, /^SMTP_URL must/, url);
    assert.ok(!faults.includes('p%40ss'));
  }
});
