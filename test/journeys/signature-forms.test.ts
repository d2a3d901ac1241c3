import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import {
  concat,
  encodeErrorResult,
  type Hex,
  numberToHex,
  parseAbi,
  serializeErc6492Signature,
  serializeErc8010Signature,
  size,
} from 'viem';
import { theService } from '../../src/audit/write.ts';
import { callRpc } from '../../src/chain/rpc.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { randomAddress } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import type { Visit } from '../support/people/forms.ts';
import { makeOnboarded, newAccount, signOn } from '../support/people/merchants.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
/** Would be called by a service that follows the URLs contracts return. */
let listener: Server;
let heard: string[] = [];
/** The endpoint through which the service reads the chain. */
let provider: Awaited<ReturnType<typeof fakeProvider>>;
let node: string;

before(async () => {
  fixtures = await dashboardFixtures();
  [node = ''] = fixtures.node.chain.rpcUrls;
  provider = await fakeProvider(node);
  fixtures.node.chain.rpcUrls.splice(0, 1, provider.url);
  listener = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
});
after(async () => {
  listener?.closeAllConnections();
  listener?.close();
  await fixtures?.stop();
  await provider?.stop();
});

const lookup = parseAbi([
  'error OffchainLookup(address sender, string[] urls, bytes data, bytes4 callback, bytes extra)',
]);

