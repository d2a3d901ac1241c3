import type { Database } from '../../../src/db/connection.ts';
import type { ApiPartner } from './client.ts';

/** A merchant of its own partner, with a key that has created for it. */
export type Situation = {
  one: Pick<ApiPartner, 'partner' | 'test'>;
  merchant: { id: string; wallet: string };
  key: string;
  keyId: string;
};

/** Changes a merchant's wallet as its signatures do: the earlier one stays claimed, for the requests that ask for it. */
export const changeWallet = (db: Database, merchantId: string, wallet: string) => db.sql`
  with claimed as (
    insert into wallets (address, partner_id, test_mode, account_id, claimed_at, signed_at)
    select ${wallet}, partner_id, test_mode, id, now(), now() from merchants where id = ${merchantId})
  update merchants set wallet_address = ${wallet} where id = ${merchantId}`;

type Change = (db: Database, situation: Situation) => PromiseLike<unknown>;
/** Changes between two creates of one key for one merchant, each with the response to the second create. */
export const changes: Record<string, [Change, status: number, error?: string]> = {
  'disabled by its partner': [
    (db, { merchant: { id } }) => db.sql`update merchants set disabled_by_partner = true where id = ${id}`,
    ...([400, 'merchant_disabled'] as const),
  ],
  'disabled by an operator': [
    (db, { merchant: { id } }) => db.sql`update merchants set disabled_by_operator = true where id = ${id}`,
    ...([400, 'merchant_disabled'] as const),
  ],
  'reset before it took money': [
    (db, { merchant: { id } }) => db.sql`
      with freed as (delete from wallets where account_id = ${id})
      update merchants set onboarded_at = null, wallet_address = null where id = ${id}`,
    ...([400, 'merchant_onboarding_incomplete'] as const),
  ],
  'reset, and its wallet signed for by another merchant': [
    (db, { merchant: { id, wallet } }) => db.sql`
      with heir as (
        insert into merchants select (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(),
          'idempotency_key', null, 'created_at', m.created_at + interval '1 ms'))).* from merchants m where id = ${id}
        returning id),
      taken as (update wallets set account_id = (select id from heir) where address = ${wallet})
      update merchants set onboarded_at = null, wallet_address = null where id = ${id}`,
    ...([400, 'merchant_onboarding_incomplete'] as const),
  ],
  'paid at a contract wallet on another network alone': [
    (db, { merchant: { id } }) => db.sql`update merchants set wallet_chain_ids = '{1}' where id = ${id}`,
    ...([400, 'merchant_onboarding_incomplete'] as const),
  ],
  'given another currency': [
    (db, { merchant: { id } }) => db.sql`update merchants set display_currency = 'JPY' where id = ${id}`,
    201,
  ],
  'given a currency without a rate': [
    (db, { merchant: { id } }) => db.sql`update merchants set display_currency = 'CHF' where id = ${id}`,
    ...([503, 'rate_unavailable'] as const),
  ],
  'its key revoked': [
    (db, { keyId }) => db.sql`update api_keys set revoked_at = now() where id = ${keyId}`,
    ...([401, 'unauthorized'] as const),
  ],
  'its key ended': [
    (db, { keyId }) => db.sql`update api_keys set ends_at = now() where id = ${keyId}`,
    ...([401, 'unauthorized'] as const),
  ],
  'its key without the scope': [
    (db, { keyId }) => db.sql`update api_keys set scopes = '{requests:read}' where id = ${keyId}`,
    ...([403, 'insufficient_scope'] as const),
  ],
  'its partner switched off': [
    (db, { one }) => db.sql`update partners set disabled_at = now() where id = ${one.partner.id}`,
    ...([403, 'partner_disabled'] as const),
  ],
  'another default expiry': [
    (db, { one }) => db.sql`update partners set default_expiry_minutes = 60 where id = ${one.partner.id}`,
    201,
  ],
  'its usual expiry no longer allowed': [
    (db, { one }) =>
      db.sql`update partners set allowed_expiry_minutes = '{60}', default_expiry_minutes = 60 where id = ${one.partner.id}`,
    201,
  ],
};
