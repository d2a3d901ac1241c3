import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { canAfford } from '../../src/chain/relay/afford.ts';
import { readTokenDomain } from '../../src/chain/token-domain.ts';
import { limitsOf } from '../../src/config/chains.ts';
import { minuteMs } from '../../src/lib/durations.ts';
import { authorizationCall, type SignedAuthorization } from '../../src/payments/authorized/authorization.ts';
import { readAuthorizations } from '../../src/payments/authorized/progress.ts';
import { submitAuthorization } from '../../src/payments/authorized/submit.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import { cancelRequest } from '../../src/requests/cancel.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { sendTransaction, waitMined } from '../../src/sandbox/wallet.ts';
import { makeMerchant, makeRequest } from '../support/fixtures.ts';
import { type AuthorizedFixtures, authorizedFixtures } from '../support/payments/authorized-fixtures.ts';

let f: AuthorizedFixtures;
before(async () => {
  f = await authorizedFixtures();
});
after(() => f?.stop());

const relays = () => f.db.sql`select * from relay_transactions order by allotted_at`;
const progress = async (request: RequestRow) =>
  (await readAuthorizations(f.ctx, f.scope, request.id)).map(({ state }) => state);
/** The relayer's transactions wait in the pool until `work` is done. */
async function unmined(work: () => Promise<unknown>): Promise<void> {
  await f.rpc('evm_setAutomine', [false]);
  try {
    await work();
  } finally {
    await f.rpc('evm_setAutomine', [true]);
  }
}
/** Submits an authorization whose transaction reaches no chain yet; it is returned, to be sent later. */
async function heldBack(request: RequestRow, signed: SignedAuthorization): Promise<Hex> {
  await unmined(async () => {
    assert.equal((await f.submit(request, signed)).kind, 'sent');
    await f.rpc('anvil_dropAllTransactions');
  });
  const [ours] = await f.db.sql`select signed from relay_variants order by signed_at desc limit 1`;
  return `0x${Buffer.from(ours?.signed).toString('hex')}`;
}

/** Moves all of a wallet's money away, with fees paid by nobody. */
async function drain(from: { privateKey: Hex; address: Hex }, usdcMicro: bigint): Promise<void> {
  await f.rpc('anvil_setBalance', [from.address, '0x1000000000000000000']);
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [f.node.wallet().address, usdcMicro],
  });
  await sendTransaction(f.chain, from.privateKey, f.token.address, data);
}

test('a signed authorization is sent by the relayer and pays its request, from a wallet without coin', async () => {
  const request = await f.request();
  const from = await f.payer();
  const before = await f.sent();
  const signed = await f.sign(request, from);
  const outcome = await f.submit(request, signed);
  assert.equal(outcome.kind, 'sent');
  assert.deepEqual(await progress(request), ['sent']);
  await f.settle();
  const paid = await f.read(request);
  assert.equal(paid.proof_status, 'verified');
  assert.equal(paid.payer_address, from.address);
  assert.equal(await f.sent(), before + 1);
  assert.deepEqual(await progress(request), []);
  const [row] = await f.db.sql`select rule from transfers where request_id = ${request.id}`;
  assert.equal(row?.rule, 'authorization');
});

test('submitted again, also at the same time, before and after it is mined → sent once', async () => {
  const request = await f.request();
  const signed = await f.sign(request, await f.payer());
  const before = await f.sent();
  await unmined(async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => f.submit(request, signed)));
    assert.equal(new Set(outcomes.map((one) => one.kind === 'sent' && one.relayId)).size, 1);
    assert.deepEqual(await f.submit(request, signed), outcomes[0]);
  });
  await f.node.mine(1);
  assert.equal((await f.submit(request, signed)).kind, 'sent', 'mined, and not read yet');
  await f.settle();
  assert.equal((await f.submit(request, signed)).kind, 'used');
  assert.equal(await f.sent(), before + 1);
});

