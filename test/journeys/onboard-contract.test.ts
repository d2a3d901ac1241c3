import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createTestClient, getAddress, type Hex, http, serializeErc6492Signature } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { readMerchantSession } from '../../src/auth/merchant-session.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Scope } from '../../src/db/connection.ts';
import { dayMs } from '../../src/lib/durations.ts';
import { createShell } from '../../src/merchants/create.ts';
import { makeOnboardingToken } from '../../src/merchants/onboarding-token.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { MerchantRefusal } from '../../src/merchants/refusal.ts';
import { chooseWallet, completeOnboarding, onboardingMessage } from '../../src/onboarding/onboard.ts';
import { readPayPageRow } from '../../src/requests/pay-page.ts';
import { changeWallet, handOverMessage, proveChange, takeOverMessage } from '../../src/wallets/change.ts';
import {
  openRecovery,
  proveVeto,
  readOpenRecovery,
  recoveryMessage,
  signRecovery,
  startRecovery,
  vetoMessage,
} from '../../src/wallets/recovery.ts';
import { settleRecoveries } from '../../src/wallets/settle-recoveries.ts';
import { signInMessage, signInWithWallet } from '../../src/wallets/sign-in.ts';
import { idleChain, testContext } from '../support/app.ts';
import { testChain } from '../support/chain/chain.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, randomAddress, testSecrets } from '../support/fixtures.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let chains: Awaited<ReturnType<typeof testChain>>[];
let fixtures: Awaited<ReturnType<typeof makePartner>>;

before(async () => {
  [database, ...chains] = await Promise.all([
    testDatabase(),
    testChain({ chainId: 31337 }),
    testChain({ chainId: 31339 }),
  ]);
  fixtures = await makePartner(database.db);
});
after(async () => {
  await Promise.all([...chains.map((chain) => chain.stop()), database.drop()]);
});

/** Minimal ERC-1271: `isValidSignature` returns its magic value if ecrecover yields the owner, otherwise zero. */
function contractWallet(owner: string): Hex {
  const load = '600435600052' + '60a43560001a602052' + '606435604052' + '608435606052'; // hash, v, r, s
  const recover = '602060006080600060015afa50600051';
  const compare = `73${owner.slice(2).toLowerCase()}14`;
  return `0x${load}${recover}${compare}7f1626ba7e${'00'.repeat(28)}0260005260206000f3`;
}

async function deploy(chain: ChainConfig, address: string, owner: string): Promise<void> {
  const client = createTestClient({ mode: 'anvil', transport: http(chain.rpcUrls[0]) });
  await client.setCode({ address: address as Hex, bytecode: contractWallet(owner) });
}

const configs = () => chains.map(({ chain }) => chain);

/** Onboards a new merchant with a wallet at this address; `sign` signs the message. */
async function onboard(
  address: string,
  sign: (message: string) => Promise<Hex>,
  offered = configs(),
  of = fixtures.test,
) {
  const ctx = testContext(database.db, { chains: { test: offered, live: [idleChain(31338)] } });
  const merchant = await createShell(ctx, theService, of, { display_currency: 'EUR' });
  const token = makeOnboardingToken(testSecrets, merchant, ctx.clock.now());
  const wallet = await chooseWallet(ctx, { token, emailPass: null, address, chainId: null, host: null });
  const message = onboardingMessage(ctx, merchant, wallet);
  const signature = await sign(message);
  await completeOnboarding(ctx, {
    token,
    emailPass: null,
    message,
    signature,
    host: null,
    acceptTerms: true,
    language: null,
    client: visitor,
  });
  const [row] = await database.db.sql`
    select wallet_address, wallet_chain_ids from merchants where id = ${merchant.id}`;
  return row as { wallet_address: string; wallet_chain_ids: number[] | null };
}

const visitor = { ip: '127.0.0.1', userAgent: undefined };
const unknown = { earlier: null, isKnown: () => false };
const newAccount = () => privateKeyToAccount(generatePrivateKey());
const signedBy = (account: PrivateKeyAccount) => (message: string) => account.signMessage({ message });
const refusedFor = (reason: string) => (error: unknown) => {
  assert.ok(error instanceof MerchantRefusal, String(error));
  assert.equal(error.reason, reason);
  return true;
};

