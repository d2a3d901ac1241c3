-- Receipts for customers, the end of their personal data, and what operators set.

alter table requests add column customer_language text; -- in which its customer last read the pay page

-- A mail may have a second body for those who read HTML, and may belong to a request: then it goes when its customer's
-- data goes, and there is never a second one.
alter table mails
  add column body_html text,
  add column partner_id uuid,
  add column test_mode boolean,
  add column request_id uuid,
  add constraint mails_request_fkey foreign key (partner_id, test_mode, request_id)
    references requests (partner_id, test_mode, id),
  add check (num_nulls(partner_id, test_mode, request_id) in (0, 3));
create unique index mails_request on mails (partner_id, test_mode, request_id) where request_id is not null;
-- Mails that were given up: few, and an operator looks for them.
create index mails_given_up on mails (created_at, id) where sent_at is null and next_attempt_at = 'infinity';

-- A receipt that is to be handed on: by mail (made into a mail of the outbox), or as a message to a phone.
create table receipts (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  channel text not null check (channel in ('mail', 'phone')),
  created_at timestamptz not null default now(),
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(), -- 'infinity': given up
  done_at timestamptz, -- handed on, or nobody is left to hand it to
  error text, -- of the last attempt, for operators
  primary key (partner_id, test_mode, request_id, channel),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
create index receipts_due on receipts (channel, next_attempt_at) where done_at is null;

-- Writes down which receipts a request is owed. Whatever goes wrong here must not undo or hold up the verification whose
-- transaction this is: it returns what went wrong, and null when all is well.
create function queue_receipts(partner uuid, test boolean, request uuid, channels text[]) returns text
  set lock_timeout = '250ms' language plpgsql as $$
begin
  insert into receipts (partner_id, test_mode, request_id, channel)
    select partner, test, request, channel from unnest(channels) as channel on conflict do nothing;
  return null;
exception when others then
  return sqlstate || ': ' || sqlerrm;
end $$;

-- Customers are found by what they give: the address, or the digits of the number.
create index requests_customer_email on requests (lower(customer_email)) where customer_email is not null;
create index requests_customer_phone on requests (regexp_replace(customer_phone, '\D', '', 'g'))
  where customer_phone is not null;

-- Up to where the personal data of a partner's customers was removed because of its age.
create table erased_customers (
  partner_id uuid not null references partners (id),
  test_mode boolean not null,
  up_to timestamptz not null, -- the creation of the last request that was looked at
  primary key (partner_id, test_mode)
);

do $$
declare t text;
begin
  foreach t in array array['receipts', 'erased_customers'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = scope_test_mode())
      with check (partner_id = scope_partner() and test_mode = scope_test_mode())', t);
    execute format('grant select, insert, update on %I to quittance_app', t);
  end loop;
end $$;

-- Whoever works in a scope queues any mail, and sees and deletes those of its own requests' customers.
alter table mails enable row level security;
create policy queue on mails for insert to quittance_app with check (true);
create policy scope on mails to quittance_app using (partner_id = scope_partner() and test_mode = scope_test_mode());
grant select, delete on mails to quittance_app;

-- An operator's rate may end by itself.
alter table rate_overrides add column until timestamptz;

-- Merchants of all partners, for operators.
create index merchants_newest on merchants (created_at, id);
create index merchants_terms on merchants (terms_version, terms_accepted_at) where terms_version is not null;
