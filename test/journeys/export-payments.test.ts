import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
let partner: Visitor;
before(async () => {
  fixtures = await dashboardFixtures();
  partner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
});
after(() => fixtures?.stop());

const month = () => new Date().toISOString().slice(0, 7);

/** The lines of a file, each by the names of its columns. No cell of these contains a comma. */
async function linesOf(visitor: Visitor, path: string): Promise<Record<string, string>[]> {
  const { html, status } = await visitor.open(path);
  assert.equal(status, 200, path);
  const [header = [], ...rows] = html
    .trim()
    .split('\r\n')
    .map((line) => line.split(','));
  return rows.map((cells) => Object.fromEntries(header.map((name, i) => [name.replace('\ufeff', ''), cells[i] ?? ''])));
}

const paymentsIn = (lines: Record<string, string>[]) =>
  lines.map((line) => [line.payment_asset_ids, line.payment_tx_hashes, line.payment_usdc]);

test('each payment on the chain is in one line of the files, with its amount and token, also one of several parts', async () => {
  const [whole, parts, short, open] = [
    await fixtures.request({ exactMicro: 5_000_000n }),
    await fixtures.request({ exactMicro: 10_000_000n }),
    await fixtures.request({ exactMicro: 20_000_000n }),
    await fixtures.request({ exactMicro: 30_000_000n }),
  ];
  const paid = await fixtures.pay(whole);
  const first = await fixtures.pay(parts, { usdcMicro: 2_500_001n });
  const second = await fixtures.pay(parts, { usdcMicro: 7_501_000n });
  const part = await fixtures.pay(short, { usdcMicro: 1_000_000n });
  const stray = await fixtures.pay(open, { usdcMicro: 3_000_000n, tagged: false });
  await fixtures.node.mine(3);
  await fixtures.turn();

  const asset = `eip155:31337/erc20:${fixtures.node.chain.tokens[0]?.address}`;
  const cells = {
    [whole.id]: [asset, paid.txHash, '5.00'],
    [parts.id]: [`${asset} ${asset}`, `${first.txHash} ${second.txHash}`, '2.500001 7.5010'],
    [short.id]: [asset, part.txHash, '1.00'],
    [open.id]: ['', '', ''],
  };
  const everyFile = [
    await linesOf(fixtures.visitor, '/dashboard/payments.csv'),
    await linesOf(partner, '/portal/requests.csv'),
  ];
  for (const lines of everyFile) {
    assert.deepEqual(Object.fromEntries(lines.map((line, i) => [line.request_id, paymentsIn(lines)[i]])), cells);
  }
  const ofMonth = await linesOf(fixtures.visitor, `/dashboard/paid.csv?month=${month()}`);
  assert.deepEqual(paymentsIn(ofMonth).sort(), [cells[whole.id], cells[parts.id]].sort());
  const unmatched = await linesOf(fixtures.visitor, '/dashboard/unmatched.csv');
  assert.deepEqual(
    unmatched.map((line) => [line.tx_hash, line.usdc]),
    [[stray.txHash, '3.00']],
  );
});
