-- The addresses under which the service runs on this database. A node with another BASE_URL does not start: it would run on
-- a copy, and send the same events, mails and charges as the original.

create table base_urls (
  origin text primary key,
  added_at timestamptz not null default now()
);
alter table base_urls enable row level security, force row level security;
create policy owner on base_urls to current_user using (true) with check (true);
create policy service on base_urls to quittance_service using (true) with check (true);
grant select, insert, delete on base_urls to quittance_service;
