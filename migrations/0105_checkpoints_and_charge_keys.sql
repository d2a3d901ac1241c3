-- Sparse blocks of each chain as they were read. The reader keeps all of the last 512 blocks; where a false chain was
-- longer than these, it goes back to the newest checkpoint that is on the chain, and reads again from there.

create table chain_checkpoints (
  chain_id bigint not null references chain_cursors,
  number bigint not null,
  hash text not null,
  block_time timestamptz not null,
  primary key (chain_id, number)
);
alter table chain_checkpoints enable row level security, force row level security;
create policy owner on chain_checkpoints to current_user using (true) with check (true);
create policy service on chain_checkpoints to quittance_service using (true) with check (true);
grant select, insert, update, delete on chain_checkpoints to quittance_service;

-- The ids and references of a plan's requests are made with a key of its own, so that they stay the same when
-- SECRET_KEYS changes. A plan that is older gets one with its next charge.

alter table plans add column charge_key uuid;
