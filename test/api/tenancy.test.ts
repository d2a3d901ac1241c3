import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Answer, type Api, type ApiPartner, assertRefused, startApi } from '../support/api/client.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;
type Side = ApiPartner['test'] & { name: string; requestId: string };
let sides: Side[];

before(async () => {
  api = await startApi();
  one = await api.partner();
  two = await api.partner();
  const named = { 'one test': one.test, 'one live': one.live, 'two test': two.test, 'two live': two.live };
  sides = await Promise.all(
    Object.entries(named).map(async ([name, side]) => {
      const made = await side.api.create({
        account_id: side.merchant.id,
        fiat_amount_int: 1250,
        metadata: { side: name },
      });
      assert.equal(made.status, 201, made.text);
      return { ...side, name, requestId: made.json.request_id };
    }),
  );
});
after(() => api?.stop());

/** Every pair of a caller and the owner of the object asked for. */
async function eachPair(call: (caller: Side, owner: Side) => Promise<void>): Promise<void> {
  for (const caller of sides) for (const owner of sides) await call(caller, owner);
}

/** Unknown, foreign and other-mode ids must look alike to the byte. */
async function assertAlike(calls: Promise<Answer>[]): Promise<void> {
  const answers = await Promise.all(calls);
  for (const answer of answers) assertRefused(answer, 404, 'not_found');
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  const headers = answers.map(({ headers: { date: _, 'x-request-id': __, ...rest } }) => JSON.stringify(rest));
  assert.equal(new Set(headers).size, 1, headers.join('\n'));
}

test('Tenancy › GET request: its own side reads it, the other three find nothing', async () => {
  await eachPair(async (caller, owner) => {
    const answer = await caller.api.read(owner.requestId);
    if (caller === owner) assert.deepEqual(answer.json.metadata, { side: owner.name });
    else assertRefused(answer, 404, 'not_found');
  });
});

test('Tenancy › GET account: its own side reads it, the other three find nothing', async () => {
  await eachPair(async (caller, owner) => {
    const answer = await caller.api.readAccount(owner.merchant.id);
    if (caller === owner) assert.equal(answer.json.account_id, owner.merchant.id);
    else assertRefused(answer, 404, 'not_found');
  });
});

test('Tenancy › lists hold only what belongs to the key’s partner and mode', async () => {
  for (const side of sides) {
    const requests = (await side.api.list()).json.requests;
    assert.deepEqual(
      requests.map(({ request_id }) => request_id),
      [side.requestId],
    );
    const merchants = (await side.api.listAccounts()).json.merchants;
    assert.deepEqual(
      merchants.map(({ account_id }) => account_id),
      [side.merchant.id],
    );
  }
});

test('Tenancy › the account_id filter of a list names only its own merchants', async () => {
  await eachPair(async (caller, owner) => {
    const answer = await caller.api.list(`?account_id=${owner.merchant.id}`);
    if (caller === owner) assert.equal(answer.json.requests.length, 1);
    else assertRefused(answer, 404, 'not_found');
  });
});

test('Tenancy › create: only for its own merchants; its own merchant in the other mode gets another error', async () => {
  await eachPair(async (caller, owner) => {
    const answer = await caller.api.create({ account_id: owner.merchant.id, fiat_amount_int: 0.5 });
    assert.equal(answer.json.error, 'invalid_request');
    const valid = await caller.api.create({
      account_id: owner.merchant.id,
      fiat_amount_int: 1,
      idempotency_key: 'k'.repeat(32),
    });
    const samePartner = caller.scope.partnerId === owner.scope.partnerId;
    if (caller === owner) assert.equal(valid.status, 201);
    else if (samePartner) assertRefused(valid, 400, 'merchant_mode_mismatch');
    else assertRefused(valid, 404, 'not_found');
  });
});

test('Tenancy › an idempotency key used by one side never replays for another', async () => {
  await eachPair(async (caller, owner) => {
    const body = { account_id: owner.merchant.id, fiat_amount_int: 1, idempotency_key: 'k'.repeat(32) };
    const answer = await caller.api.create(body);
    if (caller === owner) assert.deepEqual([answer.status, answer.json.idempotent_replay], [200, true]);
    else assert.ok(answer.status >= 400);
  });
});

test('Tenancy › 404 is the same for unknown, foreign and other-mode ids, on every route', async () => {
  const caller = sides[0] as Side;
  const others = sides.slice(1);
  await assertAlike([
    ...others.map((side) => caller.api.read(side.requestId)),
    caller.api.read(randomUUID()),
    caller.api.read('x'),
  ]);
  await assertAlike([
    ...others.map((side) => caller.api.cancel(side.requestId)),
    caller.api.cancel(randomUUID()),
    caller.api.cancel('x'),
  ]);
  await assertAlike([
    ...others.map((side) => caller.api.readAccount(side.merchant.id)),
    caller.api.readAccount(randomUUID()),
    caller.api.readAccount('x'),
  ]);
  await assertAlike([
    ...others.map((side) => caller.api.list(`?account_id=${side.merchant.id}`)),
    caller.api.list(`?account_id=${randomUUID()}`),
  ]);
});

test('Tenancy › a request’s id is no account’s id, and the reverse', async () => {
  const side = sides[0] as Side;
  assertRefused(await side.api.read(side.merchant.id), 404, 'not_found');
  assertRefused(await side.api.readAccount(side.requestId), 404, 'not_found');
});

test('Tenancy › cancel: the other three find nothing and change nothing, then its own side cancels', async () => {
  await eachPair(async (caller, owner) => {
    if (caller !== owner) assertRefused(await caller.api.cancel(owner.requestId), 404, 'not_found');
  });
  for (const side of sides) {
    assert.equal((await side.api.read(side.requestId)).json.status, 'requested');
    assert.equal((await side.api.cancel(side.requestId)).json.status, 'voided');
  }
});
