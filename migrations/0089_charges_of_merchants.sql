-- Without a transaction.
-- The merchant whose charge a call is, so that one merchant's charges leave a part of the day's budget to others of its
-- partner. Null for calls that are none, and for those of before.
alter table relay_transactions add column if not exists account_id uuid;
drop index concurrently if exists relay_transactions_charges;
create index concurrently relay_transactions_charges on relay_transactions
  (partner_id, test_mode, chain_id, account_id, day) where account_id is not null;
