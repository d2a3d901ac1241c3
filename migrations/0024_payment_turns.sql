-- Loops take transfers in turns: one that cannot be judged or confirmed is looked at again later, each time later.
alter table transfers
  add look_at timestamptz not null default now(),
  add looks int not null default 0;

drop index transfers_unjudged;
create index transfers_unjudged on transfers (chain_id, partner_id, look_at, block_number, ordinal) where judged_at is null;
drop index transfers_unsettled;
create index transfers_unsettled on transfers (chain_id, partner_id, look_at, block_number, ordinal)
  where counts and final_at is null;
create index transfers_put_off on transfers (chain_id) where counts and final_at is null and looks > 0;

-- Of the log among all logs of its block; null for transfers from before it was kept.
alter table transfers add log_index int;

-- Transactions with transfers to watched wallets that could not be read when their block was; an empty hash stands for the
-- logs of a whole block. They are tried again, and hold up no reading.
create table unread_transactions (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  block_time timestamptz not null,
  tx_hash text not null,
  -- The transfers to watched wallets, as the block's logs told them, and for whom these wallets were watched.
  logs jsonb not null,
  owners jsonb not null,
  seen_at timestamptz not null default now(),
  tries int not null default 0,
  look_at timestamptz not null default now(),
  -- When its transfers were stored without what could not be read.
  stored_at timestamptz,
  primary key (chain_id, block_hash, tx_hash)
);
