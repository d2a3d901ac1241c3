-- Without a transaction.
-- Each minute, mandates are looked for whose time is over or whose merchant has another wallet. These indexes answer that for one
-- partner after the other: the time of the next end, and which wallets the mandates of each merchant name. The former indexes
-- answered neither, so all mandates in use were read.
drop index concurrently if exists mandates_ends;
create index concurrently mandates_ends on mandates (partner_id, test_mode, ends_at) where state = 'active';
drop index concurrently if exists mandates_payees;
create index concurrently mandates_payees on mandates (partner_id, test_mode, account_id, payee) where state = 'active';
drop index concurrently if exists mandates_end;
drop index concurrently if exists mandates_account;
