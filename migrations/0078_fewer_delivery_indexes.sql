-- Without a transaction.
-- The result of an attempt changes the state of its delivery, and is then written to each index that has the row. Of five, two can
-- do without: what is delivered is found by the time of its event, and an operator's look-up by the id alone goes through the partners.
drop index concurrently if exists webhook_deliveries_newest;
create index concurrently webhook_deliveries_newest on webhook_deliveries (partner_id, test_mode, created_at, id, state);
drop index concurrently if exists webhook_deliveries_open;
create index concurrently webhook_deliveries_open on webhook_deliveries
  (partner_id, test_mode, state, (case when attempts > 0 then 1 else 0 end), created_at, id) where state <> 'delivered';
drop index concurrently if exists webhook_deliveries_log;
drop index concurrently if exists webhook_deliveries_states;
alter table webhook_deliveries drop constraint if exists webhook_deliveries_id_key;
