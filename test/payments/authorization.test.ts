import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { callRpc, type Hex } from '../../src/chain/rpc.ts';
import { bindAuthorization } from '../../src/payments/authorized/store.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { authorizedCall } from '../support/chain/authorize.ts';
import { placeScript } from '../support/chain/script.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures?.stop());

const usdc = () => fixtures.node.chain.tokens[0]?.address as Hex;
const half = (request: RequestRow) => BigInt(request.usdc_micro) / 2n + 1n;

/** A wallet with money and no coin for fees. */
async function payer() {
  const wallet = fixtures.node.wallet();
  await fixtures.node.fund(wallet.address, 10n ** 9n);
  await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'anvil_setBalance', [wallet.address, '0x0']);
  return wallet;
}

type Signed = Partial<Parameters<typeof authorizedCall>[1]>;
/** The call that executes an authorization of a new payer for a request, and who signed it. */
async function authorize(request: RequestRow, details: Signed = {}) {
  const from = await payer();
  const call = await authorizedCall(fixtures.node.chain, {
    privateKey: from.privateKey,
    to: request.wallet_address,
    usdcMicro: BigInt(request.usdc_micro),
    nonce: authorizationNonce(request.reference, 0),
    ...details,
  });
  return { from, call };
}

/** Sends a call to the token from a wallet that has nothing to do with the payment. */
async function sendAsStranger(data: Hex, signer = fixtures.node.wallet()): Promise<string> {
  await fixtures.node.fund(signer.address, 0n);
  return sendTransaction(fixtures.node.chain, signer.privateKey, usdc(), data);
}

const settle = async () => {
  await fixtures.node.mine(3);
  await fixtures.turn();
};
const outcomeOf = async (txHash: string) => {
  const row = await fixtures.transfer(txHash);
  return { request: row?.request_id, rule: row?.rule, reason: row?.reason };
};
const unmatched = (reason: string) => ({ request: null, rule: null, reason });

test('an authorization whose nonce names a request, submitted by a stranger → paid by its authorizer', async () => {
  const request = await fixtures.request();
  const { from, call } = await authorize(request);
  const txHash = await sendAsStranger(call);
  await settle();
  assert.deepEqual(await outcomeOf(txHash), { request: request.id, rule: 'authorization', reason: null });
  const paid = await fixtures.read(request);
  assert.equal(paid.proof_status, 'verified');
  assert.equal(paid.payer_address, from.address);
  const [event] = await fixtures.events(request);
  assert.equal(JSON.parse(event?.body).payer_address, from.address);
});

test('several authorizations inside one contract call → each pays its own request', async () => {
  const requests = [await fixtures.request(), await fixtures.request(), await fixtures.request()];
  const script = await placeScript(fixtures.node);
  const calls = await Promise.all(requests.map((request) => authorize(request)));
  await script.run(calls.map(({ call }) => ({ to: usdc(), data: call })));
  await settle();
  for (const [i, request] of requests.entries()) {
    const paid = await fixtures.read(request);
    assert.equal(paid.proof_status, 'verified');
    assert.equal(paid.payer_address, calls[i]?.from.address);
  }
});

test('two authorizations of half the amount, by counters 0 and 1 → together they pay it', async () => {
  const request = await fixtures.request();
  for (const counter of [0, 1]) {
    const nonce = authorizationNonce(request.reference, counter);
    const { call } = await authorize(request, { usdcMicro: half(request), nonce });
    await sendAsStranger(call);
    await settle();
    assert.equal((await fixtures.read(request)).proof_status, counter === 0 ? 'none' : 'verified');
  }
});

test('receiveWithAuthorization, sent by the merchant’s own wallet → counts the same', async () => {
  const wallet = fixtures.node.wallet();
  const merchant = await makeMerchant(fixtures.db, fixtures.scope, { wallet: wallet.address });
  const request = await makeRequest(fixtures.db, fixtures.scope, merchant);
  const { call } = await authorize(request, { kind: 'ReceiveWithAuthorization' });
  const txHash = await sendAsStranger(call, wallet);
  await settle();
  assert.deepEqual(await outcomeOf(txHash), { request: request.id, rule: 'authorization', reason: null });
});

test('a nonce that names a request, in a payment of another’s exact amount → the named one, the other is untouched', async () => {
  const [named, other] = [await fixtures.request(), await fixtures.request()];
  const { call } = await authorize(named, { usdcMicro: BigInt(other.usdc_micro) });
  const txHash = await sendAsStranger(call);
  await settle();
  assert.equal((await outcomeOf(txHash)).request, named.id);
  assert.equal((await fixtures.read(other)).proof_status, 'none');
});

