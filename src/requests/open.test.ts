import assert from 'node:assert/strict';
import { test } from 'node:test';
import { opensRequest } from './open.ts';

const chrome =
  'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36';
const navigation = {
  'user-agent': chrome,
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-fetch-site': 'none',
  'sec-fetch-user': '?1',
};

test('A person who follows the link opens the request', () => {
  assert.equal(opensRequest('GET', navigation), true);
  assert.equal(opensRequest('GET', { ...navigation, 'sec-fetch-site': 'cross-site' }), true);
});

test('A client that sends no Sec-Fetch headers opens the request', () => {
  assert.equal(opensRequest('GET', { 'user-agent': 'Mozilla/5.0 (iPhone; CPU iPhone OS 15_8 like Mac OS X)' }), true);
  assert.equal(opensRequest('GET', { 'user-agent': 'curl/8.14.1' }), true);
  assert.equal(opensRequest('GET', {}), true);
});

test('HEAD and other methods open nothing', () => {
  for (const method of ['HEAD', 'POST', 'OPTIONS']) assert.equal(opensRequest(method, navigation), false, method);
});

test('A prefetch or prerender opens nothing', () => {
  for (const purpose of [
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'sec-purpose': 'prefetch;anonymous-client-ip' },
    { purpose: 'prefetch' },
    { purpose: 'preview' },
    { 'x-purpose': 'preview' },
    { 'x-moz': 'prefetch' },
  ]) {
    assert.equal(opensRequest('GET', { ...navigation, ...purpose }), false, JSON.stringify(purpose));
  }
});

test('If the client sends Sec-Fetch headers, only a document navigation opens a request', () => {
  for (const fetched of [
    { 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-mode': 'same-origin' },
    { 'sec-fetch-dest': 'object' },
  ]) {
    assert.equal(opensRequest('GET', { ...navigation, ...fetched }), false, JSON.stringify(fetched));
  }
});

test('Link previews of chats, networks, mail and crawlers open nothing', () => {
  for (const agent of [
    'WhatsApp/2.23.20.0',
    'WhatsApp/2.2587.9 N',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Slack-ImgProxy (+https://api.slack.com/robots)',
    'Twitterbot/1.0',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'TelegramBot (like TwitterBot)',
    'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'Viber/13.3.0',
    'Mozilla/5.0 (compatible; redditbot/1.0; +http://www.reddit.com/feedback)',
    'Mozilla/5.0 (compatible; Pinterestbot/1.0; +http://www.pinterest.com/bot.html)',
    'http.rb/5.1.1 (Mastodon/4.2.0; +https://mastodon.social/) Bot',
    'Synapse (bot; +https://github.com/matrix-org/synapse)',
    'Mozilla/5.0 (compatible; Yahoo Link Preview; https://help.yahoo.com)',
  ]) {
    assert.equal(opensRequest('GET', { 'user-agent': agent }), false, agent);
  }
});

test('Browsers inside chat apps are people', () => {
  for (const agent of [
    `${chrome} [FBAN/FBIOS;FBAV/440.0.0]`,
    `${chrome} Instagram 300.0.0`,
    `${chrome} Line/13.0.0`,
    `${chrome} [Pinterest/Android]`,
    `${chrome} Viber`,
    `${chrome} KAKAOTALK 10.0.0`,
    'Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36',
  ]) {
    assert.equal(opensRequest('GET', { 'user-agent': agent }), true, agent);
  }
});
