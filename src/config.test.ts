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

test('TRUST_PROXY › nobody by default; IPv4 and IPv6 addresses and networks', () => {
  assert.deepEqual(readConfig(secrets).trustProxy, []);
  const { trustProxy } = readConfig({ ...secrets, TRUST_PROXY: '10.0.0.0/8, 192.0.2.7,fd00::/8,::1' });
  assert.deepEqual(trustProxy, ['10.0.0.0/8', '192.0.2.7/32', 'fd00::/8', '::1/128']);
});

test('TRUST_PROXY and WEBHOOK_ALLOW_CIDRS › a text that is no network → one fault each, together with all others', () => {
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
    for (const network of wrong) assert.ok(faults.some((fault) => fault.startsWith(`${name} contains "${network}"`)));
  }
});

test('TRUST_PROXY › everybody → a fault: each client could choose its address', () => {
  const faults = faultsOf({ TRUST_PROXY: '0.0.0.0/0,::/0' });
  assert.equal(faults.length, 2);
  for (const fault of faults) assert.match(fault, /every address there is: name the networks that are yours/);
});

test('PORT › 0 and what is no port → a fault; answers and commands must know it', () => {
  for (const PORT of ['0', '-1', '65536', '80.5', 'http']) assert.equal(faultsOf({ PORT }).length, 1, PORT);
  assert.equal(readConfig({ ...secrets, PORT: '8080' }).baseUrl, 'http://localhost:8080');
});

test('SMTP_URL and MAIL_FROM › read together; faults are reported without the password', () => {
  assert.equal(readConfig(secrets).mail, null);
  const smtpUrl = 'smtps://ada:p%40ss@mail.example:465';
  for (const from of ['pay@quittance.example', 'Quittance <pay@quittance.example>']) {
    assert.deepEqual(readConfig({ ...secrets, SMTP_URL: smtpUrl, MAIL_FROM: from }).mail, { smtpUrl, from });
  }
  assert.match(faultsOf({ SMTP_URL: smtpUrl }).join(), /^MAIL_FROM is required/);
  for (const from of ['pay', 'a@b, c@d', 'Quittance <pay@b', 'pay@b>', 'a\r\nBcc: x <a@b>']) {
    assert.match(faultsOf({ SMTP_URL: smtpUrl, MAIL_FROM: from }).join(), /^MAIL_FROM must/, from);
  }
  for (const url of ['http://ada:p%40ss@mail.example', 'mail.example:25', 'smtp://', 'smtps://a?pool=true']) {
    const faults = faultsOf({ SMTP_URL: url, MAIL_FROM: 'a@b' }).join();
    assert.match(faults, /^SMTP_URL must/, url);
    assert.ok(!faults.includes('p%40ss'));
  }
  const faults = faultsOf({ SMTP_URL: 'smtp://ada:s3cr%t@mail.example', MAIL_FROM: 'a@b' }).join();
  assert.match(faults, /^SMTP_URL has a % .* write it as %25$/);
  assert.ok(!faults.includes('s3cr'));
});

test('PHONE_GATEWAY_URL and its token › read together; https for other machines; faults never contain the token', () => {
  assert.equal(readConfig(secrets).phoneGateway, null);
  const url = 'https://sms.example/send';
  const token = 'gateway-token';
  assert.deepEqual(readConfig({ ...secrets, PHONE_GATEWAY_URL: url, PHONE_GATEWAY_TOKEN: token }).phoneGateway, {
    url,
    token,
  });
  assert.match(faultsOf({ PHONE_GATEWAY_URL: url }).join(), /^PHONE_GATEWAY_TOKEN is required/);
  const spaced = faultsOf({ PHONE_GATEWAY_URL: url, PHONE_GATEWAY_TOKEN: 'two words' }).join();
  assert.match(spaced, /without spaces/);
  assert.doesNotMatch(spaced, /two words/);
  const production = { NODE_ENV: 'production', PHONE_GATEWAY_TOKEN: token };
  const isRefused = (address: string) =>
    faultsOf({ ...production, PHONE_GATEWAY_URL: address }).some((fault) => fault.startsWith('PHONE_GATEWAY_URL'));
  for (const address of ['https://sms.example', 'http://127.0.0.1:9000/send', 'http://localhost/send']) {
    assert.equal(isRefused(address), false, address);
  }
  for (const address of ['http://sms.example/send', 'ftp://sms.example', 'sms', 'http://127.evil.example/']) {
    assert.equal(isRefused(address), true, address);
  }
});

