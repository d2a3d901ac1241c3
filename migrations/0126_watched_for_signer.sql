-- A wallet's transfers are stored for the merchant that was last to have it watched. After a merchant was reset, another may
-- sign for its wallet. Until that one made its first request, the former merchant got what came there: it was shown money that
-- it had not received, and could not be reset again. The one that signs now takes the watching over.

create or replace function watch_signed_wallet() returns trigger language plpgsql
  security definer set search_path = public, pg_temp as $$
begin
  -- Other merchants may belong to other partners. Only the latest time until which one of them watches is taken from there.
  insert into watched_wallets as w
    select new.address, new.partner_id, new.test_mode, new.account_id, max(o.watch_until), real_time()
    from watched_wallets o where o.wallet_address = new.address and o.test_mode = new.test_mode
    group by o.wallet_address
    on conflict (wallet_address, partner_id, test_mode, account_id) do update
      set watch_until = excluded.watch_until, changed_at = excluded.changed_at;
  return null;
end $$;

-- Merchants that have signed already.
insert into watched_wallets
  select h.address, h.partner_id, h.test_mode, h.account_id, max(o.watch_until), real_time()
  from wallets h join watched_wallets o on o.wallet_address = h.address and o.test_mode = h.test_mode
  where h.signed_at is not null and not exists (
    select from watched_wallets w where (w.wallet_address, w.partner_id, w.test_mode, w.account_id)
      = (h.address, h.partner_id, h.test_mode, h.account_id))
  group by h.address, h.partner_id, h.test_mode, h.account_id
  on conflict do nothing;
