import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { restMicro } from '../../src/payments/rules.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder, endAll, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../..');
const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  (match) => match[1] as string,
);
/** The commands in the table, in order, as written. */
const inTable = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^\| .*$/gm)].flatMap(([line]) =>
  [...line.matchAll(/`(bin\/quittance [^`]*)`/g)].map((match) => match[1] as string),
);
/** Run by `.ci/run` on a clean checkout, and by anyone who runs this test. */
const runElsewhere = ['npm ci && npm start\n', 'npm ci && npm test\n'];

after(endAll);

test('README › every command, in order, as pasted into a second terminal', async () => {
  const dataDir = dataFolder();
  const service = await startService({ DATA_DIR: dataDir });
  const printed = service.stdout();
  const find = (pattern: RegExp) => pattern.exec(printed)?.[1] ?? assert.fail(`not printed: ${pattern}`);
  const values: Record<string, string> = {
    KEY: find(/Test key +(qt_test_\w+)/),
    MERCHANT: find(/Merchant, ready +(\S+)/),
    NEW_MERCHANT: find(/Merchant, new +(\S+)/),
  };
  const ask = blocks.find((block) => block.includes('/api/v1/requests/create')) ?? assert.fail('no request is made');
  assert.ok(inTable.length >= 8, inTable.join('\n'));
  const script = [...blocks.filter((block) => !runElsewhere.includes(block)), ask, ...inTable]
    .join('\n')
    .replace(
      /^([A-Z_]+)=(?:qt_test_)?\.\.\.$/gm,
      (_line, name: string) => `${name}=${values[name] ?? assert.fail(name)}`,
    )
    .replaceAll('http://localhost:3000', service.url);

  const folder = mkdtempSync(join(tmpdir(), 'quittance-readme-'));
  symlinkSync(join(root, 'bin'), join(folder, 'bin'));
  const env = { ...process.env, DATA_DIR: dataDir }; // the data folder contains the service's address
  const { stdout, stderr } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env,
    timeout: patienceMs,
  });
  rmSync(folder, { recursive: true });

  assert.match(stdout, /"status":"requested"/);
  assert.match(stdout, /payment\.proof_verified .* signature valid/);
  assert.match(stdout, /"proof_status":"verified"/);
  assert.match(stdout, /wallet_address +0x[0-9a-f]{40}/);
  assert.match(stdout, /delivered/);
  assert.match(stdout, /max_per_charge_usdc +\d/);
  assert.match(stdout, /charged +within a few seconds/);
  const plan = /^plan_id +(\S+)/m.exec(stdout)?.[1] ?? assert.fail('no plan was made');
  const chargeAgain = () => promisify(execFile)(join(root, 'bin/quittance'), ['sandbox', 'charge', plan], { env });
  const isLater = async () =>
    /charged +from \d{4}-\d\d-\S+, when the agreement allows it/.test((await chargeAgain()).stdout);
  await until(isLater, 'the first charge to be on its way, after which the agreement allows none for a month');
  assert.match(stdout, /healthy +true/);
  assert.match(stdout, /Usage: quittance/);
  assert.ok(stdout.includes(`http://localhost:${new URL(service.url).port}/portal/`), 'an address of another service');
  assert.match(stdout, /status +expired/);
  assert.match(stdout, /whsec_/);
  assert.doesNotMatch(stderr, /error|warn/i);
  await service.stop();
});

test('README › its underpayment is large enough for the pay page to ask for the rest', () => {
  const command = inTable.find((one) => one.includes('--usdc-micro')) ?? assert.fail('no underpayment');
  const micro = BigInt(/--usdc-micro (\d+)/.exec(command)?.[1] ?? 0);
  assert.ok(restMicro(1_250n * 10_000n, micro) !== null, command);
});

test('README › the scripts and files it names exist', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const links = [...readme.matchAll(/\]\((docs\/[^)]+)\)/g)].map((match) => match[1] as string);
  const sources = [...readme.matchAll(/`(src\/[a-z/]+\.ts)`/g)].map((match) => match[1] as string);
  assert.deepEqual(
    [...links, ...sources].filter((file) => !existsSync(join(root, file))),
    [],
  );
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const named = [...readme.matchAll(/npm run ([a-z:]+)/g)].map((match) => match[1] as string);
  assert.deepEqual(
    named.filter((name) => !(name in scripts)),
    [],
  );
});
