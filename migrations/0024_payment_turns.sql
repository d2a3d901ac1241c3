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
