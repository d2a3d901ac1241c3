-- Charges under a customer's mandate: one row for each request of a plan that charges by itself.

create table collections (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  plan_id uuid not null,
  account_id uuid not null,
  number int not null check (number > 0), -- of the charge in its plan
  mandate_id uuid not null, -- the one that it was last tried with
  chain_id bigint not null, -- of that mandate
  state text not null default 'waiting'
    check (state in ('waiting', 'sent', 'charged', 'paid', 'asked', 'past_due', 'stopped')),
  due_at timestamptz, -- when it is tried; null while a transaction is under way, and at the end
  attempts int not null default 0, -- that failed and count
  failing_since timestamptz, -- the first of them
  waits int not null default 0, -- how often it was put off in a row, which does not count
  reason text, -- why it last failed, was put off or ended; null when nothing is wrong
  reason_at timestamptz,
  relay_id uuid, -- of the last transaction
  reverted boolean not null default false, -- that one was: why is still to be found out
  made_at timestamptz not null,
  ended_at timestamptz,
  primary key (partner_id, test_mode, request_id),
  unique (partner_id, test_mode, plan_id, number),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, plan_id, number) references plan_charges (partner_id, test_mode, plan_id, number),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, mandate_id) references mandates (partner_id, test_mode, id),
  check ((state = 'waiting') = (due_at is not null)),
  check ((state in ('waiting', 'sent')) = (ended_at is null)),
  check ((reason is null) = (reason_at is null)),
  check (state <> 'sent' or relay_id is not null),
  check ((attempts > 0) = (failing_since is not null))
);
-- For the loop of each chain: what is due of each partner in each mode, the longest first.
create index collections_due on collections (chain_id, partner_id, test_mode, due_at) where state = 'waiting';
create index collections_next on collections (chain_id, due_at) where state = 'waiting';
-- A plan has one transaction under way at most: of two, the chain would refuse the later one for its interval.
create unique index collections_sent on collections (partner_id, test_mode, plan_id) where state = 'sent';
create unique index collections_relay on collections (relay_id) where state = 'sent';
-- The charges of a plan are collected in order.
create index collections_open on collections (partner_id, test_mode, plan_id, number) where state in ('waiting', 'sent');

alter table collections enable row level security, force row level security;
create policy owner on collections to current_user using (true) with check (true);
create policy service on collections to quittance_service using (true) with check (true);
create policy scope on collections to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
grant select, insert, update on collections to quittance_app;
grant select, insert, update, delete on collections to quittance_service;

-- A merchant's pages show how a charge stands. A charge that goes well is heard of by its request.
create function tell_collection() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger collections_tell after update on collections for each row
  when (old.reason is distinct from new.reason or old.attempts <> new.attempts)
  execute function tell_collection();

-- The date of a plan whose wallet was looked at ahead, so that its customer is warned once of each.
alter table plans add column foreseen_on date;
create index plans_foresee on plans (due_at, id)
  where collect = 'automatic' and state = 'active' and foreseen_on is distinct from next_on;
