-- Which tokens each chain is read with, so that blocks that were read without one are read again once it is back.
-- left_at: the last block that was read with it, or that was searched for it since; null if none was read without it.
-- back_at: the last block that was read without it; null while it is missing, too.

create table tokens_read (
  chain_id bigint not null,
  token_address text not null,
  left_at bigint,
  back_at bigint,
  primary key (chain_id, token_address),
  check (back_at is null or left_at is not null)
);
alter table tokens_read enable row level security, force row level security;
create policy owner on tokens_read to current_user using (true) with check (true);
create policy service on tokens_read to quittance_service using (true) with check (true);
grant select, insert, update on tokens_read to quittance_service;
