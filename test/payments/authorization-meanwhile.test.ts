import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import type { SignedAuthorization } from '../../src/payments/authorized/authorization.ts';
import { readAuthorizationOutcome } from '../../src/payments/authorized/outcome.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { usdcBalance } from '../../src/sandbox/wallet.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import { randomAddress, randomHash } from '../support/fixtures.ts';
import { type AuthorizedFixtures, authorizedFixtures } from '../support/payments/authorized-fixtures.ts';

let f: AuthorizedFixtures;
before(async () => {
  f = await authorizedFixtures();
});
after(() => f?.stop());

/** A wallet with coin for fees. */
async function rich() {
  const wallet = f.node.wallet();
  await f.rpc('anvil_setBalance', [wallet.address, '0x1000000000000000000']);
  return wallet;
}

/** Submits an authorization, and has another one executed before its transaction is mined. */
async function frontRun(request: RequestRow, signed: SignedAuthorization, faster: SignedAuthorization): Promise<void> {
  await f.rpc('evm_setAutomine', [false]);
  assert.equal((await f.submit(request, signed)).kind, 'sent');
  await f.rpc('anvil_dropAllTransactions');
  await f.rpc('evm_setAutomine', [true]);
  const [ours] = await f.db.sql`select signed from relay_variants order by signed_at desc limit 1`;
  await f.execute(faster, await rich());
  await f.rpc('eth_sendRawTransaction', [`0x${Buffer.from(ours?.signed).toString('hex')}` as Hex]);
}