test('A contract wallet onboards, and is kept with the chains where its code accepted the signature', async () => {
  const [first, second] = configs() as [ChainConfig, ChainConfig];
  const owner = newAccount();
  const onBoth = randomAddress();
  await deploy(first, onBoth, owner.address);
  await deploy(second, onBoth, owner.address);
  assert.deepEqual(await onboard(getAddress(onBoth as Hex), signedBy(owner)), {
    wallet_address: onBoth,
    wallet_chain_ids: [31337, 31339],
  });

  const onOne = randomAddress();
  await deploy(second, onOne, owner.address);
  assert.deepEqual((await onboard(onOne, signedBy(owner))).wallet_chain_ids, [31339]);

  const differing = randomAddress();
  await deploy(first, differing, owner.address);
  await deploy(second, differing, newAccount().address);
  assert.deepEqual((await onboard(differing, signedBy(owner))).wallet_chain_ids, [31337]);
});

test('a wallet with a key → offered on every chain', async () => {
  const account = newAccount();
  assert.equal((await onboard(account.address, signedBy(account))).wallet_chain_ids, null);
});

test('A chain that cannot be reached is not among those where a contract wallet was checked', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  assert.deepEqual((await onboard(address, signedBy(owner), [first, idleChain(31339)])).wallet_chain_ids, [31337]);
  await assert.rejects(
    onboard(randomAddress(), signedBy(owner), [first, idleChain(31339)]),
    refusedFor('chain_unreachable'),
  );
});

test('a provider that serves another chain → its answer about a contract wallet is ignored', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  const lying = { ...idleChain(31339), rpcUrls: first.rpcUrls };
  await assert.rejects(onboard(address, signedBy(owner), [lying]), refusedFor('chain_unreachable'));
});

test('A contract that does not accept the signature is refused', async () => {
  const [first] = configs() as [ChainConfig];
  const address = randomAddress();
  await deploy(first, address, newAccount().address);
  await assert.rejects(onboard(address, signedBy(newAccount())), refusedFor('signature_invalid'));
});

test('another key’s signature, or garbage → refused', async () => {
  await assert.rejects(onboard(randomAddress(), signedBy(newAccount())), refusedFor('signature_invalid'));
  for (const garbage of ['0x', '0x12', 'hello', `0x${'00'.repeat(65)}`, `0x${'ff'.repeat(10_000)}`]) {
    await assert.rejects(
      onboard(randomAddress(), async () => garbage as Hex),
      refusedFor('signature_invalid'),
    );
  }
});

test('A smart wallet that is not deployed yet → the page says to deploy it first (ERC-6492)', async () => {
  const owner = newAccount();
  const wrapped = async (message: string) =>
    serializeErc6492Signature({
      address: randomAddress() as Hex,
      data: '0x1234',
      signature: await owner.signMessage({ message }),
    });
  await assert.rejects(onboard(randomAddress(), wrapped), refusedFor('wallet_not_deployed'));
});

test('a deployed contract wallet that signs in the ERC-6492 form → accepted', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  const wrapped = async (message: string) =>
    serializeErc6492Signature({
      address: randomAddress() as Hex,
      data: '0x1234',
      signature: await owner.signMessage({ message }),
    });
  assert.deepEqual((await onboard(address, wrapped)).wallet_chain_ids, [31337]);
});

test('An open request keeps the chains of its contract wallet when the merchant takes another wallet', async () => {
  const [first] = configs() as [ChainConfig];
  const [owner, next] = [newAccount(), newAccount()];
  const address = randomAddress();
  await deploy(first, address, owner.address);
  const ctx = testContext(database.db, { chains: { test: configs(), live: [idleChain(31338)] } });
  await onboard(address, signedBy(owner));
  const [{ id }] = (await database.db.sql`select id from merchants where wallet_address = ${address}`) as [
    { id: string },
  ];
  const chainIds = async (requestId: string) =>
    (await readPayPageRow(database.db, fixtures.test, requestId))?.wallet_chain_ids;
  const before = await makeRequest(database.db, fixtures.test, { id, wallet: address });
  assert.deepEqual(await chainIds(before.id), [31337]);

  const merchant = await readMerchant(ctx, fixtures.test, id);
  assert.ok(merchant);
  const typed = { address: next.address, chainId: null, host: null };
  const signed = async (message: string, account: PrivateKeyAccount) => ({
    message,
    signature: await signedBy(account)(message),
    host: null,
  });
  const proved = await proveChange(ctx, merchant, typed, {
    handOver: await signed(handOverMessage(ctx, merchant, typed), owner),
    takeOver: await signed(takeOverMessage(ctx, merchant, typed), next),
  });
  await changeWallet(ctx, theService, fixtures.test, id, proved);
  const after = await makeRequest(database.db, fixtures.test, { id, wallet: next.address.toLowerCase() });
  assert.equal(await chainIds(after.id), null, 'a key is paid on every chain');
  assert.deepEqual(await chainIds(before.id), [31337], 'the contract still only where it is known to stand');
});