test('submitted again, and simulated after the first is in the pool → sent, not used', async () => {
  const request = await f.request();
  const signed = await f.sign(request, await f.payer());
  await unmined(async () => {
    const [hasRead, firstIsSent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = Object.create(f.ctx.db, {
      scoped: {
        value: async (...read: Parameters<typeof f.ctx.db.scoped>) => {
          const known = await f.ctx.db.scoped(...read);
          hasRead.resolve();
          await firstIsSent.promise;
          return known;
        },
      },
    });
    const again = f.submit(request, signed, undefined, { ...f.ctx, db: slow });
    await hasRead.promise;
    const first = await f.submit(request, signed);
    firstIsSent.resolve();
    assert.equal(first.kind, 'sent');
    assert.deepEqual(await again, first);
  });
  await f.node.mine(1);
  await f.settle();
});

test('while one is under way, another wallet’s is refused; so is one for a paid request', async () => {
  const request = await f.request();
  const [first, second] = [await f.sign(request, await f.payer()), await f.sign(request, await f.payer())];
  await unmined(async () => {
    assert.equal((await f.submit(request, first)).kind, 'sent');
    assert.equal((await f.submit(request, second)).kind, 'other_under_way');
  });
  await f.node.mine(1);
  await f.follow();
  assert.equal((await f.submit(request, second)).kind, 'other_under_way', 'mined, and not read yet');
  await f.settle();
  assert.equal((await f.submit(request, second)).kind, 'closed');
});

test('two wallets at the same moment → one is sent', async () => {
  const request = await f.request();
  const before = await f.sent();
  const signed = await Promise.all([1, 2, 3].map(async () => f.sign(request, await f.payer())));
  const kinds = (await Promise.all(signed.map((one) => f.submit(request, one)))).map(({ kind }) => kind);
  assert.deepEqual(kinds.sort(), ['other_under_way', 'other_under_way', 'sent']);
  await f.settle();
  assert.equal(await f.sent(), before + 1);
});

test('another amount, wallet, time, or a request that has ended → nothing is sent', async () => {
  const request = await f.request();
  const from = await f.payer();
  const now = BigInt(Math.floor(f.clock.now().getTime() / 1000));
  const due = BigInt(request.usdc_micro);
  const before = (await relays()).length;
  for (const [change, kind] of [
    [{ valueMicro: 1n }, 'changed'],
    [{ valueMicro: due + 1n }, 'changed'],
    [{ to: f.node.wallet().address }, 'changed'],
    [{ validBefore: now + 3n }, 'changed'],
    [{ validBefore: BigInt(Math.ceil(request.expires_at.getTime() / 1000)) + 5n }, 'changed'],
    [{ validAfter: now + 100n }, 'changed'],
    [{ signature: `0x${'11'.repeat(65)}` }, 'signature'],
    [{ signature: `0x${'11'.repeat(70)}` }, 'signature'],
    [{ signature: '0x' }, 'signature'],
  ] as const) {
    const signed = await f.sign(request, from, change);
    assert.equal(
      (await f.submit(request, signed)).kind,
      kind,
      JSON.stringify(change, (_, one) => String(one)),
    );
  }
  const poor = await f.payer(due - 1n);
  assert.equal((await f.submit(request, await f.sign(request, poor))).kind, 'balance');
  const [voided, expired] = [await f.request(), await f.request()];
  await cancelRequest(f.ctx, theService, f.scope, voided.id);
  const late = await f.sign(expired, from);
  await f.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${expired.id}`;
  assert.equal((await f.submit(voided, await f.sign(voided, from))).kind, 'closed');
  assert.equal((await f.submit(expired, late)).kind, 'closed');
  assert.equal((await relays()).length, before);
  const bound = await f.db
    .sql`select from authorizations where request_id in (${request.id}, ${voided.id}, ${expired.id})`;
  assert.equal(bound.length, 0);
});

test('one authorization submitted for two requests → it pays the one that it names, or the first', async () => {
  const [own, other] = [await f.request(), await f.request()];
  const due = BigInt(other.usdc_micro);
  const from = await f.payer();
  const named = await f.sign(own, from, { valueMicro: due });
  assert.equal((await f.submit(other, named)).kind, 'taken');
  const random = await f.sign(own, from, { valueMicro: due, nonce: `0x${randomBytes(32).toString('hex')}` });
  await unmined(async () => {
    assert.equal((await f.submit(own, random, due)).kind, 'sent');
    assert.equal((await f.submit(other, random)).kind, 'taken');
  });
  await f.settle();
  const [row] = await f.db.sql`select rule from transfers where request_id = ${own.id}`;
  assert.equal(row?.rule, 'authorization');
});

test('submitted by somebody else before our transaction is mined → it counts once, ours fails and is no failure', async () => {
  const request = await f.request();
  const from = await f.payer();
  const signed = await f.sign(request, from);
  const stranger = f.node.wallet();
  await f.node.fund(stranger.address, 0n);
  const ours = await heldBack(request, signed);
  await sendTransaction(f.chain, stranger.privateKey, f.token.address, authorizationCall(signed));
  await f.rpc('eth_sendRawTransaction', [ours]);
  await f.settle();
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
  assert.deepEqual(await progress(request), []);
  const again = await f.request();
  assert.equal((await f.submit(again, await f.sign(again, from))).kind, 'sent', 'the wallet may pay on');
  await f.settle();
});

test('executed by somebody else before it is submitted → used, and it counts', async () => {
  const request = await f.request();
  const signed = await f.sign(request, await f.payer());
  const stranger = f.node.wallet();
  await f.node.fund(stranger.address, 0n);
  await sendTransaction(f.chain, stranger.privateKey, f.token.address, authorizationCall(signed));
  assert.equal((await f.submit(request, signed)).kind, 'used');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});

test('cancelled by its signer → used, and nothing is sent', async () => {
  const request = await f.request();
  const from = await f.payer();
  const signed = await f.sign(request, from);
  const account = privateKeyToAccount(from.privateKey);
  const signature = await account.signTypedData({
    domain: { name: 'USD Coin', version: '2', chainId: f.chain.chainId, verifyingContract: f.token.address },
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: account.address, nonce: signed.nonce },
  });
  const abi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)']);
  const data = encodeFunctionData({
    abi,
    functionName: 'cancelAuthorization',
    args: [account.address, signed.nonce, signature],
  });
  const stranger = f.node.wallet();
  await f.node.fund(stranger.address, 0n);
  await sendTransaction(f.chain, stranger.privateKey, f.token.address, data);
  const before = await f.sent();
  assert.equal((await f.submit(request, signed)).kind, 'used');
  assert.equal(await f.sent(), before);
});

test('the balance is moved away after the simulation → it fails, can be sent again, and three failures end it', async () => {
  const from = await f.payer(0n);
  const request = await f.request();
  const due = BigInt(request.usdc_micro);
  const signed = await f.sign(request, from);
  for (let failure = 1; failure <= 3; failure++) {
    await f.node.fund(from.address, due);
    const ours = await heldBack(request, signed);
    await drain(from, due);
    const hash = String(await f.rpc('eth_sendRawTransaction', [ours]));
    assert.equal(await waitMined(f.chain.rpcUrls[0] ?? '', hash), '0x0');
    await f.caughtUp();
    await f.follow();
    assert.deepEqual(await progress(request), ['failed'], 'as soon as its block shows it');
    await f.settle();
    await f.settle();
    assert.deepEqual(await progress(request), ['failed']);
  }
  await f.node.fund(from.address, 10n * due);
  assert.equal((await f.submit(request, signed)).kind, 'too_often');
  const elsewhere = await f.request();
  assert.equal((await f.submit(elsewhere, await f.sign(elsewhere, from))).kind, 'too_often', 'the wallet, for a day');
  const other = await f.payer();
  assert.equal((await f.submit(request, await f.sign(request, other))).kind, 'too_often', 'the request');
  assert.equal((await f.submit(elsewhere, await f.sign(elsewhere, other))).kind, 'sent');
  await f.settle();
});

test('part of the amount came before → exactly the rest is taken, under the next counter', async () => {
  const request = await f.request();
  const from = await f.payer();
  const partMicro = 5_000_000n;
  const restMicro = BigInt(request.usdc_micro) - partMicro;
  await f.pay(request, { usdcMicro: partMicro });
  await f.settle();
  assert.equal((await f.submit(request, await f.sign(request, from), restMicro)).kind, 'changed', 'the whole amount');
  const signed = await f.sign(request, from, { valueMicro: restMicro, counter: 1 });
  assert.equal((await f.submit(request, signed, restMicro)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
  assert.deepEqual(signed.nonce, `0x${authorizationNonce(request.reference, 1).toString('hex')}`);
});

test('no coin, no budget or no answer → not sent, nothing bound, and it can be submitted later', async () => {
  const request = await f.request();
  const signed = await f.sign(request, await f.payer());
  await f.db.sql`update relay_accounts set balance_wei = 0`;
  assert.equal((await f.submit(request, signed)).kind, 'not_offered');
  await f.follow();
  await f.db.sql`
    insert into relay_spending (partner_id, test_mode, chain_id, day, wei)
    values (${f.scope.partnerId}, true, ${f.chain.chainId}, (now() at time zone 'utc')::date, 10 ^ 30)
    on conflict (partner_id, test_mode, chain_id, day) do update set wei = 10 ^ 30`;
  assert.equal((await f.submit(request, signed)).kind, 'not_offered');
  await f.db.sql`delete from relay_spending where partner_id = ${f.scope.partnerId}`;
  const urls = f.chain.rpcUrls.splice(0, 1, 'http://127.0.0.1:9');
  assert.equal((await f.submit(request, signed)).kind, 'unreachable');
  f.chain.rpcUrls.splice(0, 1, ...urls);
  const bound = await f.db.sql`select from authorizations where request_id = ${request.id}`;
  assert.equal(bound.length, 0);
  assert.equal((await f.submit(request, signed)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});

test('One merchant pays its own requests again and again → it leaves others of its partner as much as it used', async () => {
  const request = async (merchant: { id: string; wallet: string }) =>
    makeRequest(f.db, f.scope, merchant, { exactMicro: 5_000_000n });
  const [busy, other] = [await makeMerchant(f.db, f.scope), await makeMerchant(f.db, f.scope)];
  await f.db.sql`delete from relay_spending`;
  const hand = async (merchant: typeof busy, chain = f.chain) => {
    const own = await request(merchant);
    const signed = await f.sign(own, await f.payer());
    const { id: requestId, account_id: accountId } = own;
    const submitted = { requestId, accountId, chain, token: f.token, amountMicro: BigInt(own.usdc_micro), signed };
    return (await submitAuthorization(f.ctx, f.scope, submitted)).kind;
  };
  assert.equal(await hand(other), 'sent');
  const [{ wei } = { wei: '0' }] = await f.db.sql<{ wei: string }[]>`select wei::text from relay_spending`;
  await f.db.sql`delete from relay_spending`;
  const budgetWei = BigInt(wei) * 20n; // of which authorizations may use half
  const chain = { ...f.chain, relayer: { ...limitsOf(f.chain), budgetWei } };
  const kinds = [];
  for (let n = 0; n < 12; n++) kinds.push(await hand(busy, chain));
  assert.deepEqual([...new Set(kinds)], ['sent', 'not_offered']);
  const [{ spent } = { spent: '0' }] = await f.db.sql<
    { spent: string }[]
  >`select wei::text as spent from relay_spending`;
  assert.ok(BigInt(spent) > budgetWei / 8n && BigInt(spent) <= budgetWei / 4n, `${spent} of ${budgetWei}`);
  const canPay = (accountId: string) => canAfford(f.ctx, { scope: f.scope, accountId }, chain, 150_000n);
  assert.deepEqual([await canPay(busy.id), await canPay(other.id)], [false, true], 'nor is it offered');
  assert.equal(await hand(other, chain), 'sent');
  await f.settle();
});

test('the token’s issuer renames it → a refused signature has its new domain read, at most once a minute', async (t) => {
  const nameSlot = `0x${'0'.repeat(63)}4`;
  const usual = (await f.rpc('eth_getStorageAt', [f.token.address, nameSlot, 'latest'])) as Hex;
  const rename = (name: string) => {
    const text = Buffer.from(name).toString('hex').padEnd(62, '0');
    return f.rpc('anvil_setStorageAt', [
      f.token.address,
      nameSlot,
      `0x${text}${(2 * name.length).toString(16).padStart(2, '0')}`,
    ]);
  };
  const nameAfter = async (ms: number) => {
    const now = performance.now();
    const later = t.mock.method(performance, 'now', () => now + ms);
    const domain = await readTokenDomain(f.chain, f.token);
    later.mock.restore();
    return domain?.name;
  };
  const refuse = async () => {
    const request = await f.request();
    const signed = await f.sign(request, await f.payer(), { signature: `0x${'11'.repeat(65)}` });
    assert.equal((await f.submit(request, signed)).kind, 'signature');
  };
  try {
    await rename('USDC');
    await refuse();
    assert.equal(await nameAfter(0), 'USD Coin');
    assert.equal(await nameAfter(2 * minuteMs), 'USDC');
  } finally {
    await f.rpc('anvil_setStorageAt', [f.token.address, nameSlot, usual]);
  }
});

test('a contract wallet signs by its own code, with a signature of another length', async () => {
  const wallet = f.node.wallet();
  const request = await f.request();
  // isValidSignature(bytes32, bytes) → its magic value, whatever is signed.
  await f.rpc('anvil_setCode', [wallet.address, `0x631626ba7e60e01b60005260206000f3`]);
  await f.node.fund(wallet.address, BigInt(request.usdc_micro));
  const signed = await f.sign(request, wallet, { signature: `0x${'ab'.repeat(100)}` });
  assert.equal((await f.submit(request, signed)).kind, 'sent');
  await f.settle();
  const paid = await f.read(request);
  assert.equal(paid.proof_status, 'verified');
  assert.equal(paid.payer_address, wallet.address);
});

test('a key’s wallet with EIP-7702 code that refuses every signature → refused with that reason; with code that agrees, it pays', async () => {
  const request = await f.request();
  const from = await f.payer();
  const [refuses, agrees] = [f.node.wallet().address, f.node.wallet().address];
  await f.rpc('anvil_setCode', [refuses, '0x60006000fd']);
  await f.rpc('anvil_setCode', [agrees, '0x631626ba7e60e01b60005260206000f3']);
  const signed = await f.sign(request, from);
  await f.rpc('anvil_setCode', [from.address, `0xef0100${refuses.slice(2)}`]);
  assert.equal((await f.submit(request, signed)).kind, 'signature');
  await f.rpc('anvil_setCode', [from.address, `0xef0100${agrees.slice(2)}`]);
  assert.equal((await f.submit(request, signed)).kind, 'sent');
  await f.settle();
  assert.equal((await f.read(request)).payer_address, from.address);
});

test('a contract wallet whose check burns gas → not sent', async () => {
  const wallet = f.node.wallet();
  const request = await f.request();
  // Spends what it is given in a loop of 20,000 rounds, then agrees.
  await f.rpc('anvil_setCode', [wallet.address, '0x614e205b6001900380600357631626ba7e60e01b60005260206000f3']);
  await f.node.fund(wallet.address, BigInt(request.usdc_micro));
  const signed = await f.sign(request, wallet, { signature: `0x${'ab'.repeat(100)}` });
  assert.equal((await f.submit(request, signed)).kind, 'refused');
});

test('the chain makes no block until the validity of a sent one is over → another wallet’s is refused: it may be mined, and not read', async () => {
  const request = await f.request({ expiryMinutes: 60 });
  const [first, other] = [await f.sign(request, await f.payer()), await f.payer()];
  await unmined(async () => {
    assert.equal((await f.submit(request, first)).kind, 'sent');
    f.clock.forward(8 * minuteMs);
    const second = await f.sign(request, other);
    assert.equal((await f.submit(request, second)).kind, 'other_under_way');
    assert.deepEqual(await progress(request), ['sent']);
  });
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});
