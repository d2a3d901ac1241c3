-- What a request keeps of chains: where they stood when it was made, and on which its wallet can be paid.

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
