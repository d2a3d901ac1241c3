-- Tells listening processes, as for requests, when something of a merchant changed that lists of merchants show.
create function tell_merchant() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger merchants_tell after update on merchants for each row
  when ((old.onboarded_at, old.wallet_address, old.disabled_by_partner, old.disabled_by_operator, old.onboarding_epoch)
    is distinct from
    (new.onboarded_at, new.wallet_address, new.disabled_by_partner, new.disabled_by_operator, new.onboarding_epoch))
  execute function tell_merchant();
