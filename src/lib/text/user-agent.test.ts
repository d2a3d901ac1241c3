import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserName, maxUserAgent } from './user-agent.ts';

test('Browsers are called as their owners call them', () => {
  const linux = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)';
  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
  const cases = {
    [`${linux} Chrome/141.0.0.0 Safari/537.36`]: 'Chrome, Linux',
    [`${linux} HeadlessChrome/141.0.0.0 Safari/537.36`]: 'Chrome, Linux',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0':
      'Edge, Windows',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0': 'Firefox, Windows',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15':
      'Safari, Mac',
    [`${iphone} Version/18.5 Mobile/15E148 Safari/604.1`]: 'Safari, iPhone',
    [`${iphone} CriOS/141.0.7390.41 Mobile/15E148 Safari/604.1`]: 'Chrome, iPhone',
    'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36':
      'Samsung Internet, Android',
    'curl/8.10.1': 'curl/8.10.1',
    '': '',
  };
  for (const [userAgent, name] of Object.entries(cases)) assert.equal(browserName(userAgent), name);
  assert.equal(browserName('x'.repeat(300)).length, 60);
});

test('Only the beginning of a long user agent is read', () => {
  const userAgent = `${'Version/1 '.repeat(maxUserAgent / 10)} (Windows) Chrome/141.0.0.0`;
  assert.equal(browserName(userAgent), userAgent.slice(0, 60));
});
