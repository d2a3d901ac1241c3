import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSecrets } from './without-secrets.ts';

test('what a provider says › without the key in the path or the query, the password, and the login as it is sent', () => {
  const sent = Buffer.from('ada:p@ss').toString('base64');
  for (const [url, said, kept] of [
    ['https://rpc.example/v2/0123456789abcdef', 'v2: no project 0123456789abcdef', 'v2: no project …'],
    ['https://rpc.example/?apikey=0123456789', 'bad key 0123456789', 'bad key …'],
    ['https://ada:p%40ss@rpc.example', `no login Basic ${sent}, p@ss or p%40ss`, 'no login Basic …, … or …'],
    ['https://rpc.example', 'nonce too low', 'nonce too low'],
  ] as const)
    assert.equal(withoutSecrets(said, url), kept);
});
