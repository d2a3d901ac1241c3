-- Generated from the migrations by `npm run schema`; do not edit.

create table alarms (
  name text not null,
  message text not null,
  raised_at timestamp with time zone not null default now(),
  cleared_at timestamp with time zone,
  constraint alarms_pkey PRIMARY KEY (name)
);

create table amount_reservations (
  wallet_address text not null,
  usdc_micro numeric(40,0) not null,
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  reserved_at timestamp with time zone not null,
  reserved_until timestamp with time zone not null,
  constraint amount_reservations_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id) DEFERRABLE INITIALLY DEFERRED,
  constraint amount_reservations_pkey PRIMARY KEY (wallet_address, usdc_micro)
);
CREATE UNIQUE INDEX amount_reservations_request ON public.amount_reservations USING btree (request_id);
CREATE INDEX amount_reservations_until ON public.amount_reservations USING btree (reserved_until);
alter table amount_reservations enable row level security;
create policy scope on amount_reservations for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on amount_reservations to quittance_app;

create table api_keys (
  id uuid not null,
  partner_id uuid not null,
  test_mode boolean not null,
  hash bytea not null,
  hint text not null,
  scopes text[] not null,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint api_keys_pkey PRIMARY KEY (id)
);
CREATE INDEX api_keys_partner ON public.api_keys USING btree (partner_id, created_at);

create table chain_blocks (
  chain_id bigint not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  block_time timestamp with time zone not null,
  constraint chain_blocks_chain_id_fkey FOREIGN KEY (chain_id) REFERENCES chain_cursors(chain_id),
  constraint chain_blocks_pkey PRIMARY KEY (chain_id, number)
);

create table chain_cursors (
  chain_id bigint not null,
  fence bigint not null,
  number bigint not null,
  hash text not null,
  block_time timestamp with time zone not null,
  head_number bigint not null,
  final_number bigint not null,
  safe_number bigint,
  finalized_number bigint,
  updated_at timestamp with time zone not null,
  constraint chain_cursors_pkey PRIMARY KEY (chain_id)
);
grant SELECT on chain_cursors to quittance_app;

