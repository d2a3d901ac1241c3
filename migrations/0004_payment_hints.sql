-- Transactions that a customer's wallet or form told of, before a block has them: shown on the page, proving nothing.

create table payment_hints (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  chain_id bigint not null,
  tx_hash text not null check (tx_hash ~ '^0x[0-9a-f]{64}$'),
  from_address text not null,
  nonce bigint not null, -- with from_address it tells what took the transaction's place
  seen_block bigint not null, -- the chain's newest block at first sight
  state text not null check (state in ('seen', 'mined', 'failed', 'replaced', 'gone')),
  replaced_by text, -- the transaction that was mined instead, where it could be found
  first_seen_at timestamptz not null default now(),
  checked_at timestamptz not null default now(), -- when its chain was last asked
  primary key (partner_id, test_mode, request_id, chain_id, tx_hash),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
create index payment_hints_age on payment_hints (first_seen_at);

alter table payment_hints enable row level security;
create policy scope on payment_hints to quittance_app
  using (partner_id = scope_partner() and test_mode = scope_test_mode())
  with check (partner_id = scope_partner() and test_mode = scope_test_mode());
grant select, insert, update, delete on payment_hints to quittance_app;

-- As requests and transfers tell of themselves, so that open pages need not ask.
create function tell_hint() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.request_id, r.account_id, new.partner_id, new.test_mode))
    from requests r
    where (r.partner_id, r.test_mode, r.id) = (new.partner_id, new.test_mode, new.request_id);
  return null;
end $$;
create trigger payment_hints_tell_new after insert on payment_hints for each row execute function tell_hint();
create trigger payment_hints_tell after update on payment_hints for each row
  when (old.state is distinct from new.state) execute function tell_hint();
