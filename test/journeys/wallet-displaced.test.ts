import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getAddress } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { MerchantRefusal } from '../../src/merchants/refusal.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { type Api, assertRefused, startApi } from '../support/api/client.ts';
import { makeOnboarded, signInMerchant, signOn } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';

let api: Api;

before(async () => {
  api = await startApi();
});
after(() => api?.stop());

const newWallet = () => {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  return { key, account, address: account.address.toLowerCase() };
};
type Wallet = ReturnType<typeof newWallet>;

/** Has a merchant without a wallet sign with one; returns the reason if that is refused. */
async function sign(scope: Scope, { key }: Wallet, id?: string): Promise<string> {
  const merchant = id ?? (await createShell(api.ctx, theService, scope, { display_currency: 'EUR' })).id;
  const done = await onboardWithKey(api.ctx, merchant, key).catch((error: unknown) => error);
  if (done instanceof MerchantRefusal) return done.reason;
  if (done instanceof Error) throw done;
  return 'signed';
}

const holderOf = async ({ address }: Wallet) =>
  (await api.db.sql`select account_id, signed_at is not null as signed from wallets where address = ${address}`)[0];

const mailsOn = (id: string) => api.db.sql`select recipient, subject, body from mails where body like ${`%${id}%`}`;

test('A test key claims the wallet of another partner’s live merchant → that one’s signature takes it, and the claimant is mailed', async () => {
  const wallet = newWallet();
  const [claimer, owner] = [await api.partner({ email: 'claimer@example.com' }), await api.partner()];
  const claim = { wallet_address: wallet.address, business_name: 'Ada’s Bakery', email: 'ada@example.com' };
  const claimed = await claimer.test.api.createAccount(claim);
  assert.equal(claimed.status, 201);
  const id = claimed.json.account_id;
  assertRefused(await owner.live.api.createAccount(claim), 409, 'wallet_address_conflict');
  assert.equal((await holderOf(wallet))?.account_id, id, 'a claim without signature displaces nobody');

  assert.equal(await sign(owner.live.scope, wallet), 'signed');
  assert.equal((await holderOf(wallet))?.signed, true);
  const read = (await claimer.test.api.readAccount(id)).json;
  assert.deepEqual([read.wallet_address, read.onboarding_status], [null, 'incomplete']);
  const [mail, ...more] = await mailsOn(id);
  assert.deepEqual([mail?.recipient, more.length], ['claimer@example.com', 0]);
  assert.equal(mail?.subject, 'Ada’s Bakery: someone else signed in with its wallet');
  assert.ok(mail?.body.includes(getAddress(wallet.address)) && !mail?.body.includes(owner.partner.slug));
  const [act] = await api.db.sql`
    select actor_kind, object_id, test_mode, details from audit_log
    where partner_id = ${claimer.partner.id} and action = 'wallet.displaced'`;
  assert.deepEqual(
    [act?.actor_kind, act?.object_id, act?.test_mode, JSON.parse(act?.details)],
    ['service', wallet.address, true, { merchant: id }],
  );
  const portal = await portalVisitor(api.ctx, api.url, claimer.partner.id, 'viewer');
  const path = `/portal/merchants/${id}?mode=test`;
  assert.match(
    (await portal.open(path)).html,
    new RegExp(`Someone else has signed in with the wallet ${getAddress(wallet.address)}`),
  );

  assert.equal(await sign(claimer.test.scope, newWallet(), id), 'signed', 'with another wallet it goes on');
  assert.doesNotMatch((await portal.open(path)).html, /Someone else has signed in with the wallet/);
});

test('A live claim without signature gives way to a test merchant too, at the same partner and at another', async () => {
  const [one, two] = [await api.partner(), await api.partner()];
  for (const signer of [one.test, two.test, two.live]) {
    const wallet = newWallet();
    const claimed = await one.live.api.createAccount({ wallet_address: wallet.address });
    assert.equal(await sign(signer.scope, wallet), 'signed');
    assert.equal((await one.live.api.readAccount(claimed.json.account_id)).json.wallet_address, null);
  }
});

test('A claim of the same partner and mode stays: another create returns it, and nobody else signs for it', async () => {
  const { test: side } = await api.partner();
  const wallet = newWallet();
  const claimed = await side.api.createAccount({ wallet_address: wallet.address });
  const id = claimed.json.account_id;
  assert.equal(await sign(side.scope, wallet), 'wallet_taken');
  assert.equal((await side.api.createAccount({ wallet_address: wallet.address })).json.account_id, id);
  assert.equal(await sign(side.scope, wallet, id), 'signed');
});

test('a wallet that its merchant has signed with → nobody can displace it', async () => {
  const [one, two] = [await api.partner(), await api.partner()];
  const wallet = newWallet();
  assert.equal(await sign(one.test.scope, wallet), 'signed');
  for (const { scope } of [one.live, two.test, two.live]) assert.equal(await sign(scope, wallet), 'wallet_taken');
});

test('A change of the wallet by both signatures takes an unsigned one as well', async () => {
  const [one, two] = [await api.partner({ email: 'one@example.com' }), await api.partner()];
  const wallet = newWallet();
  const claimed = await one.live.api.createAccount({ wallet_address: wallet.address });
  const merchant = await makeOnboarded(api.ctx, two.test.scope);
  const { visitor } = await signInMerchant(api.url, merchant.account);
  const start = await visitor.open('/dashboard/wallet');
  const first = await visitor.send(start, '/hand-over', { wallet_address: wallet.address });
  const second = await signOn(visitor, first, merchant.account);
  await signOn(visitor, second, wallet.account);
  assert.equal((await readMerchant(api.ctx, two.test.scope, merchant.id))?.wallet_address, wallet.address);
  assert.equal((await mailsOn(claimed.json.account_id)).length, 1);
});

test('Several sign for one wallet at the same moment, the claimer among them → one has it, and one account holds it', async () => {
  for (let round = 0; round < 8; round++) {
    const [claimer, one, two] = [
      await api.partner({ email: 'c@example.com' }),
      await api.partner(),
      await api.partner(),
    ];
    const wallet = newWallet();
    const claimed = await claimer.test.api.createAccount({ wallet_address: wallet.address });
    const id = claimed.json.account_id;
    const outcomes = await Promise.all([
      sign(one.live.scope, wallet),
      sign(two.test.scope, wallet),
      sign(claimer.test.scope, wallet, id),
    ]);
    assert.equal(outcomes.filter((outcome) => outcome === 'signed').length, 1, outcomes.join());
    const own = await readMerchant(api.ctx, claimer.test.scope, id);
    const displaced = outcomes[2] !== 'signed';
    assert.deepEqual([own?.wallet_address === null, own?.displaced_at !== null], [displaced, displaced]);
    assert.equal((await mailsOn(id)).length, displaced ? 1 : 0);
    const [holders] = await api.db.sql`
      select count(*)::int as merchants from merchants where wallet_address = ${wallet.address}`;
    assert.equal(holders?.merchants, 1);
  }
});