/** The chains on which transfers to a wallet that a merchant has, or had, are taken; null: any. */
const payableOn = async (id: string, wallet: string) =>
  (await database.db.sql`select wallet_chains(m, ${wallet}) as ids from merchants m where id = ${id}`)[0]?.ids;

test('A contract wallet is recovered by another one → each is paid only on the chains where its own code was checked', async () => {
  const [first, second] = configs() as [ChainConfig, ChainConfig];
  const [owner, next] = [newAccount(), newAccount()];
  const [oldWallet, newWallet] = [randomAddress(), randomAddress()];
  await deploy(second, oldWallet, owner.address);
  await deploy(first, newWallet, next.address);
  assert.deepEqual((await onboard(oldWallet, signedBy(owner))).wallet_chain_ids, [31339]);
  const [{ id } = { id: '' }] = await database.db.sql<{ id: string }[]>`
    select id from merchants where wallet_address = ${oldWallet}`;
  let now = new Date();
  const ctx = testContext(database.db, {
    chains: { test: configs(), live: [idleChain(31338)] },
    clock: { now: () => now },
  });
  const { url } = await startRecovery(ctx, theService, fixtures.test, id);
  const recovery = await openRecovery(ctx, 'sign', url.slice(url.lastIndexOf('/') + 1), null);
  const message = recoveryMessage(ctx, recovery, { address: newWallet, chainId: null, host: null });
  await signRecovery(ctx, recovery, { message, signature: await signedBy(next)(message), host: null }, visitor);
  now = new Date(now.getTime() + 2 * dayMs);
  assert.equal(await settleRecoveries(ctx), 1);

  assert.deepEqual(
    (await makeRequest(database.db, fixtures.test, { id, wallet: newWallet })).wallet_chain_ids,
    [31337],
  );
  assert.deepEqual([await payableOn(id, newWallet), await payableOn(id, oldWallet)], [[31337], [31339]]);
});

test('A wallet that a merchant has given up twice → is paid where it was checked last, whatever a recovery without effect says', async () => {
  const { id } = await makeMerchant(database.db, fixtures.test);
  const wallet = randomAddress();
  const changes = [
    { state: 'applied', chainIds: [2], daysAgo: 2 },
    { state: 'applied', chainIds: [3], daysAgo: 1 },
    { state: 'applied', chainIds: [1], daysAgo: 3 },
    { state: 'cancelled', chainIds: null, daysAgo: 0 },
  ];
  for (const { state, chainIds, daysAgo } of changes) {
    const endedAt = new Date(Date.now() - daysAgo * dayMs);
    await database.db.sql`
      insert into wallet_changes (partner_id, test_mode, id, account_id, kind, state, old_wallet, old_chain_ids,
        new_wallet, started_at, signed_at, ended_at)
      values (${fixtures.test.partnerId}, true, ${randomUUID()}, ${id}, 'recovery', ${state}, ${wallet}, ${chainIds},
        ${randomAddress()}, ${endedAt}, ${endedAt}, ${endedAt})`;
  }
  assert.deepEqual(await payableOn(id, wallet), [3]);
});

test('A contract wallet signs in only where its code was checked: a counterfeit at its address elsewhere is nobody', async () => {
  const [first, second] = configs() as [ChainConfig, ChainConfig];
  const [owner, thief] = [newAccount(), newAccount()];
  const address = randomAddress();
  await deploy(first, address, owner.address);
  await onboard(address, signedBy(owner));
  await deploy(second, address, thief.address);

  const ctx = testContext(database.db, { chains: { test: configs(), live: [idleChain(31338)] } });
  const message = signInMessage(ctx, { address, chainId: second.chainId, host: null });
  const by = async (account: PrivateKeyAccount) =>
    signInWithWallet(ctx, { message, signature: await signedBy(account)(message), host: null }, visitor, unknown);
  await assert.rejects(by(thief), refusedFor('signature_invalid'));
  const { token } = await by(owner);
  assert.equal((await readMerchantSession(ctx, token, null, true))?.walletAddress, address);
});

