-- A transaction that was noted for giving a payment back and that no endpoint knew, in whose place another was noted: it could
-- still be mined, so it is looked for on. One that was, or cannot be any more, is removed.
create table returns_replaced (
  partner_id uuid not null,
  test_mode boolean not null,
  chain_id bigint not null,
  tx_hash text not null,
  ordinal int not null,
  return_tx_hash text not null check (return_tx_hash ~ '^0x[0-9a-f]{64}$'),
  account_id uuid not null,
  request_id uuid,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  usdc_micro numeric(40, 0) not null check (usdc_micro > 0),
  noted_at timestamptz not null,
  next_look_at timestamptz not null default now(),
  primary key (partner_id, test_mode, chain_id, tx_hash, ordinal, return_tx_hash),
  foreign key (partner_id, test_mode, chain_id, tx_hash, ordinal)
    references returns (partner_id, test_mode, chain_id, tx_hash, ordinal)
);
create index returns_replaced_due on returns_replaced (next_look_at);
create index returns_replaced_turns on returns_replaced (partner_id, account_id, next_look_at);

-- When the transaction was noted that is; null where it is the first, noted at `noted_at`.
alter table returns add column replaced_at timestamptz;

alter table returns_replaced enable row level security, force row level security;
create policy scope on returns_replaced to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
create policy owner on returns_replaced to current_user using (true) with check (true);
create policy service on returns_replaced to quittance_service using (true) with check (true);
grant select, insert, delete, update on returns_replaced to quittance_app;
grant select, insert, update, delete on returns_replaced to quittance_service;
