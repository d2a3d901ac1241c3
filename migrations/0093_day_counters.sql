-- What is limited to so many a day, exact over all nodes. Counted in the transaction of what it counts, so what is refused or
-- fails uses up nothing. A row of its own for each day: rows of past days are found by their day, and deleted. `rate_counters`
-- keeps what API keys and partners may do in a minute: it has a row for each of them and action, and no more.
create table day_counters (
  partner_id uuid not null,
  day date not null, -- UTC
  action text not null,
  subject text not null, -- a merchant or request, or a keyed hash of a mailbox or phone number
  calls integer not null,
  primary key (partner_id, day, action, subject)
);
create index day_counters_day on day_counters (day);
alter table day_counters enable row level security, force row level security;
create policy owner on day_counters to current_user using (true) with check (true);
create policy service on day_counters to quittance_service using (true) with check (true);
-- Of both modes: one mailbox is sent what is limited, whichever mode sends it.
create policy scope on day_counters to quittance_app
  using (partner_id = scope_partner()) with check (partner_id = scope_partner());
grant select, insert, update on day_counters to quittance_app;
grant select, insert, update, delete on day_counters to quittance_service;