test('A provider that calls any signature a contract’s signs nobody in, and one that is away is waited for', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  await onboard(address, signedBy(owner), [first]);

  const lying = await fakeProvider(first.rpcUrls[0] ?? '');
  lying.fake.lie = async ({ method }) => (method === 'eth_call' ? { result: `0x1626ba7e${'00'.repeat(28)}` } : null);
  const both = { ...first, rpcUrls: [lying.url, ...first.rpcUrls] };
  const ctx = testContext(database.db, { chains: { test: [both], live: [idleChain(31338)] } });
  const message = signInMessage(ctx, { address, chainId: first.chainId, host: null });
  const by = async (account: PrivateKeyAccount) =>
    signInWithWallet(ctx, { message, signature: await signedBy(account)(message), host: null }, visitor, unknown);
  try {
    await assert.rejects(by(newAccount()), refusedFor('signature_invalid'));
    lying.fake.lie = async () => 'hang up';
    await assert.rejects(by(owner), refusedFor('chain_unreachable'));
    lying.fake.lie = async () => null;
    assert.equal((await readMerchantSession(ctx, (await by(owner)).token, null, true))?.walletAddress, address);
  } finally {
    await lying.stop();
  }
});

test('Strangers of one network who try at a contract wallet use up no sign-in of a merchant elsewhere', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  await onboard(address, signedBy(owner), [first]);

  const now = new Date(Date.now() + 120_000); // a minute that no other test counts in
  const chains = { test: [first], live: [idleChain(31338)] };
  const ctx = testContext(database.db, { chains, clock: { now: () => now } });
  const trySignIn = async (ip: string, account: PrivateKeyAccount) => {
    const message = signInMessage(ctx, { address, chainId: first.chainId, host: null });
    const signature = await signedBy(account)(message);
    return signInWithWallet(ctx, { message, signature, host: null }, { ip, userAgent: undefined }, unknown);
  };
  const stranger = newAccount();
  for (let n = 0; n < 300; n++) {
    const reason = n < 20 ? 'signature_invalid' : 'too_many_attempts';
    await assert.rejects(trySignIn(`2001:db8:1:${n.toString(16)}::1`, stranger), refusedFor(reason));
  }
  const { token } = await trySignIn('2001:db8:2::1', owner);
  assert.equal((await readMerchantSession(ctx, token, null, true))?.walletAddress, address);
});

test('Strangers of many networks who try at contract wallets › use up no sign-in of a browser that has signed in before', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  await onboard(address, signedBy(owner), [first]);
  const now = new Date(Date.now() + 240_000); // a minute that no other test counts in
  const chains = { test: [first], live: [idleChain(31338)] };
  const ctx = testContext(database.db, { chains, clock: { now: () => now } });
  const trySignIn = async (ip: string, account: PrivateKeyAccount, isKnown: boolean) => {
    const message = signInMessage(ctx, { address, chainId: first.chainId, host: null });
    const signature = await signedBy(account)(message);
    const browser = { ...unknown, isKnown: (wallet: string) => isKnown && wallet === address };
    return signInWithWallet(ctx, { message, signature, host: null }, { ip, userAgent: undefined }, browser);
  };
  const stranger = newAccount();
  for (let n = 0; n < 300; n++)
    await assert.rejects(trySignIn(`2001:db8:${n.toString(16)}::1`, stranger, false), refusedFor('signature_invalid'));
  await assert.rejects(trySignIn('2001:db8:ffff::1', owner, false), refusedFor('too_many_attempts'));
  assert.equal((await trySignIn('2001:db8:ffff::1', owner, true)).walletAddress, address);
});

