import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { type Api, ApiClient, type ApiJson, type ApiPartner, startApi } from '../support/api/client.ts';
import { makeMerchant } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
});
after(() => api?.stop());

/** Runs a second node on the same database while the work runs. */
async function withSecondNode(work: (url: string) => Promise<void>): Promise<void> {
  const db = connect(api.access);
  const node = await buildServer({ ...api.ctx, db });
  try {
    await work(await node.listen({ host: '127.0.0.1', port: 0 }));
  } finally {
    await node.close();
    await db.close();
  }
}

/** One step of a reader that keeps only the last created_at it saw and the ids that have it. */
async function readOn(reader: ApiClient, seen: ApiJson[], limit: number): Promise<number> {
  const since = seen.at(-1)?.created_at;
  const answer = await reader.list(`?limit=${limit}${since ? `&since=${since}` : ''}`);
  assert.equal(answer.status, 200, answer.text);
  const fresh = answer.json.requests.filter(({ request_id }) => request_id !== seen.at(-1)?.request_id);
  for (const request of fresh) {
    const last = seen.at(-1);
    assert.ok(!last || request.created_at > last.created_at, `${request.created_at} after ${last?.created_at}`);
    seen.push(request);
  }
  return fresh.length;
}

test('Following since › several writers on two nodes: a reader misses nothing, and created_at strictly increases', async () => {
  await withSecondNode(async (secondUrl) => {
    const merchants = [one.test.merchant, await makeMerchant(api.db, one.test.scope)];
    const made: string[] = [];
    let writing = true;
    const write = async (url: string, writer: number) => {
      const client = new ApiClient(api.db, url, one.test.scope);
      for (let i = 0; i < 60; i++) {
        const answer = await client.create({ account_id: merchants[writer % 2]?.id, fiat_amount_int: 100 + (i % 7) });
        assert.equal(answer.status, 201, answer.text);
        made.push(answer.json.request_id);
      }
    };
    const read = async (url: string, limit: number) => {
      const client = new ApiClient(api.db, url, one.test.scope);
      const seen: ApiJson[] = [];
      for (let round = 0; round < 10_000; round++) {
        const last = !writing;
        if ((await readOn(client, seen, limit)) === 0 && last) return seen;
      }
      throw new Error('the reader never came to the end');
    };
    const readers = [read(api.url, 7), read(secondUrl, 100), read(secondUrl, 2)];
    await Promise.all([0, 1, 2, 3, 4, 5].map((writer) => write(writer % 2 ? api.url : secondUrl, writer)));
    writing = false;
    for (const seen of await Promise.all(readers)) {
      assert.deepEqual(seen.map(({ request_id }) => request_id).toSorted(), made.toSorted());
    }
  });
});

test('Following since › an answered create is in the very next list, on every node', async () => {
  await withSecondNode(async (secondUrl) => {
    const second = new ApiClient(api.db, secondUrl, one.test.scope);
    for (let i = 0; i < 20; i++) {
      const made = await one.test.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
      const { requests } = (await second.list(`?since=${made.json.created_at}`)).json;
      assert.deepEqual(
        requests.map(({ request_id }) => request_id),
        [made.json.request_id],
      );
      assert.equal((await second.cancel(made.json.request_id)).json.status, 'voided');
      assert.equal((await one.test.api.read(made.json.request_id)).json.status, 'voided');
    }
  });
});

test('Following since › each partner and mode has its own order: one that is busy does not hold another', async () => {
  const others = [await api.partner(), await api.partner()];
  const sides = [one.live, ...others.flatMap(({ test, live }) => [test, live])];
  await Promise.all(
    sides.flatMap((side) =>
      Array.from({ length: 10 }, () => side.api.create({ account_id: side.merchant.id, fiat_amount_int: 1 })),
    ),
  );
  for (const side of sides) {
    const times = (await side.api.list()).json.requests.map(({ created_at }) => created_at);
    assert.equal(times.length, 10);
    assert.equal(new Set(times).size, 10);
    assert.deepEqual(times, times.toSorted());
  }
});

test('Cancel › racing an opening pay page: one of them wins, and both tell the same story', async () => {
  const outcomes = new Set<string>();
  for (let i = 0; i < 40; i++) {
    const { json } = await one.test.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
    const page = new URL(json.pay_page_url).pathname;
    const open = () => one.test.api.get(page, { key: null, headers: { 'user-agent': 'Mozilla/5.0' } });
    const cancel = () => one.test.api.cancel(json.request_id);
    const [first, second] = i % 2 ? [open(), cancel()] : [cancel(), open()];
    const cancelled = i % 2 ? await second : await first;
    await Promise.all([first, second]);
    const { status } = (await one.test.api.read(json.request_id)).json;
    assert.deepEqual([cancelled.status, status], cancelled.status === 200 ? [200, 'voided'] : [409, 'opened']);
    outcomes.add(status);
  }
  assert.ok(outcomes.size > 0);
});
