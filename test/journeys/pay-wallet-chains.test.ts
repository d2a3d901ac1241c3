import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { readCheckout } from '../../src/checkout/read.ts';
import { statusMessageOf } from '../../src/checkout/status-message.ts';
import type { TokenConfig } from '../../src/config/chains.ts';
import { readFindings } from '../../src/payments/findings.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { createInScope } from '../../src/requests/create-in-scope.ts';
import { renderRequest } from '../../src/requests/render.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';

const otherChainId = 31339;
let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
  fixtures.ctx.chains.test.push({ ...fixtures.node.chain, chainId: otherChainId, name: 'Other Chain' });
});
after(() => fixtures.stop());

/** Makes the merchant's wallet a contract whose code was checked on these chains. */
const checkedOn = (chainIds: number[] | null) =>
  fixtures.db.sql`update merchants set wallet_chain_ids = ${chainIds} where id = ${fixtures.merchant.id}`;
async function create(): Promise<RequestRow> {
  const key = randomBytes(24).toString('base64url');
  const fields = { account_id: fixtures.merchant.id, fiat_amount_int: 1250, idempotency_key: key };
  return (await createInScope(fixtures.ctx, fixtures.scope, fields)).row;
}
const assetOf = (row: RequestRow) => JSON.parse(renderRequest(fixtures.ctx, row)).asset_id;
const page = async ({ id }: RequestRow) => (await fixtures.visitor.open(`/pay/${id}`)).html;

