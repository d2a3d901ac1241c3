import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { chooseTests, UnknownChoice } from './runner/choose.ts';
import { needsDatabase, root } from './runner/graph.ts';
import { findKeptServer, startOwnServer, type TestServer } from './runner/server.ts';
import { slowestFirst, watchTimings } from './runner/timings.ts';
import { findPhp } from './support/php.ts';

/**
 * Runs all tests, those with a part of a name in their path (`npm test -- create`), or one of the kinds of
 * `npm run test:unit`, `test:changed`, `test:pages`, `test:stock` and `test:container`. If they need a database, they use
 * the PostgreSQL server of `npm run test:server`, or one started for the run. Each test file clones the migrated template
 * on it.
 */
const args = process.argv.slice(2);
const kind = args[0] ?? '';
/** Debian's PostgreSQL. It compiles statements and plans like every managed one. */
const stock = '/usr/lib/postgresql/15';
/** A test spends about half of its time waiting for its database, chain or browser. */
const filesAtOnce = 2 * availableParallelism();
/** For a file; the slowest takes four minutes on a busy machine, and the container's ten. It ends only what hangs. */
const testLimitMs = 1_800_000;

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
// All processes of a run, and the next run, share the compiled code.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/quittance-tests/compiled');

try {
  process.exitCode = await runTests();
} catch (error) {
  if (!(error instanceof UnknownChoice)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function runTests(): Promise<number> {
  if (kind === 'stock' && !existsSync(stock))
    throw new UnknownChoice(`There is no ${stock}: apt-get install postgresql-15`);
  const tests = chooseTests(args);
  if (tests.length === 0) {
    console.log('No test is reached.');
    return 0;
  }
  if (!findPhp() && tests.includes('test/journeys/portal-first-steps.test.ts')) {
    console.log(
      'PHP was not found, so what runs it in these tests is left out:\n  test/journeys/portal-first-steps.test.ts',
    );
  }
  const server = tests.some(needsDatabase) ? await findServer() : null;
  try {
    if (server) Object.assign(process.env, { TEST_DATABASE_URL: server.url, TEST_TEMPLATE: server.template });
    return await runFiles(kind === 'changed' ? tests : slowestFirst(tests));
  } finally {
    await server?.stop();
  }
}

async function findServer(): Promise<TestServer> {
  return (kind !== 'stock' && (await findKeptServer())) || startOwnServer(kind === 'stock' ? stock : null);
}

async function runFiles(tests: string[]): Promise<number> {
  const stream = run({
    files: tests.map((file) => join(root, file)),
    concurrency: filesAtOnce,
    timeout: testLimitMs,
    signal: ending.signal,
  });
  const timings = watchTimings(stream);
  let failed = false;
  stream.on('test:fail', () => {
    failed = true;
  });
  const shown = stream.compose(new spec());
  for await (const text of shown) process.stdout.write(text);
  timings.print();
  return failed || ending.signal.aborted ? 1 : 0;
}
