import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dispatch } from '../../src/chain/relay/relay.ts';
import { relayerStatus } from '../../src/chain/relay/status.ts';
import { checkRelayer } from '../../src/cli/relayer.ts';
import type { Context } from '../../src/context.ts';
import { openRegistry } from '../../src/http/metrics.ts';
import { passTime, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { fundRelayer, testRelayer } from '../support/chain/relayer.ts';

const { address } = testRelayer;
let f: RelayFixtures;
before(async () => {
  f = await relayFixtures();
});
after(() => f.stop());

/** The metrics of the relayer, by name and labels. */
async function metrics(): Promise<Map<string, number>> {
  const body = await openRegistry(f.ctx).metrics();
  const lines = body.split('\n').filter((line) => line.startsWith('quittance_relayer_'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}
const of = (name: string) => `quittance_relayer_${name}{chain_id="31337",address="${address}"}`;
const advices = async (ctx: Context = f.ctx) =>
  (await checkRelayer(ctx)).map(({ state, advice }) => `${state} ${advice}`);

test('all is well → the page, the metrics and doctor say so', async () => {
  const [status] = await relayerStatus(f.ctx);
  assert.deepEqual([status?.address, status?.blocker, status?.pending, status?.stuck], [address, null, 0, 0]);
  assert.equal(status?.balanceWei, 1000n * 10n ** 18n);
  assert.deepEqual(await advices(), ['ok ']);
  const figures = await metrics();
  assert.equal(figures.get(of('ready')), 1);
  assert.equal(figures.get(of('balance_wei')), 1e21);
  assert.ok([...figures.keys()].every((name) => !name.includes(f.scope.partnerId)));
});

test('a call is under way, and stuck → counted, with the provider’s message', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const id = await f.allot(f.call());
  await dispatch(f.ctx, id);
  assert.equal((await metrics()).get(of('pending')), 1);
  assert.ok(((await metrics()).get('quittance_relayer_spent_today_wei{chain_id="31337"}') ?? 0) > 0);
  await passTime(f.db, 700);
  await f.db.sql`update relay_transactions set trouble = 'refused: no' where id = ${id}`;
  const [status] = await relayerStatus(f.ctx);
  assert.deepEqual([status?.stuck, status?.trouble], [1, 'refused: no']);
  assert.match((await advices())[0] ?? '', /attention 1 transactions have not been mined.*refused: no/);
  await f.rpc('evm_setAutomine', [true]);
  await f.node.mine(1);
  await f.read();
  await f.follow();
  assert.equal((await metrics()).get(of('stuck')), 0);
});

test('without coin → it says how much there is and where to send more', async () => {
  await fundRelayer(f.node.chain, 10n ** 15n);
  await f.follow();
  assert.match((await advices())[0] ?? '', /attention It has 0.001 ETH and needs 1 ETH .* fund it/);
  assert.equal((await metrics()).get(of('ready')), 0);
  await fundRelayer(f.node.chain);
  await f.follow();
});

test('without a key → doctor says what is missing, and an old address with calls under way is still shown', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const id = await f.allot(f.call());
  const ctx = { ...f.ctx, config: { ...f.ctx.config, relayer: { signers: [] } } };
  const [status] = await relayerStatus(ctx);
  assert.deepEqual([status?.address, status?.blocker, status?.pending], [address, 'no_key', 1]);
  assert.match((await advices(ctx))[0] ?? '', /attention No key pays fees.*RELAYER_KEYS/);
  await f.rpc('evm_setAutomine', [true]);
  await dispatch(f.ctx, id);
});
