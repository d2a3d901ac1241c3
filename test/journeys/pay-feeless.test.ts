import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import type { Context } from '../../src/context.ts';
import { buildServer } from '../../src/http/server.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import type { TestWallet } from '../support/chain/chain.ts';
import { ask } from '../support/payments/agent.ts';
import { type AuthorizedFixtures, authorizedFixtures } from '../support/payments/authorized-fixtures.ts';

let f: AuthorizedFixtures;
let app: Awaited<ReturnType<typeof buildServer>>;
let url: string;
before(async () => {
  f = await authorizedFixtures();
  [app, url] = await serve(f.ctx);
});
after(async () => {
  await app?.close();
  await f?.stop();
});

async function serve(ctx: Context) {
  const server = await buildServer(ctx);
  return [server, await server.listen({ host: '127.0.0.1', port: 0 })] as const;
}

type Answer = {
  status: number;
  ok: boolean;
  reason?: string;
  typed?: string;
  nonce?: string;
  valid_before?: string;
  lacks_coin?: boolean | null;
};
async function post(
  request: { id: string },
  name: 'authorization' | 'authorized',
  fields: Record<string, string>,
  { headers = {}, at = url }: { headers?: Record<string, string>; at?: string } = {},
): Promise<Answer> {
  const body = new URLSearchParams(fields);
  const answer = await fetch(`${at}/pay/${request.id}/${name}`, { method: 'POST', body, headers });
  return { status: answer.status, ...((await answer.json()) as Omit<Answer, 'status'>) };
}
const place = () => ({ chain_id: String(f.chain.chainId), token: f.token.address });
const prepare = (request: RequestRow, from: TestWallet, at = url) =>
  post(request, 'authorization', { ...place(), from: from.address }, { at });
/** Pays as the page does: requests what to sign, signs it, and submits it. */
async function pay(request: RequestRow, from: TestWallet): Promise<Answer> {
  const { typed = '', nonce = '', valid_before = '' } = await prepare(request, from);
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(JSON.parse(typed));
  return post(request, 'authorized', { ...place(), from: from.address, nonce, valid_before, signature });
}
const says = async (request: RequestRow, text: string) =>
  (await (await fetch(`${url}/pay/${request.id}`)).text()).includes(text);

test('POST authorization › says what to sign, under the token’s own domain, no longer than the request', async () => {
  const request = await f.request();
  const [poor, rich] = [await f.payer(), await f.payer()];
  await f.node.fund(rich.address, 0n);
  const answer = await prepare(request, poor);
  const { domain, message, primaryType } = JSON.parse(answer.typed ?? '');
  assert.equal(primaryType, 'TransferWithAuthorization');
  assert.deepEqual(domain, {
    ...{ name: 'USD Coin', version: '2', chainId: f.chain.chainId, verifyingContract: f.token.address },
  });
  assert.deepEqual(message, {
    ...{ from: poor.address, to: request.wallet_address, value: request.usdc_micro, validAfter: '0' },
    ...{ validBefore: answer.valid_before, nonce: answer.nonce },
  });
  assert.ok(Number(answer.valid_before) * 1000 <= request.expires_at.getTime());
  assert.equal(answer.nonce?.slice(2, 34), Buffer.from(request.reference).toString('hex'));
  assert.equal(answer.lacks_coin, true);
  assert.equal((await prepare(request, rich)).lacks_coin, false);
  await f.rpc('anvil_setCode', [rich.address, '0x00']);
  assert.equal((await prepare(request, rich)).lacks_coin, null, 'a contract wallet may have its fees paid');
});

