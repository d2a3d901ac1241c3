-- Plans that charge by themselves: what the merchant sets, what the customer has agreed to, and the mails of a plan.

alter table plans
  add column collect text not null default 'link' check (collect in ('link', 'automatic')),
  add column cap_fiat_int bigint check (cap_fiat_int between 1 and 2147483647), -- most per charge, in the plan's currency
  add column reserve_percent int not null default 0 check (reserve_percent between 0 and 100), -- for the exchange rate
  add column after_past_due text not null default 'link' check (after_past_due in ('link', 'end')),
  add check (collect = 'link' or cap_fiat_int is not null);

-- One row for each time that a customer agreed. At most one of a plan is in use.
create table mandates (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null unique,
  plan_id uuid not null,
  account_id uuid not null,
  chain_id bigint not null,
  token_address text not null check (token_address ~ '^0x[0-9a-f]{40}$'),
  contract_address text not null check (contract_address ~ '^0x[0-9a-f]{40}$'),
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  payee text not null check (payee ~ '^0x[0-9a-f]{40}$'),
  executor text not null check (executor ~ '^0x[0-9a-f]{40}$'),
  cap_micro numeric(40, 0) not null check (cap_micro > 0),
  min_interval_s int not null check (min_interval_s > 0),
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  plan_ref bytea not null check (length(plan_ref) = 32),
  salt bytea not null check (length(salt) = 32),
  hash bytea not null check (length(hash) = 32),
  signature bytea not null,
  cap_fiat_int bigint not null check (cap_fiat_int > 0), -- what cap_micro was computed from
  fiat_code text not null,
  reserve_percent int not null,
  allowed_charges int check (allowed_charges > 0), -- how many charges the allowance is for; null: without limit, as the payer chose
  agreed_at timestamptz not null,
  state text not null default 'active' check (state in ('active', 'stopped', 'replaced', 'ended')),
  ended_at timestamptz,
  end_reason text check (end_reason in ('stopped_by_customer', 'stopped_by_merchant', 'revoked_on_chain', 'wallet_changed',
    'above_cap', 'currency_changed', 'plan_ended', 'expired', 'customer_erased', 'past_due')),
  stop_signature bytea, -- of the payer, under the revocation; null: stopped by the link alone, or by nobody
  revoke_due_at timestamptz, -- when to look after its revocation on the chain again; null: nothing to do
  revoke_failures int not null default 0, -- in a row
  revoke_relay_id uuid,
  revoked_at timestamptz, -- when the chain was known to have revoked it
  primary key (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, plan_id) references plans (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  check ((state = 'active') = (ended_at is null)),
  check ((state in ('stopped', 'ended')) = (end_reason is not null)),
  check (starts_at < ends_at)
);
create unique index mandates_active on mandates (partner_id, test_mode, plan_id) where state = 'active';
create index mandates_plan on mandates (partner_id, test_mode, plan_id, agreed_at);
create unique index mandates_hash on mandates (chain_id, contract_address, hash);
-- The sum of what a payer has agreed to, over all partners: an allowance of a token is one for all of them.
create index mandates_payer on mandates (chain_id, token_address, payer, contract_address) where state = 'active';
-- For the loops: what is to be revoked, and what is past its end.
create index mandates_revoke on mandates (partner_id, test_mode, revoke_due_at) where revoke_due_at is not null;
create index mandates_end on mandates (ends_at) where state = 'active';
create index mandates_of_plan on mandates (plan_id) where state = 'active';
create index mandates_account on mandates (partner_id, test_mode, account_id) where state = 'active';

alter table mandates enable row level security, force row level security;
create policy owner on mandates to current_user using (true) with check (true);
create policy service on mandates to quittance_service using (true) with check (true);
create policy scope on mandates to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
grant select, insert, update on mandates to quittance_app;
grant select, insert, update, delete on mandates to quittance_service;

-- The latest EIP-2612 permit of each payer. Its value is for all mandates of that payer, so it is of no partner.
create table permits (
  chain_id bigint not null,
  token_address text not null check (token_address ~ '^0x[0-9a-f]{40}$'),
  payer text not null check (payer ~ '^0x[0-9a-f]{40}$'),
  contract_address text not null check (contract_address ~ '^0x[0-9a-f]{40}$'),
  value numeric(78, 0) not null check (value > 0),
  nonce numeric(78, 0) not null,
  deadline numeric(78, 0) not null, -- unix seconds
  signature bytea not null,
  signed_at timestamptz not null,
  primary key (chain_id, token_address, payer, contract_address)
);
alter table permits enable row level security, force row level security;
create policy owner on permits to current_user using (true) with check (true);
create policy service on permits to quittance_service using (true) with check (true);
grant select, insert, update, delete on permits to quittance_service;

-- A mail may be about a plan as well as about a request: erasing the customer finds it by either.
alter table mails
  add column plan_id uuid,
  drop constraint mails_check,
  drop constraint mails_purpose_check,
  add foreign key (partner_id, test_mode, plan_id) references plans (partner_id, test_mode, id),
  add check (purpose in ('ask', 'receipt', 'plan')),
  add check ((purpose = 'plan') = (plan_id is not null)),
  add check (num_nulls(partner_id, test_mode) in (0, 2) and num_nonnulls(request_id, plan_id) = num_nonnulls(partner_id));
create index mails_plan on mails (partner_id, test_mode, plan_id) where plan_id is not null;

-- What a plan's page shows: how it is paid, and that something was agreed or stopped.
drop trigger plans_tell on plans;
create trigger plans_tell after update on plans for each row
  when ((old.state, old.failure, old.failures, old.name, old.mails_stopped_at, old.fiat_int, old.collect) is distinct from
    (new.state, new.failure, new.failures, new.name, new.mails_stopped_at, new.fiat_int, new.collect))
  execute function tell_plan();
create function tell_mandate() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger mandates_tell_new after insert on mandates for each row execute function tell_mandate();
create trigger mandates_tell after update on mandates for each row
  when ((old.state, old.revoked_at) is distinct from (new.state, new.revoked_at)) execute function tell_mandate();
