import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { usdcBalance } from '../../src/sandbox/wallet.ts';
import { refund } from '../faults/actions.ts';
import { Model, type Order, type Payment } from '../faults/model.ts';
import { simulate } from '../faults/simulate.ts';
import type { Stage } from '../faults/stage.ts';
import { faultKinds } from '../faults/steps.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { payFixtures } from '../support/payments/pay-fixtures.ts';
import { endAll } from '../support/service.ts';

after(endAll);

const steps = 240;
/** Always the same here, so that a change is judged alike each time; `npm run faults` draws others. */
const seeds = [20_261_122, 41];

for (const seed of seeds) {
  test(`${steps} steps of seed ${seed} with all kinds of faults → the service agrees with the model`, async (t) => {
    t.diagnostic(`npm run faults -- --seed ${seed} --steps ${steps}`);
    const print = (line: string) => t.diagnostic(line);
    const figures = await simulate({ seed, steps, kinds: faultKinds, print, signal: t.signal });
    t.diagnostic(JSON.stringify(figures.made));
  });
}

test('two steps refund the same payment at once → the simulated merchant sends it back once', async (t) => {
  const { ctx, db, scope, node, turn, stop } = await payFixtures();
  t.after(stop);
  const wallet = node.wallet();
  const merchant = await makeMerchant(db, scope, { wallet: wallet.address });
  await makeRequest(db, scope, merchant); // from now on its wallet is watched
  await node.fund(wallet.address, 0n);
  const from = node.wallet();
  const usdcMicro = 10_000_000n;
  const pay = () => node.pay({ from, to: wallet.address, usdcMicro });
  const [txHash] = [await pay(), await pay()];
  await node.mine(5);
  await turn();

  const model = new Model();
  const order = {
    partner: 0,
    merchant: { id: merchant.id, isReset: false },
    wallet: { ...wallet, isOn: null },
  };
  const payment = {
    how: 'rounded',
    txHash,
    usdcMicro,
    from,
    where: 'here',
    block: 1,
    claimed: false,
    refund: 'no',
    refundHash: null,
  };
  const stray = { ...payment, order: { ...order, payments: [] } as unknown as Order } as Payment;
  model.add(stray);
  const stage = { ctx, model, chain: node, partners: [{ scope }] } as Partial<Stage> as Stage;
  assert.deepEqual(await Promise.all([refund(stage, [0]), refund(stage, [0])]), [true, false]);
  assert.equal(stray.refund, 'yes');
  assert.equal(await usdcBalance(node.chain, wallet.address), usdcMicro);
});
