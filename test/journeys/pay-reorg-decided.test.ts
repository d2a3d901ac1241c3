import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures.stop());

/** A request whose payment is final only after four blocks, so a reorganisation can still remove it. */
const request = (units: bigint) => fixtures.request({ exactMicro: 2_000_000_000n + units * 1_000_000n });
const keyFor = (txHash: string) => ({ chainId: 31337, txHash, ordinal: 0 });

/** Pays with nothing that identifies the request. */
async function payUnnamed(of: RequestRow, usdcMicro: bigint) {
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, usdcMicro);
  const { txHash } = await fixtures.pay(of, { from, usdcMicro, tagged: false });
  const raw = (await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'eth_getRawTransactionByHash', [txHash])) as string;
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.reason, 'no_match');
  return { txHash, raw, from };
}
type Paid = Awaited<ReturnType<typeof payUnnamed>>;

async function claims(of: RequestRow, { txHash, from }: Paid) {
  const data = claimTypedData(fixtures.ctx.config, of.id, keyFor(txHash));
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(data);
  return claim(fixtures.ctx, of.id, { ...keyFor(txHash), signature });
}
const attaches = (of: RequestRow, { txHash }: Paid) =>
  attachUnmatched(fixtures.ctx, theService, fixtures.scope, {
    ...keyFor(txHash),
    accountId: fixtures.merchant.id,
    requestId: of.id,
  });
const proofOf = async (of: RequestRow) => (await fixtures.read(of)).proof_status;

async function minedAgain({ raw }: Paid): Promise<void> {
  await fixtures.node.resend(raw);
  await fixtures.turn();
}

for (const [rule, decide] of [
  ['claim', claims],
  ['merchant', attaches],
] as const) {
  test(`${rule} › reorganised and mined again → applied again, by the same rule`, async () => {
    const asked = await request(rule === 'claim' ? 1n : 2n);
    const paid = await payUnnamed(asked, BigInt(asked.usdc_micro) + 77n);
    assert.deepEqual(await decide(asked, paid), { kind: 'counted', proofStatus: 'attached' });
    for (let times = 0; times < 2; times++) {
      await fixtures.node.reorg(1);
      await fixtures.turn();
      assert.equal(await proofOf(asked), 'none');
      await minedAgain(paid);
      const row = await fixtures.transfer(paid.txHash);
      assert.deepEqual([row?.request_id, row?.rule, await proofOf(asked)], [asked.id, rule, 'attached']);
    }
    await fixtures.node.mine(4);
    await fixtures.turn();
    assert.equal(await proofOf(asked), 'verified');
    assert.equal((await fixtures.events(asked)).length, 1);
  });
}

test('merchant › the completing payment is mined again before the partial one → it counts as partial until that is mined too', async () => {
  const asked = await request(3n);
  const part = await payUnnamed(asked, 500_000_077n);
  assert.equal((await claims(asked, part)).kind, 'underpaid');
  const rest = await payUnnamed(asked, BigInt(asked.usdc_micro) - 500_000_000n);
  assert.equal((await attaches(asked, rest)).kind, 'counted');
  await fixtures.node.reorg(3); // includes the funding block between them
  await fixtures.turn();
  assert.equal(await proofOf(asked), 'none');
  await fixtures.node.fund(rest.from.address, 2_000_000_000n);
  await minedAgain(rest);
  assert.equal((await fixtures.transfer(rest.txHash))?.request_id, asked.id);
  assert.equal(await proofOf(asked), 'none');
  await minedAgain(part);
  assert.equal(await proofOf(asked), 'attached');
});

test('claim › the request is voided, or paid by another, before it is mined again → unmatched with the reason', async () => {
  const asked = await request(4n);
  const paid = await payUnnamed(asked, BigInt(asked.usdc_micro) + 77n);
  await claims(asked, paid);
  await fixtures.node.reorg(1);
  await fixtures.turn();
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${asked.id}`;
  await minedAgain(paid);
  const row = await fixtures.transfer(paid.txHash);
  assert.deepEqual([row?.request_id, row?.reason, row?.candidate_request_id], [null, 'voided', asked.id]);
});

test('claim › another transfer has its ordinal when it is mined again → the signature does not apply to it', async () => {
  const asked = await request(5n);
  const paid = await payUnnamed(asked, BigInt(asked.usdc_micro) + 77n);
  await claims(asked, paid);
  await fixtures.node.reorg(1);
  await fixtures.turn();
  const other = fixtures.node.wallet().address;
  await fixtures.db.sql`update kept_bindings set from_address = ${other} where tx_hash = ${paid.txHash}`;
  await minedAgain(paid);
  assert.equal((await fixtures.transfer(paid.txHash))?.reason, 'no_match');
});