create table leases (
  name text not null,
  holder uuid not null,
  fence bigint not null,
  held_until timestamp with time zone not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table mails (
  id uuid not null,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null default now(),
  constraint mails_pkey PRIMARY KEY (id)
);
CREATE INDEX mails_due ON public.mails USING btree (next_attempt_at) WHERE (sent_at IS NULL);
grant INSERT on mails to quittance_app;

create table merchants (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  email text,
  display_name text,
  business_name text,
  country text,
  phone text,
  website text,
  instagram text,
  industry text,
  app_mode text not null,
  display_currency text not null,
  wallet_address text,
  wallet_signed_at timestamp with time zone,
  wallet_chain_ids integer[],
  onboarded_at timestamp with time zone,
  onboarding_epoch integer not null default 0,
  email_checked_at timestamp with time zone,
  terms_version text,
  terms_accepted_at timestamp with time zone,
  terms_accepted_from text,
  disabled_by_partner boolean not null default false,
  disabled_by_operator boolean not null default false,
  created_at timestamp with time zone not null,
  constraint merchants_app_mode_check CHECK ((app_mode = ANY (ARRAY['personal'::text, 'business'::text]))),
  constraint merchants_check CHECK (((onboarded_at IS NULL) OR ((wallet_signed_at IS NOT NULL) AND (terms_accepted_at IS NOT NULL)))),
  constraint merchants_id_key UNIQUE (id),
  constraint merchants_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint merchants_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint merchants_wallet_address_check CHECK ((wallet_address ~ '^0x[0-9a-f]{40}$'::text))
);
CREATE INDEX merchants_list ON public.merchants USING btree (partner_id, test_mode, created_at, id);
alter table merchants enable row level security;
create policy scope on merchants for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on merchants to quittance_app;

create table onboarding_codes (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  code_hash bytea not null,
  attempts integer not null default 0,
  expires_at timestamp with time zone not null,
  constraint onboarding_codes_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint onboarding_codes_pkey PRIMARY KEY (partner_id, test_mode, account_id)
);
alter table onboarding_codes enable row level security;
create policy scope on onboarding_codes for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on onboarding_codes to quittance_app;

create table onboarding_progress (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  details_at timestamp with time zone not null,
  email text,
  wallet_address text,
  chain_id bigint,
  constraint onboarding_progress_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint onboarding_progress_pkey PRIMARY KEY (partner_id, test_mode, account_id),
  constraint onboarding_progress_wallet_address_check CHECK ((wallet_address ~ '^0x[0-9a-f]{40}$'::text))
);
alter table onboarding_progress enable row level security;
create policy scope on onboarding_progress for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on onboarding_progress to quittance_app;

create table partner_clocks (
  partner_id uuid not null,
  test_mode boolean not null,
  last_at timestamp with time zone not null,
  constraint partner_clocks_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint partner_clocks_pkey PRIMARY KEY (partner_id, test_mode)
) with (fillfactor=50);
alter table partner_clocks enable row level security;
create policy scope on partner_clocks for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on partner_clocks to quittance_app;

create table partners (
  id uuid not null,
  slug text not null,
  name text not null,
  currency text not null,
  allowed_expiry_minutes integer[] not null,
  default_expiry_minutes integer not null,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  email text,
  accent text,
  logo bytea,
  logo_type text,
  logo_hash text,
  constraint partners_accent_check CHECK ((accent ~ '^#[0-9a-f]{6}$'::text)),
  constraint partners_check CHECK ((default_expiry_minutes = ANY (allowed_expiry_minutes))),
  constraint partners_email_check CHECK ((email <> ''::text)),
  constraint partners_logo_check CHECK (((octet_length(logo) >= 1) AND (octet_length(logo) <= 65536))),
  constraint partners_logo_hash_check CHECK ((logo_hash ~ '^[0-9a-f]{16}$'::text)),
  constraint partners_logo_type_check CHECK ((logo_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
  constraint partners_logo_whole CHECK ((num_nulls(logo, logo_type, logo_hash) = ANY (ARRAY[0, 3]))),
  constraint partners_pkey PRIMARY KEY (id),
  constraint partners_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'::text)),
  constraint partners_slug_key UNIQUE (slug)
);
alter table partners enable row level security;
create policy scope on partners for ALL to quittance_app using ((id = scope_partner()));
grant SELECT on partners to quittance_app;

create table payment_hints (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  chain_id bigint not null,
  tx_hash text not null,
  from_address text not null,
  nonce bigint not null,
  seen_block bigint not null,
  state text not null,
  replaced_by text,
  first_seen_at timestamp with time zone not null default now(),
  checked_at timestamp with time zone not null default now(),
  constraint payment_hints_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint payment_hints_pkey PRIMARY KEY (partner_id, test_mode, request_id, chain_id, tx_hash),
  constraint payment_hints_state_check CHECK ((state = ANY (ARRAY['seen'::text, 'mined'::text, 'failed'::text, 'replaced'::text, 'gone'::text]))),
  constraint payment_hints_tx_hash_check CHECK ((tx_hash ~ '^0x[0-9a-f]{64}$'::text))
);
CREATE INDEX payment_hints_age ON public.payment_hints USING btree (first_seen_at);
alter table payment_hints enable row level security;
create policy scope on payment_hints for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on payment_hints to quittance_app;

create table rate_counters (
  partner_id uuid not null,
  subject uuid not null,
  action text not null,
  minute timestamp with time zone not null,
  calls integer not null,
  constraint rate_counters_pkey PRIMARY KEY (partner_id, subject, action)
) with (fillfactor=50);

create table rate_overrides (
  code text not null,
  rate text not null,
  set_at timestamp with time zone not null default now(),
  constraint rate_overrides_pkey PRIMARY KEY (code)
);
grant SELECT on rate_overrides to quittance_app;

create table rates (
  code text not null,
  rate text not null,
  sources json not null,
  fetched_at timestamp with time zone not null,
  constraint rates_pkey PRIMARY KEY (code)
);
grant SELECT on rates to quittance_app;

create table requests (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  account_id uuid not null,
  idempotency_key text,
  fiat_int bigint not null,
  fiat_code text not null,
  usdc_micro numeric(40,0) not null,
  reserved boolean not null,
  rate text not null,
  memo text,
  payment_mode text not null,
  customer_name text,
  customer_email text,
  customer_phone text,
  metadata json not null,
  wallet_address text not null,
  reference bytea not null,
  start_blocks jsonb not null,
  status text not null default 'requested'::text,
  proof_status text not null default 'none'::text,
  proof_note text,
  asset_id text,
  tx_hash text,
  payer_address text,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  opened_at timestamp with time zone,
  voided_at timestamp with time zone,
  proof_verified_at timestamp with time zone,
  constraint requests_check CHECK (((proof_status = 'verified'::text) = (proof_verified_at IS NOT NULL))),
  constraint requests_check1 CHECK (((proof_status <> 'verified'::text) OR ((tx_hash IS NOT NULL) AND (payer_address IS NOT NULL)))),
  constraint requests_check2 CHECK (((status <> 'voided'::text) OR (voided_at IS NOT NULL))),
  constraint requests_fiat_int_check CHECK (((fiat_int >= 1) AND (fiat_int <= 2147483647))),
  constraint requests_id_key UNIQUE (id),
  constraint requests_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint requests_payment_mode_check CHECK ((payment_mode = ANY (ARRAY['pos'::text, 'invoice'::text]))),
  constraint requests_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint requests_proof_status_check CHECK ((proof_status = ANY (ARRAY['none'::text, 'attached'::text, 'verified'::text]))),
  constraint requests_reference_check CHECK ((length(reference) = 16)),
  constraint requests_status_check CHECK ((status = ANY (ARRAY['requested'::text, 'opened'::text, 'expired'::text, 'voided'::text]))),
  constraint requests_usdc_micro_check CHECK ((usdc_micro > (0)::numeric))
);
CREATE INDEX requests_account_list ON public.requests USING btree (partner_id, test_mode, account_id, created_at);
CREATE INDEX requests_due ON public.requests USING btree (expires_at) WHERE ((status = ANY (ARRAY['requested'::text, 'opened'::text])) AND (proof_status = 'none'::text));
CREATE UNIQUE INDEX requests_idempotency ON public.requests USING btree (partner_id, test_mode, account_id, idempotency_key);
CREATE UNIQUE INDEX requests_list ON public.requests USING btree (partner_id, test_mode, created_at);
CREATE INDEX requests_reference ON public.requests USING btree (partner_id, test_mode, reference);
CREATE INDEX requests_wallet ON public.requests USING btree (partner_id, test_mode, wallet_address, created_at);
alter table requests enable row level security;
create policy scope on requests for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on requests to quittance_app;

create table schema_migrations (
  name text not null,
  applied_at timestamp with time zone default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table sessions (
  id uuid not null,
  token_hash bytea not null,
  kind text not null,
  partner_id uuid,
  test_mode boolean,
  account_id uuid,
  user_id uuid,
  wallet_address text,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  ip text not null,
  user_agent text,
  constraint sessions_check CHECK (((kind <> 'merchant'::text) OR (num_nulls(partner_id, test_mode, account_id, wallet_address) = 0))),
  constraint sessions_check1 CHECK (((kind <> 'partner_user'::text) OR (num_nulls(partner_id, user_id) = 0))),
  constraint sessions_check2 CHECK (((kind <> 'operator'::text) OR ((user_id IS NOT NULL) AND (partner_id IS NULL)))),
  constraint sessions_kind_check CHECK ((kind = ANY (ARRAY['merchant'::text, 'partner_user'::text, 'operator'::text]))),
  constraint sessions_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint sessions_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX sessions_account ON public.sessions USING btree (partner_id, test_mode, account_id, last_seen_at);

create table transfers (
  chain_id bigint not null,
  tx_hash text not null,
  ordinal integer not null,
  block_number bigint not null,
  block_hash text not null,
  block_time timestamp with time zone not null,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  value numeric(78,0) not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  calldata_reference bytea,
  request_id uuid,
  candidate_request_id uuid,
  rule text,
  reason text,
  counts boolean not null default false,
  judged_at timestamp with time zone,
  final_at timestamp with time zone,
  constraint transfers_check CHECK (((NOT counts) OR (request_id IS NOT NULL))),
  constraint transfers_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint transfers_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint transfers_pkey PRIMARY KEY (chain_id, tx_hash, ordinal),
  constraint transfers_rule_check CHECK ((rule = ANY (ARRAY['authorization'::text, 'reference'::text, 'amount'::text, 'claim'::text, 'merchant'::text]))),
  constraint transfers_value_check CHECK ((value > (0)::numeric))
);
CREATE INDEX transfers_block ON public.transfers USING btree (chain_id, block_number);
CREATE INDEX transfers_candidate ON public.transfers USING btree (partner_id, test_mode, candidate_request_id) WHERE ((request_id IS NULL) AND (candidate_request_id IS NOT NULL));
CREATE INDEX transfers_request ON public.transfers USING btree (partner_id, test_mode, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX transfers_unjudged ON public.transfers USING btree (chain_id, block_number) WHERE (judged_at IS NULL);
CREATE INDEX transfers_unmatched ON public.transfers USING btree (partner_id, test_mode, account_id, block_time) WHERE (request_id IS NULL);
CREATE INDEX transfers_unsettled ON public.transfers USING btree (chain_id, block_number) WHERE (counts AND (final_at IS NULL));
alter table transfers enable row level security;
create policy scope on transfers for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on transfers to quittance_app;

create table used_wallet_messages (
  nonce text not null,
  expires_at timestamp with time zone not null,
  constraint used_wallet_messages_pkey PRIMARY KEY (nonce)
);
CREATE INDEX used_wallet_messages_expiry ON public.used_wallet_messages USING btree (expires_at);
grant DELETE, INSERT, SELECT on used_wallet_messages to quittance_app;

create table wallet_changes (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  account_id uuid not null,
  kind text not null,
  state text not null,
  old_wallet text not null,
  new_wallet text,
  new_chain_ids integer[],
  started_at timestamp with time zone not null,
  link_until timestamp with time zone,
  signed_at timestamp with time zone,
  due_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint wallet_changes_check CHECK (((state <> ALL (ARRAY['signed'::text, 'applied'::text])) OR (num_nulls(new_wallet, signed_at) = 0))),
  constraint wallet_changes_id_key UNIQUE (id),
  constraint wallet_changes_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'recovery'::text]))),
  constraint wallet_changes_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint wallet_changes_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint wallet_changes_state_check CHECK ((state = ANY (ARRAY['started'::text, 'signed'::text, 'applied'::text, 'vetoed'::text, 'cancelled'::text, 'expired'::text])))
);
CREATE INDEX wallet_changes_due ON public.wallet_changes USING btree (due_at) WHERE (state = 'signed'::text);
CREATE INDEX wallet_changes_links ON public.wallet_changes USING btree (link_until) WHERE (state = 'started'::text);
CREATE UNIQUE INDEX wallet_changes_open ON public.wallet_changes USING btree (partner_id, test_mode, account_id) WHERE (state = ANY (ARRAY['started'::text, 'signed'::text]));
alter table wallet_changes enable row level security;
create policy scope on wallet_changes for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on wallet_changes to quittance_app;

create table wallets (
  address text not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  claimed_at timestamp with time zone not null,
  signed_at timestamp with time zone,
  constraint wallets_address_check CHECK ((address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint wallets_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id) DEFERRABLE INITIALLY DEFERRED,
  constraint wallets_pkey PRIMARY KEY (address)
);
CREATE INDEX wallets_account ON public.wallets USING btree (account_id);
alter table wallets enable row level security;
create policy scope on wallets for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on wallets to quittance_app;

create table watched_wallets (
  wallet_address text not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  watch_until timestamp with time zone not null,
  changed_at timestamp with time zone not null,
  constraint watched_wallets_pkey PRIMARY KEY (wallet_address, partner_id, test_mode, account_id)
);
CREATE INDEX watched_wallets_changed ON public.watched_wallets USING btree (changed_at);
alter table watched_wallets enable row level security;
create policy scope on watched_wallets for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on watched_wallets to quittance_app;

create table webhook_attempts (
  partner_id uuid not null,
  test_mode boolean not null,
  delivery_id uuid not null,
  id uuid not null,
  url text not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  request_headers json not null,
  response_body text,
  constraint webhook_attempts_partner_id_test_mode_delivery_id_fkey FOREIGN KEY (partner_id, test_mode, delivery_id) REFERENCES webhook_deliveries(partner_id, test_mode, id),
  constraint webhook_attempts_pkey PRIMARY KEY (partner_id, test_mode, delivery_id, id)
);
alter table webhook_attempts enable row level security;
create policy scope on webhook_attempts for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on webhook_attempts to quittance_app;

create table webhook_deliveries (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  request_id uuid not null,
  event text not null,
  body text not null,
  state text not null default 'waiting'::text,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null,
  lease uuid,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  constraint webhook_deliveries_id_key UNIQUE (id),
  constraint webhook_deliveries_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint webhook_deliveries_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'exhausted'::text])))
);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (partner_id, test_mode, next_attempt_at) WHERE (state = 'waiting'::text);
CREATE INDEX webhook_deliveries_log ON public.webhook_deliveries USING btree (partner_id, test_mode, created_at);
CREATE UNIQUE INDEX webhook_deliveries_request ON public.webhook_deliveries USING btree (partner_id, test_mode, request_id);
alter table webhook_deliveries enable row level security;
create policy scope on webhook_deliveries for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on webhook_deliveries to quittance_app;

