import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectLive } from '../../src/chain/relay/store.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';

// Calls that no endpoint decides stay under way. However many there are, those behind them go on.

let database: TestDatabase;
let partnerId: string;
before(async () => {
  database = await testDatabase();
  partnerId = (await makePartner(database.db)).test.partnerId;
});
after(() => database?.drop());

const chainId = 31337;
const most = { first: 50, anywhere: 10 };

/** Stores calls of an account with these nonces. */
async function store(address: string, kind: 'passed' | 'mined' | 'allotted', from: number, count: number) {
  const state = kind === 'passed' ? 'sent' : kind;
  await database.db.sql`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, day, fee_wei, state, hash, passed_block, block_number, block_hash)
    select ${partnerId}, true, gen_random_uuid(), ${chainId}, ${address}, n, '0x', '', 1, 'charge', gen_random_uuid(),
      current_date, 0, ${state}, case when ${kind} <> 'allotted' then '0x' || n end,
      case when ${kind} = 'passed' then 1 end, case when ${kind} = 'mined' then 1 end, case when ${kind} = 'mined' then '0x' end
    from generate_series(${from}::int, ${from + count - 1}::int) n`;
}

const noncesOf = async (address: `0x${string}`) =>
  (await selectLive(database.db.sql, { chainId, address }, most)).map(({ nonce }) => Number(nonce));

test('Many calls whose nonces were used and that nobody decides › a call behind them is sent all the same', async () => {
  await store('0xa', 'passed', 0, 60);
  await store('0xa', 'allotted', 60, 1);
  assert.ok((await noncesOf('0xa')).includes(60));
});

test('Many calls that nobody decides › each behind them is looked at before long, and the first ones in each pass', async () => {
  for (const [address, kind] of [
    ['0xb', 'passed'],
    ['0xc', 'mined'],
  ] as const) {
    await store(address, kind, 0, 200);
    const seen = new Set<number>();
    for (let pass = 0; pass < 1000 && seen.size < 200; pass++) {
      const nonces = await noncesOf(address);
      assert.ok(nonces.length <= most.first + most.anywhere);
      assert.deepEqual(
        nonces.slice(0, most.first),
        Array.from({ length: most.first }, (_, nonce) => nonce),
      );
      for (const nonce of nonces) seen.add(nonce);
    }
    assert.equal(seen.size, 200, kind);
  }
});