test('ERASE_CUSTOMER_DATA_AFTER_DAYS › never by default; whole days, not before requests have ended', () => {
  assert.equal(readConfig(secrets).eraseCustomersAfterDays, null);
  assert.equal(readConfig({ ...secrets, ERASE_CUSTOMER_DATA_AFTER_DAYS: '31' }).eraseCustomersAfterDays, 31);
  for (const ERASE_CUSTOMER_DATA_AFTER_DAYS of ['0', '30', '-1', '90.5', 'soon', '1e9']) {
    assert.equal(faultsOf({ ERASE_CUSTOMER_DATA_AFTER_DAYS }).length, 1, ERASE_CUSTOMER_DATA_AFTER_DAYS);
  }
});

test('HSTS › on by default', () => {
  assert.equal(readConfig(secrets).hsts, true);
  assert.equal(readConfig({ ...secrets, HSTS: 'off' }).hsts, false);
  assert.equal(faultsOf({ HSTS: 'no' }).length, 1);
});

test('DRAIN_SECONDS › 5 in production, 0 in a sandbox; 15 at most', () => {
  assert.equal(readConfig(secrets).drainSeconds, 0);
  assert.equal(readConfig({ ...secrets, DRAIN_SECONDS: '15' }).drainSeconds, 15);
  for (const DRAIN_SECONDS of ['16', '-1', '1.5', 'long']) {
    assert.equal(faultsOf({ DRAIN_SECONDS }).length, 1, DRAIN_SECONDS);
  }
});

test('PAGE_LIMIT › 200 by default; no less than 10', () => {
  assert.equal(readConfig(secrets).pageLimit, 200);
  assert.equal(readConfig({ ...secrets, PAGE_LIMIT: '5000' }).pageLimit, 5000);
  for (const PAGE_LIMIT of ['0', '9', '05', '-20', '1e3', 'many', '1000000']) {
    assert.equal(faultsOf({ PAGE_LIMIT }).length, 1, PAGE_LIMIT);
  }
});

test('WALLETCONNECT_PROJECT_ID and WALLETCONNECT_RELAY_URL › read together; faults are reported', () => {
  const projectId = '0123456789abcdef0123456789abcdef';
  assert.equal(readConfig(secrets).walletConnect, null);
  assert.deepEqual(readConfig({ ...secrets, WALLETCONNECT_PROJECT_ID: projectId }).walletConnect, {
    projectId,
    relayUrl: 'wss://relay.walletconnect.com',
  });
  const own = { WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: 'ws://127.0.0.1:5555' };
  assert.equal(readConfig({ ...secrets, ...own }).walletConnect?.relayUrl, 'ws://127.0.0.1:5555');
  assert.match(faultsOf({ ...own, NODE_ENV: 'production' }).join(), /WALLETCONNECT_RELAY_URL must be a wss address/);
  for (const relay of ['https://relay.example', 'relay.example', 'wss://relay.example/?a=b']) {
    const faults = faultsOf({ WALLETCONNECT_PROJECT_ID: projectId, WALLETCONNECT_RELAY_URL: relay });
    assert.match(faults.join(), /^WALLETCONNECT_RELAY_URL must/, relay);
  }
  assert.match(faultsOf({ WALLETCONNECT_PROJECT_ID: 'mine' }).join(), /^WALLETCONNECT_PROJECT_ID must/);
  assert.match(faultsOf({ WALLETCONNECT_RELAY_URL: 'wss://relay.example' }).join(), /needs WALLETCONNECT_PROJECT_ID/);
});

