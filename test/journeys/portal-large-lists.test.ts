import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Database, Scope } from '../../src/db/connection.ts';
import type { Tag } from '../../src/db/sql.ts';
import { browseRequests, type Concern, concerns } from '../../src/requests/lists/browse.ts';
import { onPage, selectBrowsedRequests } from '../../src/requests/lists/browse-store.ts';
import { startApp } from '../support/app.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

const many = 100_000;
const batch = 20_000;
let app: Awaited<ReturnType<typeof startApp>>;
let scope: Scope;
before(async () => {
  app = await startApp();
  scope = (await makePartner(app.db)).test;
  const merchant = await makeMerchant(app.db, scope);
  const model = await makeRequest(app.db, scope, merchant);
  await app.owner`alter table requests disable trigger user`;
  await app.owner`alter table transfers disable trigger user`;
  for (let at = 0; at < many; at += batch) {
    await app.db.sql`
      insert into requests select made.* from requests r, generate_series(${at + 1}::int, ${at + batch}::int) n,
        jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'reserved', false,
          'reference', '\\x' || replace(gen_random_uuid()::text, '-', ''), 'metadata', '{}'::json,
          'created_at', r.created_at - n * interval '1 second')) made
      where r.id = ${model.id}`;
  }
});
after(() => app.stop());

/** Which requests need attention, and how many memory pages a list of them may read. */
const spreads = [
  ['one in 5,000', 'n % 5000 = 0', 2_000],
  ['one in twenty', 'n % 20 = 0', 10_000],
  ['all that are old, and no new one,', 'n <= 5000', 3 * many],
] as const;

/** Makes the chosen requests, numbered from the oldest, need attention for every reason. */
async function concern(which: string): Promise<void> {
  const sql = app.owner;
  await sql`truncate underpaid_requests, overpaid_requests, differing_replays, transfers cascade`;
  const picked = () => sql`
    (select r.*, row_number() over (order by created_at) as n from requests r) r where ${sql.unsafe(which)}`;
  await sql`insert into underpaid_requests select partner_id, test_mode, id from ${picked()}`;
  await sql`insert into overpaid_requests select partner_id, test_mode, id from ${picked()}`;
  await sql`insert into differing_replays select partner_id, test_mode, id, 1, now(), '{memo}' from ${picked()}`;
  await sql`update requests set proof_status = 'none', proof_verified_at = null, tx_hash = null, payer_address = null
    where proof_status = 'verified'`;
  await sql`
    update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0x', payer_address = '0x'
    where id in (select id from ${picked()})`;
  await sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, request_id, counts, judged_at, final_at)
    select 31337, '0xf' || lpad(to_hex(n), 63, '0'), 0, 1, '0x', r.created_at, '0x', '0x', r.wallet_address,
      r.usdc_micro + 1, r.partner_id, r.test_mode, r.account_id, r.id, true, now(), now() from ${picked()}`;
  for (const reason of ['late', 'voided', 'already_paid']) {
    await sql`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
        to_address, value, partner_id, test_mode, account_id, candidate_request_id, reason, judged_at)
      select 31337, '0x' || lpad(to_hex(n), 58, '0') || substr(md5(${reason}), 1, 6), 0, 1, '0x', r.created_at, '0x', '0x',
        r.wallet_address, 5, r.partner_id, r.test_mode, r.account_id, r.id, ${reason}, now() from ${picked()}`;
  }
  await sql`analyze requests, underpaid_requests, overpaid_requests, differing_replays, transfers`;
}

/** The number of memory pages that the database reads for the first page of a list. */
async function pagesRead(concern: Concern): Promise<number> {
  let explained = '[{}]';
  // As `read` sends a page, with what explains it before its text.
  const read: Database['read'] = (of, ask) =>
    app.db.scoped(of, async (tx) => {
      const explaining = Object.assign(
        (strings: TemplateStringsArray, ...values: unknown[]) => {
          if (!strings[0]?.includes('with page as')) return Reflect.apply(tx as never, null, [strings, ...values]);
          const text = [`explain (analyze, buffers, format json) ${strings[0]}`, ...strings.slice(1)];
          return Reflect.apply(tx as never, null, [Object.assign([...text], { raw: text }), ...values]);
        },
        { unsafe: tx.unsafe },
      ) as Tag;
      const [row] = (await ask(explaining)) as { 'QUERY PLAN': string }[];
      explained = row?.['QUERY PLAN'] ?? '';
      return [] as never;
    });
  const position = { ids: null, before: null, limit: 51 };
  await selectBrowsedRequests({ ...app.db, read }, scope, { concern }, position, onPage);
  const [{ Plan: root }] = JSON.parse(explained);
  return root['Shared Hit Blocks'] + root['Shared Read Blocks'];
}

for (const [name, which, most] of spreads) {
  test(`of 100,000 requests, ${name} wanting a person’s eye: they are listed by a join that stays small`, async () => {
    await concern(which);
    for (const one of concerns) {
      const { rows } = await browseRequests(app.ctx, scope, { concern: one }, null);
      assert.equal(rows.length, which === 'n % 5000 = 0' ? 20 : 50);
      const pages = await pagesRead(one);
      // The transfers of each examined paid request are summed on the fly; no sum is stored beforehand.
      assert.ok(pages < (one === 'overpaid' ? 10 * most : most), `${one}: ${pages} pages`);
    }
  });
}