create table webhook_endpoints (
  partner_id uuid not null,
  test_mode boolean not null,
  url text,
  secret bytea not null,
  pending_secret bytea,
  pending_since timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_reason text,
  failures integer not null default 0,
  last_success_at timestamp with time zone,
  failing_since timestamp with time zone,
  probe_at timestamp with time zone,
  constraint webhook_endpoints_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint webhook_endpoints_pkey PRIMARY KEY (partner_id, test_mode)
);
CREATE INDEX webhook_endpoints_failing ON public.webhook_endpoints USING btree (failing_since) WHERE ((failing_since IS NOT NULL) AND (disabled_at IS NULL));
alter table webhook_endpoints enable row level security;
create policy scope on webhook_endpoints for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = scope_test_mode()))) with check (((partner_id = scope_partner()) AND (test_mode = scope_test_mode())));
grant DELETE, INSERT, SELECT, UPDATE on webhook_endpoints to quittance_app;

CREATE OR REPLACE FUNCTION public.create_merchant(partner uuid, test boolean, account uuid, fields jsonb)
 RETURNS SETOF merchants
 LANGUAGE plpgsql
AS $function$
declare
  at timestamptz;
  row merchants;
begin
  perform enter_scope(partner, test);
  at := take_clock(partner, test);
  row := jsonb_populate_record(null::merchants, fields || jsonb_build_object('partner_id', partner, 'test_mode', test,
    'id', account, 'created_at', at, 'onboarding_epoch', 0, 'disabled_by_partner', false, 'disabled_by_operator', false));
  if row.wallet_address is not null then
    insert into wallets values (row.wallet_address, partner, test, account, at) on conflict do nothing;
    if not found then return; end if;
  end if;
  return query insert into merchants select row.* returning *;
