-- A wallet's transfers are stored for the merchant that was last to have it watched. A create notes that only when it makes
-- the watching longer, so a merchant that had the wallet before and has it again stayed behind the one in between, which
-- got its payments. A signature for a wallet now puts its merchant first.

-- Merchants that are behind already. Before the trigger, whose lock would otherwise be held meanwhile.
update watched_wallets w set changed_at = real_time() from wallets h
  where (w.wallet_address, w.partner_id, w.test_mode, w.account_id) = (h.address, h.partner_id, h.test_mode, h.account_id)
    and h.signed_at is not null and exists (
      select from watched_wallets o where o.wallet_address = w.wallet_address and o.test_mode = w.test_mode
        and o.changed_at > w.changed_at);

create function watch_signed_wallet() returns trigger language plpgsql as $$
begin
  update watched_wallets w set changed_at = real_time()
    where (w.wallet_address, w.partner_id, w.test_mode, w.account_id)
      = (new.address, new.partner_id, new.test_mode, new.account_id);
  return null;
end $$;
create trigger wallets_signed after insert or update of signed_at on wallets
  for each row when (new.signed_at is not null) execute function watch_signed_wallet();