/** Makes an account delegate (EIP-7702) to code that reverts with URLs to call (ERC-3668). */
async function turnHostile(wallet: string): Promise<Hex> {
  const { port } = listener.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/{sender}/{data}`;
  const revert = encodeErrorResult({
    abi: lookup,
    errorName: 'OffchainLookup',
    args: [wallet as Hex, Array(20).fill(url), '0x1234', '0x1626ba7e', '0x'],
  });
  const length = numberToHex(size(revert), { size: 2 }).slice(2);
  const delegate = randomAddress() as Hex;
  await callRpc(node, 'anvil_setCode', [delegate, concat([`0x61${length}600d5f3961${length}5ffd00`, revert])]);
  await callRpc(node, 'anvil_setCode', [wallet, concat(['0xef0100', delegate])]);
  return delegate;
}

/** Signatures that run the wallet's code, each in a different wrapper. */
function signatures(delegate: Hex): Hex[] {
  const authorization = {
    address: delegate,
    chainId: fixtures.node.chain.chainId,
    nonce: 0,
    r: numberToHex(1n, { size: 32 }),
    s: numberToHex(1n, { size: 32 }),
    yParity: 0,
  };
  return [
    '0x1234',
    `0x${'11'.repeat(64)}1b`,
    serializeErc6492Signature({ address: delegate, data: '0x', signature: '0x1234' }),
    serializeErc8010Signature({ authorization, signature: '0x1234' }),
  ];
}

const pathOf = (url: string) => new URL(url).pathname;

async function signOnboarding() {
  const wallet = randomAddress();
  const delegate = await turnHostile(wallet);
  const merchant = await createShell(fixtures.ctx, theService, fixtures.scope, { display_currency: 'EUR' });
  const visitor = startVisitor(fixtures.url);
  const details = await visitor.open(pathOf(onboardingUrl(fixtures.ctx.config, merchant, fixtures.clock.now())));
  await visitor.send(details, '/details');
  const page = await visitor.open(
    `${pathOf(onboardingUrl(fixtures.ctx.config, merchant, fixtures.clock.now()))}?step=wallet`,
  );
  const signing = await visitor.send(page, '/wallet', { wallet_address: wallet });
  return { visitor, page: signing, action: '/complete', delegate, typed: { accept_terms: '1' } };
}

async function signSignIn() {
  const { merchant, delegate } = await hostileMerchant();
  const typed = { wallet_address: merchant.wallet };
  const visitor = startVisitor(fixtures.url);
  const page = await visitor.send(await visitor.open('/dashboard/sign-in'), '/wallet', typed);
  return { visitor, page, action: '/complete', delegate };
}

/** A merchant whose wallet now has code instead of a key, with a session from before. */
async function hostileMerchant(email?: string) {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope, email ? { email } : {});
  const delegate = await turnHostile(merchant.wallet);
  const { chainId } = fixtures.node.chain;
  await fixtures.db.sql`update merchants set wallet_chain_ids = ${[chainId]} where id = ${merchant.id}`;
  return { merchant, delegate, visitor: await fixtures.signedIn(fixtures.scope, merchant) };
}

async function signHandOver() {
  const { visitor, delegate } = await hostileMerchant();
  const start = await visitor.open('/dashboard/wallet');
  const page = await visitor.send(start, '/hand-over', { wallet_address: randomAddress() });
  return { visitor, page, action: '/take-over', delegate };
}

async function signTakeOver() {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const visitor = await fixtures.signedIn(fixtures.scope, merchant);
  const wallet = randomAddress();
  const delegate = await turnHostile(wallet);
  const start = await visitor.open('/dashboard/wallet');
  const first = await visitor.send(start, '/hand-over', { wallet_address: wallet });
  return { visitor, page: await signOn(visitor, first, merchant.account), action: '/apply', delegate };
}

async function signRecovery() {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope, { email: 'ada-recovers@example.com' });
  const { url } = await startRecovery(fixtures.ctx, theService, fixtures.scope, merchant.id);
  const wallet = randomAddress();
  const delegate = await turnHostile(wallet);
  const visitor = startVisitor(fixtures.url);
  const page = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: wallet });
  return { visitor, page, action: '/complete', delegate };
}

async function signVeto() {
  const email = 'ada-objects@example.com';
  const { merchant, delegate } = await hostileMerchant(email);
  const { url } = await startRecovery(fixtures.ctx, theService, fixtures.scope, merchant.id);
  const thief = startVisitor(fixtures.url);
  const next = newAccount();
  await signOn(thief, await thief.send(await thief.open(url), '/wallet', { wallet_address: next.address }), next);
  const [mail] = await fixtures.db.sql`
    select body from mails where recipient = ${email} and body like '%/veto/%' order by created_at desc limit 1`;
  const visitor = startVisitor(fixtures.url);
  const page = await visitor.open(/\S+\/veto\/\S+/.exec(mail?.body ?? '')?.[0] ?? '');
  return { visitor, page, action: '/complete', delegate };
}

async function signClaim() {
  const request = await fixtures.request();
  const usdcMicro = BigInt(request.usdc_micro) + 77n;
  const { txHash, from } = await fixtures.pay(request, { usdcMicro, tagged: false });
  await fixtures.turn();
  assert.equal((await submitHash(fixtures.ctx, request.id, { txHash })).kind, 'needs_signature');
  const delegate = await turnHostile(from.address);
  const visitor = startVisitor(fixtures.url);
  const page = await visitor.send(await visitor.open(`/pay/${request.id}`), '/proof', { tx_hash: txHash });
  return { visitor, page, action: '/claim', delegate };
}

type Form = { visitor: Visitor; page: Visit; action: string; delegate: Hex; typed?: Record<string, string> };
const forms: Record<string, () => Promise<Form>> = {
  'onboarding, complete': signOnboarding,
  'dashboard, sign-in': signSignIn,
  'dashboard, hand over the wallet': signHandOver,
  'dashboard, take over the wallet': signTakeOver,
  'recovery, by the new wallet': signRecovery,
  'recovery, objection': signVeto,
  'pay page, claim': signClaim,
};

for (const [name, open] of Object.entries(forms)) {
  test(`${name} › a contract that sends its callers elsewhere → asked on its chain, and nothing else is called`, async () => {
    const { visitor, page, action, delegate, typed } = await open();
    assert.ok(
      page.forms.some((form) => form.action.endsWith(action)),
      page.html,
    );
    heard = [];
    const asked: number[] = [];
    for (const signature of signatures(delegate)) {
      provider.fake.calls.clear();
      const { html, status } = await visitor.send(page, action, { signature, ...typed });
      asked.push(provider.fake.calls.get('eth_call') ?? 0);
      assert.ok(/not from this wallet|not from the wallet/.test(html), `${signature}: ${status}`);
    }
    assert.deepEqual(heard, []);
    assert.deepEqual(asked, [1, 1, 1, 0], 'by ERC-8010 it is not even asked');
  });
}
