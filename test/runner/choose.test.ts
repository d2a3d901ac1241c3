import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allTests, chooseTests, reachedByChanges } from './choose.ts';
import { isUnit, needsDatabase } from './graph.ts';

/** All tests but those of the runner, which name files only to ask about them. */
const all = allTests().filter((file) => !file.startsWith('test/runner/'));
const reached = (file: string) => reachedByChanges(all, [file]);

test('a part of a name → the files with it in their path, each once; one that fits none → a sentence', () => {
  assert.deepEqual(chooseTests(['test/api/create.test.ts']), ['test/api/create.test.ts']);
  assert.deepEqual(chooseTests(['api/tenancy', 'tenancy.test']), ['test/api/tenancy.test.ts']);
  assert.throws(() => chooseTests(['no-such-test']), { message: 'No test file has "no-such-test" in its path.' });
  assert.throws(() => chooseTests(['changed', 'no-such-commit']), /no commit "no-such-commit"/);
});

test('unit tests start nothing: the rules beside their files, and no test of an endpoint, a page or a process', () => {
  const unit = chooseTests(['unit']);
  assert.ok(unit.includes('src/lib/money.test.ts') && unit.includes('test/architecture.test.ts'));
  assert.deepEqual(
    unit.filter((file) => /^test\/(?:api|pages|payments|service)\//.test(file) || needsDatabase(file)),
    [],
  );
  assert.equal(isUnit('src/auth/calls-per-minute.test.ts'), false, 'it counts in a database');
});

test('stock › tests of API, journeys and payments, but those whose statements others send; they can be named', () => {
  const stock = chooseTests(['stock']);
  const left = allTests().filter((file) => /^test\/(?:api|journeys|payments)\//.test(file) && !stock.includes(file));
  assert.deepEqual(left, [
    'test/journeys/page-limit.test.ts',
    'test/journeys/watch-false-answers.test.ts',
    'test/payments/lying-reader.test.ts',
  ]);
  assert.ok(stock.includes('test/payments/verify.test.ts') && !stock.some((file) => file.startsWith('test/service/')));
  assert.deepEqual(chooseTests(['stock', 'lying-reader']), ['test/payments/lying-reader.test.ts']);
});

test('a change reaches the tests whose imports lead to it, the nearest first', () => {
  const ofMoney = reached('src/lib/money.ts');
  assert.equal(ofMoney[0], 'src/lib/money.test.ts');
  assert.ok(ofMoney.includes('test/api/create.test.ts'));
  assert.ok(!ofMoney.includes('src/lib/files.test.ts'));
  assert.deepEqual(reached('test/api/create.test.ts').slice(0, 1), ['test/api/create.test.ts']);
});

test('files that are read by name count: migrations, styles, texts, documents', () => {
  const ofMigration = new Set(reached('migrations/0001_init.sql'));
  assert.deepEqual(
    all.filter((file) => needsDatabase(file) && !ofMigration.has(file)),
    [],
  );
  for (const file of ['src/ui/style.css', 'src/texts/pay/de.ts']) {
    assert.ok(reached(file).includes('test/pages/pay-panel.test.ts'), file);
  }
  assert.ok(reached('README.md').includes('test/service/readme.test.ts'));
  assert.deepEqual(reached('docs/operating.md'), [
    'src/config/misspelt.test.ts',
    'test/documents.test.ts',
    'test/figures.test.ts',
  ]);
});

test('a file that all tests run on, or that no test leads to, affects all tests', () => {
  for (const file of ['package-lock.json', 'test/run.ts', 'src/of-unknown-use.json'])
    assert.deepEqual(reached(file), all);
});
