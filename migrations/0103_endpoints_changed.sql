-- Tells listening processes that a webhook endpoint has another URL or secret, or was disabled: they give back what they
-- have claimed for it and not attempted yet.

create function tell_endpoint() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('endpoint %s %s', new.partner_id, new.test_mode));
  return null;
end $$;

create trigger webhook_endpoints_changed after update on webhook_endpoints for each row
  when (old.url is distinct from new.url or old.secret <> new.secret
    or old.pending_secret is distinct from new.pending_secret
    or (old.disabled_at is null and new.disabled_at is not null))
  execute function tell_endpoint();
