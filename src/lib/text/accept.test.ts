import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prefersJson } from './accept.ts';

test('A client that accepts JSON, and HTML not at all or with less weight, prefers JSON', () => {
  for (const accept of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json, text/plain, */*',
    'text/html;q=0.5, application/json;q=0.9',
    '*/*;q=0.1, application/json;q=0.2',
  ]) {
    assert.equal(prefersJson(accept), true, accept);
  }
});

test('Browsers, link previews and clients that say nothing get the page', () => {
  for (const accept of [
    undefined,
    '',
    '*/*',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
    'text/html, application/json',
    'application/json;q=0.5, text/html',
    'application/json;q=0',
    'application/*',
    `${'text/plain,'.repeat(1_000)}application/json`,
  ]) {
    assert.equal(prefersJson(accept), false, accept);
  }
});