test('part of the amount comes while an authorization of all of it is submitted → it is not sent', async () => {
  const request = await f.request();
  const due = BigInt(request.usdc_micro);
  await f.pay(request, { usdcMicro: due - 1_000_000n });
  await f.settle();
  const [all, rest] = [await f.payer(), await f.payer()];
  assert.equal((await f.submit(request, await f.sign(request, all), due)).kind, 'changed');
  const signed = await f.sign(request, rest, { valueMicro: 1_000_000n });
  assert.equal((await f.submit(request, signed, 1_000_000n)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});

test('a manual payment was read and is not matched yet, with a reference or by its amount → nothing is sent', async () => {
  for (const tagged of [true, false]) {
    const request = await f.request();
    const signed = await f.sign(request, await f.payer());
    const before = await f.sent();
    await f.pay(request, { tagged });
    await f.caughtUp();
    assert.equal((await f.submit(request, signed)).kind, 'other_under_way');
    await f.settle();
    assert.deepEqual([(await f.read(request)).proof_status, await f.sent()], ['verified', before]);
  }
});

test('the rest after a part was paid by its amount, read and not matched yet → nothing is sent', async () => {
  const request = await f.request();
  await f.pay(request, { usdcMicro: 5_000_000n });
  await f.settle();
  const [rest] = await f.db.sql`select usdc_micro from reserved_rests where request_id = ${request.id}`;
  const usdcMicro = BigInt(rest?.usdc_micro);
  const signed = await f.sign(request, await f.payer(), { valueMicro: usdcMicro });
  const before = await f.sent();
  await f.pay(request, { tagged: false, usdcMicro });
  await f.caughtUp();
  assert.equal((await f.submit(request, signed, usdcMicro)).kind, 'other_under_way');
  await f.settle();
  assert.deepEqual([(await f.read(request)).proof_status, await f.sent()], ['verified', before]);
});

test('an automatic charge of the request is on its way → nothing is sent until it has moved nothing', async () => {
  const request = await f.request();
  const signed = await f.sign(request, await f.payer());
  const before = await f.sent();
  const id = randomUUID();
  await f.db.sql`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas, purpose,
      subject_id, day, fee_wei, state, hash)
    values (${request.partner_id}, ${request.test_mode}, ${id}, 31338, ${randomAddress()}, 1, '0x', '', 1, 'charge',
      ${request.id}, current_date, 0, 'sent', ${randomHash()})`;
  assert.equal((await f.submit(request, signed)).kind, 'other_under_way');
  assert.equal(await f.sent(), before);
  await f.db.sql`update relay_transactions set state = 'reverted', ended_at = now() where id = ${id}`;
  assert.equal((await f.submit(request, signed)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});

test('submitted by somebody else, read and not matched yet → another wallet’s is refused, though our call failed', async () => {
  const request = await f.request();
  const nonce = `0x${'5a'.repeat(32)}` as const;
  const [first, second] = [await f.sign(request, await f.payer(), { nonce }), await f.sign(request, await f.payer())];
  await frontRun(request, first, first);
  await f.caughtUp();
  await f.follow();
  await f.follow();
  assert.equal((await f.submit(request, second)).kind, 'other_under_way');
  await f.settle();
  assert.equal((await f.read(request)).payer_address, first.from);
});

test('less is signed and executed under the same nonce → counts as a failure of the wallet, not as the submitted payment', async () => {
  const request = await f.request();
  const from = await f.payer();
  for (let counter = 0; counter < 3; counter++) {
    const signed = await f.sign(request, from, { counter });
    await frontRun(request, signed, await f.sign(request, from, { counter, valueMicro: 1n }));
    await f.settle();
    await f.follow();
    const nonce = Buffer.from(signed.nonce.slice(2), 'hex');
    const key = { chainId: f.chain.chainId, tokenAddress: f.token.address, authorizer: from.address, nonce };
    assert.equal((await readAuthorizationOutcome(f.ctx, f.scope, request.id, key))?.state, 'failed');
  }
  const fourth = await f.sign(request, from, { counter: 3 });
  assert.equal((await f.submit(request, fourth)).kind, 'too_often');
});

/** Submits an authorization while the relayer's signer is away, and has it back once this was done in between. */
async function whileNobodySigns(request: RequestRow, payer: TestWallet, meanwhile: () => Promise<unknown>) {
  const signed = await f.sign(request, payer);
  const signers = f.ctx.config.relayer.signers.map(({ address }) => ({ address, url: 'http://127.0.0.1:9' }));
  const away = { ...f.ctx, config: { ...f.ctx.config, relayer: { signers } } };
  assert.equal((await f.submit(request, signed, BigInt(request.usdc_micro), away)).kind, 'sent');
  await meanwhile();
  await f.settle();
  await f.db.sql`
    update relay_transactions set allotted_at = now() - interval '1 hour', tried_at = null where state = 'allotted'`;
  await f.follow();
  await f.settle();
  await f.settle();
  const nonce = Buffer.from(signed.nonce.slice(2), 'hex');
  const key = { chainId: f.chain.chainId, tokenAddress: f.token.address, authorizer: payer.address, nonce };
  return (await readAuthorizationOutcome(f.ctx, f.scope, request.id, key))?.state;
}

test('a signed payment waits for the relayer’s signature, and the request is paid otherwise → it is never sent', async () => {
  const request = await f.request();
  const payer = await f.payer();
  const before = await f.sent();
  assert.equal(await whileNobodySigns(request, payer, () => f.pay(request)), 'failed');
  assert.equal((await f.read(request)).proof_status, 'verified');
  assert.equal(await f.sent(), before + 1, 'its nonce is used up');
  assert.equal(await usdcBalance(f.chain, payer.address), 10n ** 9n);
});

test('a signed payment waits, and the request is cancelled or expires → it is never sent', async () => {
  const ends = {
    cancelled: ({ id }: RequestRow) => cancelRequest(f.ctx, theService, f.scope, id),
    expired: ({ id }: RequestRow) =>
      f.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${id}`,
  };
  for (const [name, end] of Object.entries(ends)) {
    const request = await f.request();
    const payer = await f.payer();
    assert.equal(await whileNobodySigns(request, payer, () => end(request)), 'failed', name);
    assert.equal(await usdcBalance(f.chain, payer.address), 10n ** 9n, name);
  }
});

test('a signed payment of all waits, and a part comes → it is not sent, and the rest can be signed', async () => {
  const request = await f.request();
  const payer = await f.payer();
  const before = await f.sent();
  const part = BigInt(request.usdc_micro) - 1_000_000n;
  assert.equal(await whileNobodySigns(request, payer, () => f.pay(request, { usdcMicro: part })), 'failed');
  assert.equal(await f.sent(), before + 1, 'its nonce is used up');
  assert.equal(await usdcBalance(f.chain, payer.address), 10n ** 9n);
  const rest = await f.sign(request, payer, { valueMicro: 1_000_000n });
  assert.equal((await f.submit(request, rest, 1_000_000n)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});

test('a signed payment of all waits, and a part of less than a cent comes → it is sent', async () => {
  const request = await f.request();
  const payer = await f.payer();
  const due = BigInt(request.usdc_micro);
  await whileNobodySigns(request, payer, () => f.pay(request, { usdcMicro: 9_999n }));
  assert.equal(await usdcBalance(f.chain, payer.address), 10n ** 9n - due);
  assert.equal((await f.read(request)).proof_status, 'verified');
});
