import { randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto';
import { keyHashes, type ScopeName, scopeNames } from '../../src/auth/api-keys.ts';
import { scopeOf } from '../../src/auth/scope.ts';
import type { Database, Scope, Sql, Tx } from '../../src/db/connection.ts';
import { insertion } from '../../src/db/sql.ts';
import type { SecretKey } from '../../src/lib/encrypt.ts';
import { modeOf } from '../../src/lib/mode.ts';
import { checksum62, randomBase62 } from '../../src/lib/text/base62.ts';
import { expiryMinutes } from '../../src/partners/rules.ts';
import { insertPartner, type Partner } from '../../src/partners/store.ts';
import type { Reason } from '../../src/payments/rules.ts';
import type { TransferRow } from '../../src/payments/transfers.ts';
import { insertRequest, type NewRequest, type RequestRow } from '../../src/requests/store.ts';

export const testSecrets: SecretKey[] = [{ id: 'test', key: Buffer.alloc(32, 7) }];
/** SECRET_KEYS with these keys, for a separate process. */
export const secretsTextOf = (keys: readonly SecretKey[]): string =>
  keys.map(({ id, key }) => `${id}:${Buffer.from(key).toString('base64')}`).join(',');
export const secretsText = secretsTextOf(testSecrets);

/** A random lower-case address, unique in the test run. */
export function randomAddress(): string {
  return `0x${randomBytes(20).toString('hex')}`;
}

/** A random hash of a transaction or block. */
export const randomHash = (): string => `0x${randomBytes(32).toString('hex')}`;

/** A partner with the given details and its scopes, stored without an audit entry. */
export async function makePartner(
  db: Database,
  details: Partial<{ slug: string; currency: string; email: string }> = {},
) {
  const partner = await insertPartner(db, randomUUID(), {
    slug: details.slug ?? `p-${randomBytes(5).toString('hex')}`,
    name: 'Corner Shops Ltd',
    currency: details.currency ?? 'EUR',
    allowedExpiryMinutes: [...expiryMinutes],
    defaultExpiryMinutes: 15,
    email: details.email ?? null,
  });
  if (!partner) throw new Error('the slug is taken');
  return { partner, test: scopeOf(partner.id, true), live: scopeOf(partner.id, false) };
}

/** A key, stored without an audit entry. */
export async function makeKey(
  db: Database,
  scope: Scope,
  scopes: readonly ScopeName[] = scopeNames,
): Promise<{ key_id: string; key: string }> {
  const id = randomUUID();
  const body = `qt_${modeOf(scope.testMode)}_${randomBase62(32)}`;
  const key = body + checksum62(body);
  const [hash] = keyHashes(testSecrets, key);
  await db.sql`
    insert into api_keys (id, partner_id, test_mode, hash, hint, scopes)
    values (${id}, ${scope.partnerId}, ${scope.testMode}, ${hash as Buffer}, ${`${body.slice(0, 8)}…${key.slice(-4)}`},
      ${[...scopes]})`;
  return { key_id: id, key };
}

/** A merchant that is ready to be paid, stored without going through onboarding. */
export async function makeMerchant(
  db: Database,
  scope: Scope,
  details: Partial<{ wallet: string; currency: string }> = {},
): Promise<{ id: string; wallet: string }> {
  const id = randomUUID();
  const wallet = details.wallet ?? randomAddress();
  await db.sql.begin(async (tx) => {
    await tx`
      insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, wallet_address,
        wallet_signed_at, onboarded_at, terms_version, terms_accepted_at, created_at)
      select ${scope.partnerId}, ${scope.testMode}, ${id}, 'Ada’s Bakery', 'business', ${details.currency ?? 'EUR'}, ${wallet},
        now(), now(), '1', now(), take_clock(${scope.partnerId}, ${scope.testMode})`;
    await tx`
      insert into wallets values (${wallet}, ${scope.partnerId}, ${scope.testMode}, ${id}, now(), now())`;
  });
  return { id, wallet };
}

/** A request stored without the API, for tests that start after its creation. */
export async function makeRequest(
  db: Database,
  scope: Scope,
  merchant: { id: string; wallet: string },
  details: Partial<NewRequest> = {},
): Promise<RequestRow> {
  const request: NewRequest = {
    id: randomUUIDv7(),
    accountId: merchant.id,
    idempotencyKey: null,
    fiatInt: 1250,
    fiatCode: 'EUR',
    exactMicro: 13_586_957n,
    rate: '0.92',
    rateSource: 'override',
    memo: null,
    paymentMode: 'pos',
    customerName: null,
    customerEmail: null,
    customerPhone: null,
    metadata: '{}',
    walletAddress: merchant.wallet,
    reference: randomBytes(16),
    startBlocks: {},
    startHeads: {},
    expiryMinutes: 15,
    ...details,
  };
  const made = await insertRequest(db.sql, scope, request, 'now');
  if (!made) throw new Error('the merchant has no such wallet');
  return made.row;
}

/** The columns of a stored transfer; the rest have their defaults. */
type NewTransfer = Partial<Omit<TransferRow, 'chain_id' | 'block_number'>> & {
  chain_id?: number;
  block_number?: number;
};

/** A transfer of 5 micro units to a merchant that was just mined, as the watcher stores it. Returns its hash. */
export async function makeTransfer(
  sql: Sql | Tx,
  scope: Scope,
  merchant: { id: string; wallet: string },
  columns: NewTransfer = {},
): Promise<string> {
  const transfer = {
    chain_id: 31337,
    tx_hash: randomHash(),
    ordinal: 0,
    block_number: 1,
    block_hash: randomHash(),
    block_time: new Date(),
    token_address: `0x${'5f'.repeat(20)}`,
    from_address: randomAddress(),
    to_address: merchant.wallet,
    value: '5',
    partner_id: scope.partnerId,
    test_mode: scope.testMode,
    account_id: merchant.id,
    ...columns,
  };
  await sql`insert into transfers ${insertion([transfer])}`;
  return transfer.tx_hash;
}

/** The columns of a transfer that counts for a request. */
export const countingFor = (requestId: string) =>
  ({ request_id: requestId, rule: 'reference', counts: true, judged_at: new Date() }) as const;

/** The columns of a transfer that was matched to no request. */
export const unmatched = (reason: Reason) => ({ reason, judged_at: new Date() });

/** Sets a currency's rate as an operator's override, which does not become stale. */
export async function setRate(db: Database, code: string, rate: string): Promise<void> {
  await db.sql`insert into rate_overrides (code, rate) values (${code}, ${rate})
    on conflict (code) do update set rate = excluded.rate`;
}

export type { Partner };