test('A contract wallet is offered only on the chains where it was checked: by asset_id, by the page, by its codes', async () => {
  await checkedOn([otherChainId]);
  const request = await create();
  assert.match(assetOf(request), /^eip155:31339\//);
  const html = await page(request);
  assert.match(html, /Other Chain/);
  assert.ok(!html.includes(fixtures.node.chain.name), 'nothing else is offered');
  await checkedOn(null);
  assert.match(assetOf(request), /^eip155:31339\//, 'a request keeps the chains that it was made with');
  assert.ok(!(await page(request)).includes(fixtures.node.chain.name));
  assert.match(assetOf(await create()), /^eip155:31337\//);
});

test('Money at its address on another chain is unmatched as wrong_network, and applied to no request', async () => {
  await checkedOn([otherChainId]);
  const request = await create();
  const tagged = await fixtures.pay(request);
  const exact = await fixtures.pay(request, { tagged: false });
  const other = await fixtures.pay(request, { tagged: false, usdcMicro: 99_000_077n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  for (const { txHash } of [tagged, exact, other]) {
    assert.equal((await fixtures.transfer(txHash))?.reason, 'wrong_network');
    const key = { chainId: 31337, txHash, ordinal: 0 };
    const attach = { ...key, accountId: fixtures.merchant.id, requestId: request.id };
    assert.equal((await attachUnmatched(fixtures.ctx, theService, fixtures.scope, attach)).kind, 'wrong_network');
    assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), { kind: 'wrong_network' });
  }
  const key = { chainId: 31337, txHash: other.txHash, ordinal: 0 };
  const account = privateKeyToAccount(other.from.privateKey);
  const signature = await account.signTypedData(claimTypedData(fixtures.ctx.config, request.id, key));
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind: 'wrong_network' });
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.match(await page(request), /The payment arrived on the wrong network/);
  const { html: list } = await fixtures.visitor.open('/dashboard/payments');
  const row = list.slice(list.indexOf(`/dashboard/payments/${request.id}`)).split('</tr>', 1)[0];
  assert.match(row ?? '', /USDC arrived but does not count/, 'its list says that there is something to look at');
  assert.match(
    (await fixtures.visitor.open('/dashboard/unmatched')).html,
    /on a network where your wallet has not been verified/,
  );
  const detail = await fixtures.visitor.open(`/dashboard/unmatched/31337_${other.txHash}_0`);
  assert.ok(!detail.html.includes(request.id), 'it is not offered to be attached');
});

test('A wallet that can be paid on no configured chain → create is refused; a page from before says so', async () => {
  await checkedOn([otherChainId]);
  const before = await create();
  await checkedOn([1]);
  await assert.rejects(create(), { code: 'merchant_onboarding_incomplete', message: /can change it in its dashboard/ });
  const gone = fixtures.ctx.chains.test.pop();
  const html = await page(before);
  assert.ok(!html.includes('data-orders'));
  assert.match(html, /cannot receive payments on any of these networks/);
  if (gone) fixtures.ctx.chains.test.push(gone);
});

test('a wallet with a key → payable on every chain', async () => {
  await checkedOn(null);
  const request = await create();
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

test('A chain that offers no token any more › neither asset_id nor the page names it, and its payments count', async () => {
  await checkedOn(null);
  const chain = fixtures.ctx.chains.test.find(({ chainId }) => chainId === 31337);
  const [usdc] = chain?.tokens ?? [];
  assert.ok(chain && usdc);
  const before = await create();
  await checkedOn([31337]);
  const ofContract = await create();
  try {
    chain.tokens = [{ ...usdc, offered: false }];
    assert.match(assetOf(before), /^eip155:31339\//);
    assert.match(assetOf(ofContract), /^eip155:31339\//, 'nothing else is offered');
    assert.match(await page(ofContract), /cannot receive payments on any of these networks/);
    await assert.rejects(create(), { code: 'merchant_onboarding_incomplete' });
    const shown = await page(before);
    assert.match(shown, /Other Chain/);
    assert.ok(!shown.includes(chain.name));
    for (const request of [before, ofContract]) await fixtures.pay(request);
    await fixtures.node.mine(3);
    await fixtures.turn();
    for (const request of [before, ofContract]) assert.equal((await fixtures.read(request)).proof_status, 'verified');
    assert.match(await page(before), new RegExp(chain.name), 'a payment there is shown with the name of its network');
  } finally {
    chain.tokens = [usdc];
  }
});

test('A token that is not offered › neither asset_id nor the page names it, and a payment in it counts', async () => {
  await checkedOn(null);
  const chain = fixtures.ctx.chains.test.find(({ chainId }) => chainId === 31337);
  const [usdc] = chain?.tokens ?? [];
  assert.ok(chain && usdc);
  const added: TokenConfig = { symbol: 'USDX', address: `0x${'6f'.repeat(20)}` };
  try {
    chain.tokens = [{ ...added, offered: false }, usdc];
    const before = await create();
    assert.equal(assetOf(before), `eip155:31337/erc20:${usdc.address}`);
    assert.ok(!(await page(before)).includes('USDX'));
    chain.tokens = [{ ...usdc, offered: false }, added];
    const request = await create();
    assert.equal(assetOf(request), `eip155:31337/erc20:${added.address}`);
    assert.match(await page(request), /USDX/);
    await fixtures.pay(request);
    await fixtures.node.mine(3);
    await fixtures.turn();
    assert.equal((await fixtures.read(request)).proof_status, 'verified');
  } finally {
    chain.tokens = [usdc];
  }
});

test('Money in one of several tokens, on a wrong network or of a wrong token → names what arrived, and the tokens that are offered', async () => {
  const { tokens } = fixtures.node.chain;
  const usual = [...tokens];
  const gone: TokenConfig = { address: `0x${'0d'.repeat(20)}`, symbol: 'GONE', offered: false };
  await checkedOn([otherChainId]);
  const request = await create();
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  tokens.unshift(gone);
  const { misdirected } = await readFindings(fixtures.ctx, fixtures.scope, request, null);
  assert.deepEqual(
    misdirected.map(({ symbol, tokenAddress }) => [symbol, tokenAddress]),
    usual.map(({ symbol, address }) => [symbol, address]),
  );

  await checkedOn(null);
  const other = await create();
  const [wrong] = misdirected;
  assert.ok(wrong);
  const sent = { ...wrong, kind: 'wrong_token' as const, symbol: 'ODD', tokenAddress: `0x${'0e'.repeat(20)}` };
  const checkout = await readCheckout(fixtures.ctx, other.id, wordsOf('en'), [sent]);
  assert.ok(checkout);
  const told = String(statusMessageOf(checkout));
  assert.match(told, /ODD .* was sent on .* and pay with USDC\./s);
  tokens.shift();
});
