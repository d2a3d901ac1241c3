import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '../../src/chain/rpc.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
let partner: Visitor;
before(async () => {
  fixtures = await dashboardFixtures();
  partner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
});
after(() => fixtures?.stop());

const names = ['received_usdc', 'refunded_usdc', 'refund_status', 'refund_tx_hash', 'refunded_at'];
/** These cells of a request, in every file of requests. */
async function cellsOf({ id }: RequestRow): Promise<string[][]> {
  const month = new Date().toISOString().slice(0, 7);
  const files = [
    fixtures.visitor.open('/dashboard/payments.csv'),
    fixtures.visitor.open(`/dashboard/paid.csv?month=${month}`),
    partner.open('/portal/requests.csv'),
  ];
  return Promise.all(
    files.map(async (file) => {
      const [header = [], ...rows] = (await file).html.split('\r\n').map((line) => line.split(','));
      assert.ok(header.join().includes(names.slice(-4).join()), 'one after the other');
      const row = rows.find((cells) => cells.some((cell) => cell.endsWith(id))) ?? [];
      return names.map((name) => row[header.indexOf(name)] ?? '');
    }),
  );
}
const thrice = (cells: string[]) => [cells, cells, cells];

/** A request for 10 USDC that got 13. */
async function overpaid() {
  const request = await fixtures.request({ exactMicro: 10_000_000n });
  const payment = await fixtures.pay(request, { usdcMicro: 13_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  return { request, name: `31337_${payment.txHash}_0`, payer: payment.from.address };
}
const send = async (to: string, usdcMicro: bigint) => {
  const { privateKey, wallet } = fixtures.merchant;
  const hash = await fixtures.node.pay({ from: { privateKey, address: wallet as Hex }, to, usdcMicro });
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  return hash;
};

test('a surplus that is refunded in part → every file of requests says how much, how it stands, by which transaction and when', async () => {
  const { request, name, payer } = await overpaid();
  assert.deepEqual(await cellsOf(request), thrice(['13.00', '', '', '', '']));
  const page = await openRefund(fixtures.visitor, name);
  assert.deepEqual(await cellsOf(request), thrice(['13.00', '', 'returning', '', '']));
  const hash = await send(payer, 2_501_000n);
  await fixtures.visitor.send(page, name, { return_tx_hash: hash });
  const [row] = await fixtures.db.sql`select noted_at from returns where return_tx_hash = ${hash}`;
  const at = row?.noted_at.toISOString();
  assert.deepEqual(await cellsOf(request), thrice(['13.00', '2.5010', 'confirmed', hash, at]));
});

test('a refund by the merchant’s word has no amount; a cancelled one is not in the file', async () => {
  const [told, cancelled] = [await overpaid(), await overpaid()];
  const hash = await send(fixtures.node.wallet().address, 3_000_000n);
  await fixtures.visitor.send(await openRefund(fixtures.visitor, told.name), told.name, {
    return_tx_hash: hash,
    elsewhere: '1',
  });
  for (const [, refunded, status, transaction, at] of await cellsOf(told.request)) {
    assert.deepEqual([refunded, status, transaction], ['', 'other', hash]);
    assert.match(at ?? '', /^\d{4}-/);
  }
  await fixtures.visitor.send(await openRefund(fixtures.visitor, cancelled.name), '/put-back');
  assert.deepEqual(await cellsOf(cancelled.request), thrice(['13.00', '', '', '', '']));
});

test('two payments of one request that are refunded → one line, with the sum and both transactions, oldest first', async () => {
  const request = await fixtures.request({ exactMicro: 10_000_000n });
  await fixtures.pay(request, { usdcMicro: 4_000_000n });
  const second = await fixtures.pay(request, { usdcMicro: 8_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const hash = (digit: string) => `0x${digit.repeat(64)}`;
  const [one, two] = [hash('1'), hash('2')];
  await fixtures.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, request_id, token_address,
      from_address, to_address, usdc_micro, return_tx_hash, state, given_micro, noted_at)
    select partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, request_id, token_address, to_address,
      from_address, 1000000, case when tx_hash = ${second.txHash} then ${one} else ${two} end, 'confirmed', 1000000,
      case when tx_hash = ${second.txHash} then now() - interval '1 minute' else now() end
    from transfers where request_id = ${request.id}`;
  for (const cells of await cellsOf(request)) {
    assert.deepEqual(cells.slice(0, 4), ['12.00', '2.00', 'confirmed confirmed', `${one} ${two}`]);
  }
});

test('an unmatched payment that is refunded → its line says how much went back, and when it was recorded, once it was', async () => {
  const request = await fixtures.request({ exactMicro: 10_000_000n });
  const stray = await fixtures.pay(request, { usdcMicro: 4_000_000n, tagged: false });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const refundCells = () =>
    Promise.all(
      [fixtures.visitor.open('/dashboard/unmatched.csv'), partner.open('/portal/unmatched.csv')].map(async (file) => {
        const [header = [], ...rows] = (await file).html.split('\r\n').map((line) => line.split(','));
        assert.deepEqual(header.slice(-4), ['given_back', 'given_back_tx_hash', 'refunded_usdc', 'refunded_at']);
        return rows.find((cells) => cells.includes(stray.txHash))?.slice(-4);
      }),
    );
  assert.deepEqual(await refundCells(), Array(2).fill(['', '', '', '']));
  const name = `31337_${stray.txHash}_0`;
  const page = await openRefund(fixtures.visitor, name);
  assert.deepEqual(await refundCells(), Array(2).fill(['returning', '', '', '']));
  const hash = await send(stray.from.address, 1_500_000n);
  await fixtures.visitor.send(page, name, { return_tx_hash: hash });
  const [row] = await fixtures.db.sql`select noted_at from returns where return_tx_hash = ${hash}`;
  assert.deepEqual(await refundCells(), Array(2).fill(['confirmed', hash, '1.50', row?.noted_at.toISOString()]));
});
