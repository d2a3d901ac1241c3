-- An open request keeps the wallet it was made with, and so the chains on which that wallet was checked.

alter table wallet_changes add column old_chain_ids int[];

-- The chains on which a wallet of a merchant may be paid; null: any. Earlier wallets are remembered by their change.
create function wallet_chains(m merchants, wallet text) returns int[] stable language sql
begin atomic
  select case when wallet = m.wallet_address then m.wallet_chain_ids else (
    select c.old_chain_ids from wallet_changes c
    where c.partner_id = m.partner_id and c.test_mode = m.test_mode and c.account_id = m.id
      and c.state = 'applied' and c.old_wallet = wallet
    order by c.ended_at desc limit 1) end;
end;
