-- Tells listening processes that something was written into a log: whoever lists partners, people, keys or the log itself
-- then looks again. People do such things, so who tells may wait at commit; what programs do often is not logged.
create function tell_log() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', 'log ' || new.partner_id);
  return null;
end $$;
create trigger logs_tell after insert or update on audit_chains for each row execute function tell_log();

-- Rates are fetched all at once.
create function tell_rates() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', 'rates');
  return null;
end $$;
create trigger rates_tell after insert or update on rates for each statement execute function tell_rates();
