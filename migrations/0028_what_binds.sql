-- What decides which payment is bound to a request: where the chains stood when it was made, on which its wallet can be
-- paid, and what was signed or decided by hand before a reorganisation.

-- `requests.start_blocks` has {"<chain id>": number, "heads": {"<chain id>": {"hash", "time"}}} from here on; without a
-- hash, the time of a transfer's block decides. A block counts only while it is on its chain.
grant select on chain_blocks to quittance_app;

alter table requests add column wallet_chain_ids int[]; -- a contract wallet: the chains its code was checked on; null: any
update requests r set wallet_chain_ids = wallet_chains(m, r.wallet_address) from merchants m
  where (m.partner_id, m.test_mode, m.id) = (r.partner_id, r.test_mode, r.account_id)
    and (m.wallet_chain_ids is not null or exists (
      select from wallet_changes c
      where (c.partner_id, c.test_mode, c.account_id) = (m.partner_id, m.test_mode, m.id) and c.old_chain_ids is not null));

-- Copied with the address, in the statement that writes: whatever the merchant does to the wallet later.
create function copy_wallet_chains() returns trigger language plpgsql as $$
begin
  select wallet_chains(m, new.wallet_address) into new.wallet_chain_ids from merchants m
    where m.partner_id = new.partner_id and m.test_mode = new.test_mode and m.id = new.account_id;
  return new;
end $$;
create trigger requests_wallet_chains before insert on requests for each row execute function copy_wallet_chains();

-- What a reorganisation took away although its sender had signed for it, or its merchant had attached it: the same transfer,
-- mined again, is bound again.
create table kept_bindings (
  chain_id bigint not null,
  tx_hash text not null,
  ordinal int not null,
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  rule text not null check (rule in ('claim', 'merchant')),
  token_address text not null,
  from_address text not null,
  to_address text not null,
  value numeric(78, 0) not null,
  primary key (chain_id, tx_hash, ordinal),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
alter table kept_bindings enable row level security;
create policy scope on kept_bindings to quittance_app
  using (partner_id = scope_partner() and test_mode = scope_test_mode())
  with check (partner_id = scope_partner() and test_mode = scope_test_mode());
grant select on kept_bindings to quittance_app;