test('a token without signed transfers → only offered to be paid with a fee', async () => {
  const request = await f.request();
  const address = f.chain.recurringContract as `0x${string}`;
  f.chain.tokens.push({ symbol: 'PLAIN', address });
  const page = await (await fetch(`${url}/pay/${request.id}`)).text();
  const orders = page.match(/data-orders="([^"]*)"/)?.[1]?.replaceAll('&quot;', '"') ?? '';
  const offered = (JSON.parse(orders).options as { symbol: string; feeless: boolean }[]).map(
    ({ symbol, feeless }) => `${symbol} ${feeless}`,
  );
  assert.deepEqual(offered, ['USDC true', 'PLAIN false']);
  const answer = await post(request, 'authorization', { ...place(), token: address, from: f.node.wallet().address });
  assert.equal(answer.reason, 'notOffered');
  f.chain.tokens.pop();
});

test('a payment of less than least_payment → not offered without a fee to anybody, nor taken when it is signed anyway', async () => {
  const [enough, small] = [await f.request({ exactMicro: 1_000_000n }), await f.request({ exactMicro: 999_999n })];
  const from = await f.payer();
  assert.equal((await prepare(enough, from)).ok, true);
  assert.equal((await prepare(small, from)).reason, 'notOffered');
  assert.ok(!(await says(small, 'name="feeless"')));
  assert.equal((await ask(`${url}/pay/${enough.id}`)).status, 402);
  assert.equal((await ask(`${url}/pay/${small.id}`)).status, 503);
  const before = await f.sent();
  const { nonce, validBefore, signature } = await f.sign(small, from);
  const fields = { ...place(), from: from.address, nonce, valid_before: String(validBefore), signature };
  assert.equal((await post(small, 'authorized', fields)).reason, 'notOffered');
  await f.settle();
  assert.equal(await f.sent(), before);
});

test('POST authorized › the signed payment is sent and pays the request; the page shows each step', async () => {
  const request = await f.request();
  assert.ok(await says(request, 'name="feeless"'));
  assert.deepEqual(await pay(request, await f.payer()), { status: 200, ok: true });
  assert.ok(await says(request, 'Sending your payment'));
  assert.ok(!(await says(request, 'name="feeless"')));
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
  assert.ok(await says(request, 'has received your payment'));
});

test('POST authorized › submitted again by the same wallet → ok, by another one → otherUnderWay; sent once', async () => {
  const request = await f.request();
  const [from, other] = [await f.payer(), await f.payer()];
  const before = await f.sent();
  const { typed = '', nonce = '', valid_before = '' } = await prepare(request, from);
  const theirs = await prepare(request, other);
  const sign = (who: TestWallet, what: string) => privateKeyToAccount(who.privateKey).signTypedData(JSON.parse(what));
  const fields = { ...place(), from: from.address, nonce, valid_before, signature: await sign(from, typed) };
  assert.equal((await post(request, 'authorized', fields)).ok, true);
  assert.equal((await post(request, 'authorized', fields)).ok, true);
  const second = { ...fields, from: other.address, signature: await sign(other, theirs.typed ?? '') };
  assert.equal((await post(request, 'authorized', second)).reason, 'otherUnderWay');
  assert.equal((await prepare(request, from)).reason, 'otherUnderWay');
  await f.settle();
  assert.equal((await post(request, 'authorized', fields)).reason, 'alreadyUsed');
  assert.equal(await f.sent(), before + 1);
});

test('POST authorized › signed for something else: its nonce names another request, or none → refused', async () => {
  const [request, other] = [await f.request(), await f.request()];
  const from = await f.payer();
  const ofOther = (await prepare(other, from)).nonce ?? '';
  for (const nonce of [`0x${'12'.repeat(32)}`, ofOther]) {
    const { typed = '', valid_before = '' } = await prepare(request, from);
    const data = JSON.parse(typed);
    const message = { ...data.message, nonce };
    const signature = await privateKeyToAccount(from.privateKey).signTypedData({ ...data, message });
    const answer = await post(request, 'authorized', {
      ...place(),
      from: from.address,
      nonce,
      valid_before,
      signature,
    });
    assert.deepEqual([answer.ok, answer.reason], [false, 'badSignature']);
  }
});

