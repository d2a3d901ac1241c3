import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The folder that writes a table. Its statements are there, and other folders call it. Any folder may read. */
const owners: Record<string, string> = {
  alarms: 'db',
  amount_reservations: 'requests',
  api_keys: 'auth',
  audit_chains: 'audit',
  audit_log: 'audit',
  authorizations: 'payments',
  base_urls: 'db',
  chain_blocks: 'chain',
  chain_checkpoints: 'chain',
  chain_cursors: 'chain',
  chain_modes: 'chain',
  collections: 'plans',
  day_counters: 'auth',
  differing_replays: 'requests',
  erased_customers: 'customers',
  kept_bindings: 'payments',
  leases: 'chain',
  mails: 'mail',
  mandates: 'plans',
  merchants: 'merchants',
  metadata_indexed: 'requests',
  metadata_values: 'requests',
  onboarding_codes: 'onboarding',
  onboarding_progress: 'onboarding',
  partners: 'partners',
  passkeys: 'users',
  payment_hints: 'payments',
  permits: 'plans',
  plan_charges: 'plans',
  plans: 'plans',
  rate_counters: 'auth',
  rate_overrides: 'rates',
  rates: 'rates',
  receipt_sweep: 'receipts',
  receipts: 'receipts',
  relay_accounts: 'chain',
  relay_spending: 'chain',
  relay_transactions: 'chain',
  relay_variants: 'chain',
  requests: 'requests',
  reserved_rests: 'requests',
  returns: 'refunds',
  returns_replaced: 'refunds',
  schema_migrations: 'db',
  scope_keys: 'db',
  secret_key_marks: 'db',
  sessions: 'auth',
  sign_in_links: 'auth',
  tokens_read: 'chain',
  transfers: 'payments',
  unread_transactions: 'chain',
  used_passkey_challenges: 'auth',
  used_wallet_messages: 'auth',
  users: 'users',
  wallet_changes: 'wallets',
  wallets: 'wallets',
  webhook_attempts: 'webhooks',
  webhook_deliveries: 'webhooks',
  webhook_endpoints: 'webhooks',
};

/** Tables written only by database functions. `create_request` and the like belong to their noun's folder. */
const byFunctions = ['overpaid_requests', 'partner_clocks', 'underpaid_requests', 'watched_wallets'];

/** Files that write a table of another folder, and why they do not call its owner. */
const strangers: Record<string, string> = {
  // The reader stores mined transfers and removes reorganised ones with its cursor; `payments` matches them.
  'src/chain/reader/store.ts': 'transfers',
  'src/chain/reader/replaced-store.ts': 'transfers',
  // Voiding a request unmatches its partial payments in the same commit, and `requests` does not import `payments`.
  'src/requests/cancel-store.ts': 'transfers',
};

/** The database functions that write tables, and the tables that each writes. */
const functions: Record<string, string[]> = {
  create_merchant: ['merchants', 'wallets'],
  create_as_assumed: ['amount_reservations', 'requests', 'watched_wallets'],
  create_request: ['amount_reservations', 'requests', 'watched_wallets'],
  free_rests_later: ['amount_reservations'],
  free_unsigned_wallet: ['merchants', 'wallets'],
  note_overpaid: ['overpaid_requests'],
  note_underpaid: ['underpaid_requests'],
  order_merchant: ['merchants'],
  order_request: ['requests'],
  queue_receipts: ['receipts'],
  reserve_rest: ['amount_reservations', 'reserved_rests'],
  store_as_assumed: ['amount_reservations', 'partner_clocks', 'requests', 'watched_wallets'],
  store_together: ['amount_reservations', 'partner_clocks', 'requests', 'watched_wallets'],
  watch_signed_wallet: ['watched_wallets'],
};

const schema = readFileSync('migrations/schema.sql', 'utf8');
const tables = new Set([...schema.matchAll(/^create table (\w+) \(/gm)].map(([, name = '']) => name));
const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts'));

/** The tables that an SQL text writes. */
function writtenBy(text: string): string[] {
  const writes = text.matchAll(/\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate)\s+(?:only\s+)?(\w+)/gi);
  return [...new Set([...writes].map(([, table = '']) => table).filter((table) => tables.has(table)))].sort();
}

test('every table has one owner', () => {
  assert.deepEqual([...tables].sort(), [...Object.keys(owners), ...byFunctions].sort());
});

test('only its owner writes a table; other nouns read it, or call the owner', () => {
  const wrong = files.flatMap((file) =>
    writtenBy(readFileSync(file, 'utf8'))
      .filter((table) => !file.startsWith(`src/${owners[table]}/`) && strangers[file] !== table)
      .map((table) => `${file} writes ${table}`),
  );
  assert.deepEqual(wrong, []);
  for (const [file, table] of Object.entries(strangers)) {
    assert.ok(writtenBy(readFileSync(file, 'utf8')).includes(table), `${file} writes ${table} no more`);
  }
});

test('a function of the database writes the tables that it is known for', () => {
  const found = [
    ...schema.matchAll(
      /CREATE OR REPLACE FUNCTION public\.(\w+)\((?:(?!CREATE OR REPLACE).)*?AS \$(\w*)\$(.*?)\$\2\$/gs,
    ),
  ].flatMap(([, name = '', , body = '']) => {
    const written = writtenBy(body);
    return written.length > 0 ? [[name, written] as const] : [];
  });
  assert.deepEqual(Object.fromEntries(found), functions);
});

test('no statement names the table that it writes by a value, which this test could not read', () => {
  const hidden = files.filter((file) =>
    /\b(?:insert\s+into|update|delete\s+from)\s+\$\{/.test(readFileSync(file, 'utf8')),
  );
  assert.deepEqual(hidden, ['src/refunds/queue-store.ts']); // either of the two tables of its folder
});