test('a nonce that names a request to another wallet → conflict, also where the amount fits', async () => {
  const neighbour = await makeMerchant(fixtures.db, fixtures.scope);
  const [theirs, own] = [await makeRequest(fixtures.db, fixtures.scope, neighbour), await fixtures.request()];
  const nonce = authorizationNonce(theirs.reference, 0);
  const { call } = await authorize(own, { nonce });
  const txHash = await sendAsStranger(call);
  await settle();
  assert.deepEqual(await outcomeOf(txHash), unmatched('conflict'));
  assert.equal((await fixtures.read(own)).proof_status, 'none');
});

test('a nonce that names nothing, or another partner’s request → the amount decides', async () => {
  const { test: foreign } = await makePartner(fixtures.db);
  const stranger = await makeRequest(fixtures.db, foreign, await makeMerchant(fixtures.db, foreign));
  for (const nonce of [randomBytes(32), authorizationNonce(stranger.reference, 0)]) {
    const request = await fixtures.request();
    const { call } = await authorize(request, { nonce });
    const txHash = await sendAsStranger(call);
    await settle();
    assert.deepEqual(await outcomeOf(txHash), { request: request.id, rule: 'amount', reason: null });
  }
});

test('a request that was cancelled, expired long ago, or is paid → not counted, and marked as meant for it', async () => {
  const [voided, late, paid] = [await fixtures.request(), await fixtures.request(), await fixtures.request()];
  await cancelRequest(fixtures.ctx, theService, fixtures.scope, voided.id);
  await fixtures.db.sql`update requests set expires_at = now() - interval '31 minutes' where id = ${late.id}`;
  await sendAsStranger((await authorize(paid)).call);
  await settle();
  const again = authorizationNonce(paid.reference, 1);
  for (const [request, reason, nonce] of [
    [voided, 'voided', authorizationNonce(voided.reference, 0)],
    [late, 'late', authorizationNonce(late.reference, 0)],
    [paid, 'already_paid', again],
  ] as const) {
    const txHash = await sendAsStranger((await authorize(request, { nonce })).call);
    await settle();
    assert.deepEqual(await outcomeOf(txHash), unmatched(reason));
    assert.equal((await fixtures.transfer(txHash))?.candidate_request_id, request.id);
  }
});

test('reorganised away before it is final → none again; submitted once more → paid', async () => {
  const request = await fixtures.request();
  const { call } = await authorize(request);
  await sendAsStranger(call);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  await fixtures.node.reorg(1);
  await fixtures.turn();
  const { proof_status, proof_note } = await fixtures.read(request);
  assert.deepEqual({ proof_status, proof_note }, { proof_status: 'none', proof_note: 'reorged' });
  await sendAsStranger(call);
  await settle();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

test('an authorization submitted for a request before it is sent → pays it, whatever its amount; first come, first served', async () => {
  const [request, other] = [await fixtures.request(), await fixtures.request()];
  const nonce = randomBytes(32);
  const { from, call } = await authorize(request, { nonce, usdcMicro: 50_000_000n });
  const key = { chainId: fixtures.node.chain.chainId, tokenAddress: usdc(), authorizer: from.address, nonce };
  const terms = { valueMicro: 50_000_000n, validBefore: new Date(Date.now() + 60_000) };
  const bind = (to: RequestRow, what = key) =>
    fixtures.db.scoped(fixtures.scope, (tx) => bindAuthorization(tx, fixtures.scope, what, to.id, terms));
  assert.equal(await bind(request), true);
  assert.equal(await bind(request), true, 'submitted again');
  assert.equal(await bind(other), false);
  const { test: foreign } = await makePartner(fixtures.db);
  const stranger = await makeRequest(fixtures.db, foreign, await makeMerchant(fixtures.db, foreign));
  const taken = await fixtures.db.scoped(foreign, (tx) => bindAuthorization(tx, foreign, key, stranger.id, terms));
  assert.equal(taken, false, 'over all partners');
  assert.equal(await bind(other, { ...key, nonce: authorizationNonce(request.reference, 0) }), false, 'named by it');

  const txHash = await sendAsStranger(call);
  await settle();
  assert.deepEqual(await outcomeOf(txHash), { request: request.id, rule: 'authorization', reason: null });
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

test('an authorization that is cancelled, used up or altered is executed by nobody', async () => {
  const request = await fixtures.request();
  const { call } = await authorize(request);
  await sendAsStranger(call);
  await assert.rejects(sendAsStranger(call), /failed/);
  const altered = (await authorize(await fixtures.request())).call.replace(
    request.wallet_address.slice(2),
    fixtures.node.wallet().address.slice(2),
  ) as Hex;
  await assert.rejects(sendAsStranger(altered), /failed/);
});
