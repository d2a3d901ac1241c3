import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actName, objectName, whoName } from './audit-words.ts';
import { languages, wordsOf } from './language.ts';

test('an actor of the log → in the reader’s language; people and wallets by their own names', () => {
  const shown = (kind: string, name: string) => whoName(wordsOf('de'), { actor_kind: kind, actor_name: name });
  assert.equal(shown('command_line', 'command line'), 'Kommandozeile');
  assert.equal(shown('service', 'the service'), 'System');
  assert.equal(shown('api_key', 'API key qt_test_abc'), 'API-Schlüssel qt_test_abc');
  assert.equal(shown('operator', 'command line'), 'command line');
  assert.equal(shown('merchant', '0xabc'), '0xabc');
});

test('an action or target without a text → shown by its name, in every language', () => {
  for (const language of languages) {
    const words = wordsOf(language);
    assert.equal(actName(words, 'thing.done'), 'thing.done');
    assert.equal(objectName(words, 'thing'), 'thing');
    assert.notEqual(actName(words, 'request.cancelled'), 'request.cancelled');
  }
});