test('POST authorized › fields that do not fit → refused with a word, and nothing is bound', async () => {
  const request = await f.request();
  const from = await f.payer();
  const [other] = [await f.payer()];
  for (const [change, reason] of [
    [{ signature: '0x12' }, 'badSignature'],
    [{ signature: 'no' }, 'badSignature'],
    [{ nonce: '0x1' }, 'badSignature'],
    [{ nonce: `0x${'12'.repeat(32)}` }, 'badSignature'],
    [{ valid_before: 'soon' }, 'badSignature'],
    [{ valid_before: '99999999999' }, 'badSignature'],
    [{ from: other.address }, 'badSignature'],
    [{ from: request.wallet_address }, 'badSignature'],
    [{ from: 'ada.eth' }, 'closed'],
    [{ token: f.chain.recurringContract ?? '' }, 'notOffered'],
    [{ chain_id: '1' }, 'notOffered'],
  ] as [Record<string, string>, string][]) {
    const fresh = await buildServer(f.ctx);
    const at = await fresh.listen({ host: '127.0.0.1', port: 0 });
    const { typed = '', nonce = '', valid_before = '' } = await prepare(request, from, at);
    const signature = await privateKeyToAccount(from.privateKey).signTypedData(JSON.parse(typed));
    const fields = { ...place(), from: from.address, nonce, valid_before, signature, ...change };
    const answer = await post(request, 'authorized', fields, { at });
    assert.equal(answer.ok, false);
    assert.equal(answer.reason, reason, JSON.stringify(change));
    await fresh.close();
  }
  const bound = await f.db.sql`select from authorizations where request_id = ${request.id}`;
  assert.equal(bound.length, 0);
});

test('POST authorized › another site’s form, an unknown request, one that has ended → refused', async () => {
  const request = await f.request();
  const from = await f.payer();
  const fields = { ...place(), from: from.address };
  const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } };
  assert.equal((await post(request, 'authorized', fields, foreign)).status, 403);
  assert.equal((await post({ id: 'nothing' }, 'authorized', fields)).status, 404);
  assert.equal((await post({ id: crypto.randomUUID() }, 'authorization', fields)).status, 404);
  await f.db.sql`update requests set expires_at = now() - interval '1 second' where id = ${request.id}`;
  assert.equal((await prepare(request, from)).reason, 'closed');
});

test('a client that submits again and again is slowed down; the page and the ordinary ways stay', async () => {
  const request = await f.request();
  const from = await f.payer();
  const fields = {
    ...place(),
    from: from.address,
    nonce: `0x${'00'.repeat(32)}`,
    valid_before: '1',
    signature: '0x12',
  };
  const now = f.ctx.clock.now(); // the limit counts by the minute, which must not end meanwhile
  const [fresh, at] = await serve({ ...f.ctx, clock: { now: () => now } });
  const statuses: number[] = [];
  for (let i = 0; i < 8; i++) statuses.push((await post(request, 'authorized', fields, { at })).status);
  await fresh.close();
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429, 429, 429]);
  assert.equal((await fetch(`${url}/pay/${request.id}`)).status, 200);
});

test('signed again after the money came by itself → the next counter, and only for what is missing', async () => {
  const request = await f.request();
  const from = await f.payer();
  const half = BigInt(request.usdc_micro) / 2n;
  const part = await f.sign(request, from, { valueMicro: half });
  const stranger = f.node.wallet();
  await f.node.fund(stranger.address, 0n);
  await f.execute(part, stranger);
  assert.equal((await prepare(request, from)).reason, 'alreadyUsed', 'while its transfer is not matched yet');
  await f.settle();
  const next = await prepare(request, from);
  assert.equal(next.nonce?.slice(-8), '00000001');
  assert.equal(JSON.parse(next.typed ?? '').message.value, String(BigInt(request.usdc_micro) - half));
  assert.equal((await pay(request, from)).ok, true);
  await f.settle();
  assert.equal((await f.read(request)).proof_status, 'verified');
});
