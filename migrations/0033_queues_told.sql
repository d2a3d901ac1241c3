-- Tells listening processes of work as it is queued, so that loops need not ask again and again. Mails that ask a customer
-- tell nothing: they are queued together with a request, whose transaction must not wait for others at commit.

create function tell_queue() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', tg_argv[0]);
  return null;
end $$;

create trigger transfers_queued after insert on transfers for each statement execute function tell_queue('transfers');

create trigger mails_queued after insert on mails for each row
  when (new.purpose <> 'ask') execute function tell_queue('mails');

create trigger webhook_deliveries_queued after insert on webhook_deliveries
  for each statement execute function tell_queue('deliveries');
-- Replays, and what a process gives back when it stops; a failed attempt only moves the next one away.
create trigger webhook_deliveries_queued_again after update on webhook_deliveries for each row
  when (new.state = 'waiting' and (old.state <> 'waiting' or new.next_attempt_at < old.next_attempt_at
    or (old.lease is not null and new.lease is null and new.next_attempt_at = old.next_attempt_at)))
  execute function tell_queue('deliveries');
-- Events that waited for an endpoint.
create trigger webhook_endpoints_opened after insert on webhook_endpoints
  for each statement execute function tell_queue('deliveries');
create trigger webhook_endpoints_opened_again after update on webhook_endpoints for each row
  when (old.url is distinct from new.url or (old.disabled_at is not null and new.disabled_at is null))
  execute function tell_queue('deliveries');

-- When the next plan is due, whoever's it is.
create index plans_next on plans (due_at) where due_at is not null;