test('A value › blanks and line ends around it do not count, as files of settings leave them', () => {
  const config = readConfig({ ...secrets, BASE_URL: 'http://localhost:3000 \r', HOST: '127.0.0.1 ', LOG_LEVEL: ' ' });
  assert.equal(config.baseUrl, 'http://localhost:3000');
  assert.equal(config.payUrl, 'http://localhost:3000/pay');
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.logLevel, 'warn');
});

test('BASE_URL, PAY_URL and PHONE_GATEWAY_URL › user or password → a fault that does not contain them', () => {
  for (const user of ['ada:s3cret@', ':s3cret@', 'ada@']) {
    const address = `https://${user}pay.example`;
    const production = { SANDBOX: 'on', PHONE_GATEWAY_TOKEN: 'token' };
    for (const name of ['BASE_URL', 'PAY_URL', 'PHONE_GATEWAY_URL']) {
      const faults = faultsOf({ ...production, [name]: address });
      assert.match(faults.join('\n'), new RegExp(`^${name} must .* without user`), address);
      assert.doesNotMatch(faults.join('\n'), /s3cret/);
    }
  }
});

test('BASE_URL › a path is a fault, a slash at its end is none', () => {
  const faultOf = (BASE_URL: string) => faultsOf({ SANDBOX: 'on', BASE_URL }).join('\n');
  assert.equal(faultOf('https://pay.example/'), '');
  assert.equal(faultOf('https://pay.example/till/'), 'BASE_URL must have no path: pages link from its root');
  assert.doesNotMatch(faultOf('nowhere'), /no path/);
});

test('RATE_PROVIDERS › empty is as absent; none, or one twice, is a fault: it would confirm itself', () => {
  assert.deepEqual(readConfig({ ...secrets, RATE_PROVIDERS: ' ' }).rateProviders, ['fixed']);
  assert.deepEqual(readConfig({ ...secrets, RATE_PROVIDERS: 'kraken, coinbase,' }).rateProviders, [
    'kraken',
    'coinbase',
  ]);
  for (const RATE_PROVIDERS of [',', 'kraken,kraken'])
    assert.match(faultsOf({ RATE_PROVIDERS }).join(), /at least one/);
});

test('RATE_PROVIDERS › rates that never change are refused outside of the sandbox', () => {
  const faults = (BASE_URL: string) =>
    faultsOf({ NODE_ENV: 'production', BASE_URL, RATE_PROVIDERS: 'kraken,fixed' }).join('\n');
  assert.match(faults('https://pay.example'), /^RATE_PROVIDERS names "fixed", whose rates never change/m);
  assert.doesNotMatch(faults('http://localhost:3000'), /RATE_PROVIDERS/);
});

test('WEBHOOK_SCHEDULE_SECONDS › a comma too many adds no attempt', () => {
  const schedule = (WEBHOOK_SCHEDULE_SECONDS: string) =>
    readConfig({ ...secrets, WEBHOOK_SCHEDULE_SECONDS }).webhookScheduleMs;
  assert.deepEqual(schedule('0,5,,30,'), [0, 5_000, 30_000]);
  assert.equal(schedule(' ').length, 12);
  assert.equal(faultsOf({ WEBHOOK_SCHEDULE_SECONDS: ',' }).length, 1);
});

test('SECRET_KEYS › no key, an id twice, more than two parts → a fault without the key', () => {
  const key = Buffer.alloc(32, 7).toString('base64');
  const other = Buffer.alloc(32, 8).toString('base64');
  const production = { NODE_ENV: 'production' };
  for (const SECRET_KEYS of [' ', ','])
    assert.ok(faultsOf({ ...production, SECRET_KEYS }).some((fault) => fault.startsWith('SECRET_KEYS is required')));
  for (const SECRET_KEYS of [`a:${key},a:${key}`, `a:${key},b:${other},a:${other}`])
    assert.match(faultsOf({ SECRET_KEYS }).join(), /^SECRET_KEYS has an id twice/);
  const [fault = ''] = faultsOf({ SECRET_KEYS: `a:${key}:b:${other}` });
  assert.match(fault, /^SECRET_KEYS: entry 1 must be/);
  assert.ok(!fault.includes(key.slice(0, 8)));
});
