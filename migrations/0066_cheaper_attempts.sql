-- What an attempt costs the database.

-- A claim and its result write a delivery twice. A page that keeps room for the claim's version spares all indexes that
-- write, and the room is free again as soon as the result is written.
alter table webhook_deliveries set (fillfactor = 50);

-- News of attempts was sent for each event, hundreds at a time where many end together; whoever commits news waits for all
-- others who do. Now each partner and mode is told of once: of the event where there is one, of them all otherwise.
create or replace function tell_attempts() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', case when told.events > 1 then format('attempts %s %s', told.partner_id, told.test_mode)
      else (
        select format('request %s %s %s %s', r.id, r.account_id, r.partner_id, r.test_mode)
        from webhook_deliveries d
          join requests r on (r.partner_id, r.test_mode, r.id) = (d.partner_id, d.test_mode, d.request_id)
        where (d.partner_id, d.test_mode, d.id) = (told.partner_id, told.test_mode, told.delivery_id))
    end)
  from (
    select partner_id, test_mode, count(distinct delivery_id) as events, min(delivery_id::text)::uuid as delivery_id
    from made group by partner_id, test_mode) told;
  return null;
end $$;
