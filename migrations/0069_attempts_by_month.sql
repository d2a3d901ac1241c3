-- Attempts are only added to, and looked up by their event: parts by month are given up whole when they are old. Whoever knows the
-- table by its name notices nothing.

drop trigger webhook_attempts_tell on webhook_attempts;
alter table webhook_attempts drop constraint webhook_attempts_pkey;
alter table webhook_attempts add constraint webhook_attempts_first_pkey primary key using index webhook_attempts_first_pkey;
alter table webhook_attempts rename to webhook_attempts_first;

create table webhook_attempts (
  like webhook_attempts_first including defaults,
  primary key (partner_id, test_mode, delivery_id, id, started_at),
  constraint webhook_attempts_delivery
    foreign key (partner_id, test_mode, delivery_id) references webhook_deliveries (partner_id, test_mode, id)
) partition by range (started_at);
alter table webhook_attempts enable row level security, force row level security;
create policy owner on webhook_attempts to current_user using (true) with check (true);
create policy service on webhook_attempts to quittance_service using (true) with check (true);
create policy scope on webhook_attempts to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
grant select, insert, update, delete on webhook_attempts to quittance_app, quittance_service;
create trigger webhook_attempts_tell after insert on webhook_attempts
  referencing new table as made for each statement execute function tell_attempts();

do $$
declare
  until constant text := (select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
    where conrelid = 'webhook_attempts_first'::regclass and conname = 'webhook_attempts_first_until');
begin
  execute format('alter table webhook_attempts attach partition webhook_attempts_first
    for values from (minvalue) to (%L)', until);
end $$;
alter table webhook_attempts_first drop constraint webhook_attempts_first_until;

-- Adds months until there are so many ahead of now; each start of the service calls it as the owner. A part is made first and
-- attached then: this waits for no reader and no writer of the table.
create function add_attempt_months(ahead int) returns setof text language plpgsql as $$
declare
  from_month timestamp;
  part text;
begin
  loop
    select max(substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz) at time zone 'UTC'
      into from_month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'webhook_attempts'::regclass;
    exit when from_month >= date_trunc('month', now() at time zone 'UTC') + ahead * interval '1 month';
    part := 'webhook_attempts_' || to_char(from_month, 'YYYY_MM');
    execute format('create table %I (like webhook_attempts including defaults)', part);
    execute format('alter table %I enable row level security, force row level security', part);
    execute format('create policy owner on %I to current_user using (true) with check (true)', part);
    execute format('create policy service on %I to quittance_service using (true) with check (true)', part);
    execute format('alter table webhook_attempts attach partition %I for values from (%L) to (%L)', part,
      from_month at time zone 'UTC', (from_month + interval '1 month') at time zone 'UTC');
    return next part;
  end loop;
end $$;
select add_attempt_months(24);