test('Browsers that know many wallets of a partner › use up what its merchants have together, and nothing of another’s', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const now = new Date(Date.now() + 360_000); // a minute that no other test counts in
  const chains = { test: [first], live: [idleChain(31338)] };
  const ctx = testContext(database.db, { chains, clock: { now: () => now } });
  const onboarded = async (partner?: Scope) => {
    const address = randomAddress();
    await deploy(first, address, owner.address);
    await onboard(address, signedBy(owner), [first], partner);
    return address;
  };
  const trySignIn = async (address: string, account: PrivateKeyAccount) => {
    const message = signInMessage(ctx, { address, chainId: first.chainId, host: null });
    const signature = await signedBy(account)(message);
    return signInWithWallet(ctx, { message, signature, host: null }, visitor, { ...unknown, isKnown: () => true });
  };
  const reasons = new Map<string, number>();
  for (let wallet = 0; wallet < 17; wallet++) {
    const address = await onboarded();
    for (let n = 0; n < 20; n++) {
      const reason = await trySignIn(address, newAccount()).catch((error) => (error as MerchantRefusal).reason);
      reasons.set(String(reason), (reasons.get(String(reason)) ?? 0) + 1);
    }
  }
  assert.deepEqual(Object.fromEntries(reasons), { signature_invalid: 320, too_many_attempts: 20 });
  const other = await onboarded((await makePartner(database.db)).test);
  assert.equal((await trySignIn(other, owner)).walletAddress, other);
});

test('Who has the link of a merchant makes chains be queried 30 times in a quarter of an hour, with whatever messages', async () => {
  const [first] = configs() as [ChainConfig];
  const address = randomAddress();
  await deploy(first, address, newAccount().address);
  const counting = await fakeProvider(first.rpcUrls[0] ?? '');
  const chains = { test: [{ ...first, rpcUrls: [counting.url] }], live: [idleChain(31338)] };
  const now = new Date();
  const ctx = testContext(database.db, { chains, clock: { now: () => now } });
  let asked = 0;
  counting.fake.lie = async ({ method }) => {
    if (method === 'eth_call') asked++;
    return null;
  };
  try {
    const merchant = await createShell(ctx, theService, fixtures.test, { display_currency: 'EUR' });
    const token = makeOnboardingToken(testSecrets, merchant, now);
    const wallet = await chooseWallet(ctx, { token, emailPass: null, address, chainId: null, host: null });
    const rest = { token, emailPass: null, host: null, acceptTerms: true, language: null, client: visitor };
    const stranger = newAccount();
    for (let n = 0; n < 40; n++) {
      const message = onboardingMessage(ctx, merchant, wallet);
      const signature = await signedBy(stranger)(message);
      const reason = n < 30 ? 'signature_invalid' : 'too_many_attempts';
      await assert.rejects(completeOnboarding(ctx, { ...rest, message, signature }), refusedFor(reason));
    }
    assert.equal(asked, 30);
    assert.match(new MerchantRefusal('too_many_attempts').message, /up to 15 minutes/, 'and is told so');
  } finally {
    await counting.stop();
  }
});

test('Somebody else with the link to object signs it wrongly, again and again → the wallet can still object', async () => {
  const [first] = configs() as [ChainConfig];
  const owner = newAccount();
  const address = randomAddress();
  await deploy(first, address, owner.address);
  await onboard(address, signedBy(owner), [first]);
  const [{ id } = { id: '' }] = await database.db.sql<{ id: string }[]>`
    select id from merchants where wallet_address = ${address}`;
  const now = new Date();
  const ctx = testContext(database.db, {
    chains: { test: [first], live: [idleChain(31338)] },
    clock: { now: () => now },
  });
  await startRecovery(ctx, theService, fixtures.test, id);
  const change = await readOpenRecovery(ctx, fixtures.test, id);
  const merchant = await readMerchant(ctx, fixtures.test, id);
  assert.ok(change && merchant);
  const recovery = { scope: fixtures.test, change, merchant };
  const object = async (account: PrivateKeyAccount, ip: string) => {
    const message = vetoMessage(ctx, recovery, null);
    return proveVeto(ctx, recovery, { message, signature: await signedBy(account)(message), host: null }, ip);
  };
  const stranger = newAccount();
  for (let n = 0; n < 40; n++) {
    const reason = n < 30 ? 'signature_invalid' : 'too_many_attempts';
    await assert.rejects(object(stranger, `2001:db8:1:${n.toString(16)}::1`), refusedFor(reason));
  }
  await object(owner, '2001:db8:2::1');
});
