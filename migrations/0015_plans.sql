-- Plans: a merchant's standing orders to ask one customer for the same amount on one date after the other.

create table plans (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null unique,
  account_id uuid not null,
  form_key text not null, -- of the form that made it: sent twice, it makes one plan
  name text, -- the memo of each charge; null: erased
  fiat_int bigint not null check (fiat_int between 1 and 2147483647),
  fiat_code text not null,
  customer_name text, -- null: erased
  customer_email text, -- each new request is mailed there
  customer_phone text,
  language text not null, -- in which the customer is written to
  metadata json not null, -- json, not jsonb: the order of keys is kept
  period text not null check (period in ('day', 'week', 'month', 'year')),
  every int not null check (every between 1 and 365),
  first_on date not null, -- the dates are this one and every so many periods after it, in UTC
  max_charges int check (max_charges > 0), -- null: until somebody ends it
  state text not null default 'active' check (state in ('active', 'paused', 'ended')),
  charges int not null default 0, -- made
  slot int not null default 0, -- of the next charge: how many times `every` periods after the first date; pauses pass over some
  next_on date, -- the date of that slot; null once it has ended
  due_at timestamptz, -- when the next charge is tried; null while nothing is
  failure text, -- why the charge of next_on could not be made; null when nothing is wrong
  failures int not null default 0, -- of that charge, in a row
  failed_at timestamptz, -- the first of them
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  check (state = 'ended' or num_nulls(name, customer_name, next_on) = 0),
  check ((state = 'active') = (due_at is not null)),
  check ((state = 'ended') = (ended_at is not null)),
  check (max_charges is null or charges <= max_charges),
  check ((failure is null) = (failed_at is null))
);
create unique index plans_form on plans (partner_id, test_mode, account_id, form_key);
create index plans_list on plans (partner_id, test_mode, account_id, created_at, id);
-- For the loop, over all partners: what is due, the longest first.
create index plans_due on plans (due_at) where due_at is not null;
-- Customers are found by what was given of them, as for requests; and what has ended, by its age.
create index plans_customer_email on plans (lower(customer_email)) where customer_email is not null;
create index plans_customer_phone on plans (regexp_replace(customer_phone, '\D', '', 'g'))
  where customer_phone is not null;
create index plans_personal on plans (ended_at) where state = 'ended' and customer_name is not null;

-- One row for each charge that was made: an ordinary request.
create table plan_charges (
  partner_id uuid not null,
  test_mode boolean not null,
  plan_id uuid not null,
  number int not null check (number > 0), -- 1, 2, 3 …
  due_on date not null,
  request_id uuid not null,
  made_at timestamptz not null,
  primary key (partner_id, test_mode, plan_id, number),
  unique (partner_id, test_mode, request_id),
  unique (partner_id, test_mode, plan_id, due_on),
  foreign key (partner_id, test_mode, plan_id) references plans (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);

do $$
declare t text;
begin
  foreach t in array array['plans', 'plan_charges'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = scope_test_mode())
      with check (partner_id = scope_partner() and test_mode = scope_test_mode())', t);
  end loop;
end $$;
grant select, insert, update on plans to quittance_app;
grant select, insert on plan_charges to quittance_app;

-- Tells listening processes when a plan changes. A charge that is made tells nothing: its request is heard of anyway, and
-- whoever tells waits for others at commit, while a charge holds its partner's clock.
create function tell_plan() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger plans_tell_new after insert on plans for each row execute function tell_plan();
create trigger plans_tell after update on plans for each row
  when ((old.state, old.failure, old.failures, old.name) is distinct from
    (new.state, new.failure, new.failures, new.name))
  execute function tell_plan();

-- A request's customer may be sent two mails: the one that asks, and the receipt.
alter table mails add column purpose text not null default 'receipt' check (purpose in ('ask', 'receipt'));
drop index mails_request;
create unique index mails_request on mails (partner_id, test_mode, request_id, purpose) where request_id is not null;
