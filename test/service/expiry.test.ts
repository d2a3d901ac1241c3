import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isOpen, isPast, isWaiting, seenStatus } from '../../src/requests/expiry.ts';
import { effectiveStatus } from '../../src/requests/rules.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const statuses = ['requested', 'opened', 'expired', 'voided'];
const proofs = ['none', 'attached', 'verified'];

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

type Seen = { status: string; proof_status: string; expires_at: Date; now: Date } & Record<string, unknown>;

test('statements and rules see the same expiry in every state, before, at and after its moment', async () => {
  const { sql } = database.db;
  const rows = await sql<Seen[]>`
    select r.*, statement_timestamp() as now, ${seenStatus(sql)} as seen, ${isPast(sql)} as past, ${isOpen(sql)} as open,
      ${isWaiting(sql)} as waiting
    from (
      select status, proof_status, statement_timestamp() + ms * interval '1 ms' as expires_at
      from unnest(${statuses}::text[]) status, unnest(${proofs}::text[]) proof_status, unnest(array[-1, 0, 1]) ms) r`;
  assert.equal(rows.length, statuses.length * proofs.length * 3);
  for (const row of rows) {
    const status = effectiveStatus(row, row.now);
    const past = status !== row.status;
    assert.equal(row.seen, status, JSON.stringify(row));
    assert.equal(row.past, past, JSON.stringify(row));
    assert.equal(row.open, row.waiting && !past, JSON.stringify(row));
  }
  assert.equal(rows.filter(({ past }) => past).length, 4);
  assert.equal(rows.filter(({ open }) => open).length, 2);
});
