-- In which modes each chain was read, so that blocks that were read in the other mode are read again once it is back.
-- left_at: the last block that was read in this mode; null while it is read in it.

create table chain_modes (
  chain_id bigint not null,
  test_mode boolean not null,
  left_at bigint,
  primary key (chain_id, test_mode)
);
alter table chain_modes enable row level security, force row level security;
create policy owner on chain_modes to current_user using (true) with check (true);
create policy service on chain_modes to quittance_service using (true) with check (true);
grant select, insert, update on chain_modes to quittance_service;