end $function$;

CREATE OR REPLACE FUNCTION public.create_request(partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric, rate_used text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text, ref bytea, blocks jsonb, expiry interval, OUT stored requests, OUT replayed boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  at timestamptz;
  free numeric;
begin
  perform enter_scope(partner, test);
  at := take_clock(partner, test);

  select * into stored from requests
    where partner_id = partner and test_mode = test and account_id = account and idempotency_key = key;
  replayed := found;
  if replayed then return; end if;

  -- The primary key decides; losing to a row that was not visible tries the next.
  for attempt in 1..5 loop
    free := free_amount(wallet, exact_micro);
    exit when free is null;
    insert into amount_reservations values (wallet, free, partner, test, request, at, at + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := null;
  end loop;

  insert into watched_wallets values (wallet, partner, test, account, at + expiry + interval '60 days', at)
    on conflict (wallet_address, partner_id, test_mode, account_id) do update
      set watch_until = excluded.watch_until, changed_at = excluded.changed_at
      where watched_wallets.watch_until < excluded.watch_until - interval '1 day';

  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address, reference,
      start_blocks, created_at, expires_at)
    values (partner, test, request, account, key, fiat, code, coalesce(free, exact_micro), free is not null,
      rate_used, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, at + expiry)
    returning * into stored;
end $function$;

CREATE OR REPLACE FUNCTION public.enter_scope(partner uuid, test boolean)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform set_config('quittance.partner_id', partner::text, true),
          set_config('quittance.test_mode', test::text, true),
          set_config('role', 'quittance_app', true);
end $function$;

CREATE OR REPLACE FUNCTION public.free_amount(wallet text, exact_micro numeric)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  held constant bigint := (select count(*) from amount_reservations r
    where r.wallet_address = wallet and r.usdc_micro between exact_micro and exact_micro + 9999);
begin
  return (select exact_micro + surcharge from generate_series(0, least(9999, held)) as surcharge
    where not exists (
      select from amount_reservations r where r.wallet_address = wallet and r.usdc_micro = exact_micro + surcharge)
    order by surcharge limit 1);
end $function$;

CREATE OR REPLACE FUNCTION public.scope_partner()
 RETURNS uuid
 LANGUAGE sql
 STABLE
RETURN (NULLIF(current_setting('quittance.partner_id'::text, true), ''::text))::uuid;

CREATE OR REPLACE FUNCTION public.scope_test_mode()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN (NULLIF(current_setting('quittance.test_mode'::text, true), ''::text))::boolean;

CREATE OR REPLACE FUNCTION public.take_clock(partner uuid, test boolean)
 RETURNS timestamp with time zone
 LANGUAGE sql
BEGIN ATOMIC
 INSERT INTO partner_clocks AS clock (partner_id, test_mode, last_at)
   VALUES (take_clock.partner, take_clock.test, date_trunc('milliseconds'::text, clock_timestamp())) ON CONFLICT(partner_id, test_mode) DO UPDATE SET last_at = GREATEST((clock.last_at + '00:00:00.001'::interval), date_trunc('milliseconds'::text, clock_timestamp()))
   RETURNING clock.last_at;
END;

CREATE OR REPLACE FUNCTION public.tell_chain()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('chain %s', new.chain_id));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_hint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.request_id, r.account_id, new.partner_id, new.test_mode))
    from requests r
    where (r.partner_id, r.test_mode, r.id) = (new.partner_id, new.test_mode, new.request_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_request()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.id, new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  told uuid;
  at transfers := coalesce(new, old);
begin
  foreach told in array array[new.request_id, new.candidate_request_id, old.request_id, old.candidate_request_id] loop
    if told is not null then
      perform pg_notify('changes', format('request %s %s %s %s', told, at.account_id, at.partner_id, at.test_mode));
    end if;
  end loop;
  return null;
end $function$;
