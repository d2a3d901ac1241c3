-- What the chain says of transactions that gave payments back, and news for the pages of merchants.

-- `sent`: noted, and looked for on the chain until it is final. `confirmed`: final, and moves money from the merchant's
-- wallet to the payer. `failed`: final, and moved nothing. `missing`: no endpoint has known it for a day. `other`: final,
-- and does something else: that it gave the payment back is the merchant's word.
alter table returns
  add column state text not null default 'sent' check (state in ('sent', 'confirmed', 'failed', 'missing', 'other')),
  add column given_micro numeric(40, 0) check (given_micro > 0), -- what it moves to the payer; null while nobody saw it do so
  add column from_address text, -- the merchant's wallet that was paid
  add column token_address text,
  add column next_look_at timestamptz not null default now();
update returns b set from_address = t.to_address, token_address = t.token_address from transfers t
  where (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
    = (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal);
-- Of a payment that a reorganisation took away, nobody knows any more what to look for.
update returns set state = 'other' where from_address is null;
alter table returns add check (state <> 'sent' or num_nulls(from_address, token_address) = 0);
create index returns_due on returns (next_look_at) where state = 'sent';
grant update on returns to quittance_app;

-- Tells the dashboard of the merchant, and the page of the request that was overpaid.
create function tell_return() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.account_id, new.partner_id, new.test_mode));
  if new.request_id is not null then
    perform pg_notify('changes', format('request %s %s %s %s', new.request_id, new.account_id, new.partner_id, new.test_mode));
  end if;
  return null;
end $$;
create trigger returns_told after insert on returns for each row execute function tell_return();
create trigger returns_tell after update on returns for each row
  when ((old.state, old.given_micro, old.return_tx_hash) is distinct from (new.state, new.given_micro, new.return_tx_hash))
  execute function tell_return();

-- The page of a merchant shows what it says of itself, and a recovery under way.
drop trigger merchants_tell on merchants;
create trigger merchants_tell after update on merchants for each row
  when ((old.onboarded_at, old.wallet_address, old.disabled_by_partner, old.disabled_by_operator, old.onboarding_epoch,
      old.business_name, old.display_name, old.email, old.phone, old.website, old.country, old.app_mode, old.display_currency)
    is distinct from
    (new.onboarded_at, new.wallet_address, new.disabled_by_partner, new.disabled_by_operator, new.onboarding_epoch,
      new.business_name, new.display_name, new.email, new.phone, new.website, new.country, new.app_mode, new.display_currency))
  execute function tell_merchant();
create function tell_wallet_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger wallet_changes_tell after insert or update of state on wallet_changes
  for each row execute function tell_wallet_change();
