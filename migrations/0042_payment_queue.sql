-- False where nobody told what the transaction carries: the transfer was matched without it, and is confirmed without it.
alter table transfers add column calldata_read boolean not null default true;

-- Merchants with transfers to be judged are found one by one: what is read does not grow with how many each has.
drop index transfers_unjudged;
create index transfers_unjudged on transfers (chain_id, partner_id, account_id, look_at, block_number, ordinal)
  where judged_at is null;
