-- The data model of the main job. Partner data is keyed by (partner_id, test_mode, …): composite foreign keys make rows
-- that mix partners or modes impossible. What is unique over the platform stands in registries keyed by that value alone.

do $$ begin
  if not exists (select from pg_roles where rolname = 'quittance_app') then
    create role quittance_app nologin;
  end if;
exception when duplicate_object or unique_violation then null; -- another installer was faster
end $$;
-- The owner must be able to step down to the application's role.
do $$ begin execute format('grant quittance_app to %I', current_user); end $$;

-- ── partners and their keys ─────────────────────────────────────────────────────────────────────────────────────────

create table partners (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
  name text not null,
  currency text not null,
  allowed_expiry_minutes int[] not null,
  default_expiry_minutes int not null check (default_expiry_minutes = any (allowed_expiry_minutes)),
  disabled_at timestamptz,
  created_at timestamptz not null default now()
);

-- The clock of a partner and mode: every create takes the next millisecond, so created_at increases in commit order.
create table partner_clocks (
  partner_id uuid not null references partners (id),
  test_mode boolean not null,
  last_at timestamptz not null,
  primary key (partner_id, test_mode)
) with (fillfactor = 50);

create table api_keys (
  id uuid primary key,
  partner_id uuid not null references partners (id),
  test_mode boolean not null,
  hash bytea not null unique,
  hint text not null, -- prefix and last four characters, for people
  scopes text[] not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz
);
create index api_keys_partner on api_keys (partner_id, created_at);

-- One row per counted subject and action, reused every minute: exact limits over all nodes, and nothing to clean up.
create table rate_counters (
  partner_id uuid not null,
  subject uuid not null, -- an API key, or the partner itself
  action text not null,
  minute timestamptz not null,
  calls int not null,
  primary key (partner_id, subject, action)
) with (fillfactor = 50);

-- ── rates ───────────────────────────────────────────────────────────────────────────────────────────────────────────

create table rates (
  code text primary key,
  rate text not null, -- fiat units per one stablecoin, decimal
  sources json not null, -- [{source, rate}] that made the median
  fetched_at timestamptz not null
);

create table rate_overrides (
  code text primary key,
  rate text not null,
  set_at timestamptz not null default now()
);

-- ── merchants ───────────────────────────────────────────────────────────────────────────────────────────────────────

create table merchants (
  partner_id uuid not null references partners (id),
  test_mode boolean not null,
  id uuid not null unique,
  email text,
  display_name text,
  business_name text,
  country text,
  phone text,
  website text,
  instagram text,
  industry text,
  app_mode text not null check (app_mode in ('personal', 'business')),
  display_currency text not null,
  wallet_address text check (wallet_address ~ '^0x[0-9a-f]{40}$'),
  wallet_signed_at timestamptz, -- null while a wallet is only claimed
  wallet_chain_ids int[], -- a contract wallet: the chains its signature was checked on; null: any
  onboarded_at timestamptz,
  onboarding_epoch int not null default 0, -- raised by a reset: older onboarding links die
  email_checked_at timestamptz,
  terms_version text,
  terms_accepted_at timestamptz,
  terms_accepted_from text,
  disabled_by_partner boolean not null default false,
  disabled_by_operator boolean not null default false,
  created_at timestamptz not null,
  primary key (partner_id, test_mode, id),
  check ((onboarded_at is null) or (wallet_signed_at is not null and terms_accepted_at is not null))
);
create index merchants_list on merchants (partner_id, test_mode, created_at, id);

-- Registry: a wallet belongs to one merchant of the whole platform.
create table wallets (
  address text primary key check (address ~ '^0x[0-9a-f]{40}$'),
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  claimed_at timestamptz not null,
  signed_at timestamptz,
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id)
    deferrable initially deferred
);
create unique index wallets_account on wallets (account_id);

-- Single-use numbers for signing in with a wallet, and codes sent by e-mail, both hashed.
create table onboarding_nonces (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  nonce text not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (partner_id, test_mode, account_id, nonce),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id)
);
create table onboarding_codes (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  code_hash bytea not null,
  attempts int not null default 0,
  expires_at timestamptz not null,
  primary key (partner_id, test_mode, account_id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id)
);

-- ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table requests (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null unique,
  account_id uuid not null,
  idempotency_key text, -- null: no replay protection was asked for
  fiat_int bigint not null check (fiat_int between 1 and 2147483647),
  fiat_code text not null,
  usdc_micro numeric(40, 0) not null check (usdc_micro > 0),
  reserved boolean not null, -- false: all surcharges were taken, never matched by amount
  rate text not null,
  memo text,
  payment_mode text not null check (payment_mode in ('pos', 'invoice')),
  customer_name text,
  customer_email text,
  customer_phone text,
  metadata json not null, -- json, not jsonb: the order of keys is kept
  wallet_address text not null, -- copied: a later change of wallet does not move open requests
  reference bytea not null check (length(reference) = 16),
  start_blocks jsonb not null, -- {"<chain id>": last block before the request}
  status text not null default 'requested' check (status in ('requested', 'opened', 'expired', 'voided')),
  proof_status text not null default 'none' check (proof_status in ('none', 'attached', 'verified')),
  proof_note text, -- why a proof was taken back: 'reorged', for the pay page
  asset_id text, -- what was paid with; null until then
  tx_hash text,
  payer_address text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  opened_at timestamptz,
  voided_at timestamptz,
  proof_verified_at timestamptz,
  primary key (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  check ((proof_status = 'verified') = (proof_verified_at is not null)),
  check (proof_status <> 'verified' or (tx_hash is not null and payer_address is not null)),
  check (status <> 'voided' or voided_at is not null)
);
create unique index requests_idempotency on requests (partner_id, test_mode, account_id, idempotency_key);
create unique index requests_list on requests (partner_id, test_mode, created_at);
create index requests_account_list on requests (partner_id, test_mode, account_id, created_at);
create index requests_reference on requests (partner_id, test_mode, reference);
create index requests_wallet on requests (partner_id, test_mode, wallet_address, created_at);
create index requests_due on requests (expires_at) where status in ('requested', 'opened') and proof_status = 'none';

-- Registry: the amount that tells a payment to a wallet apart, over the whole platform.
create table amount_reservations (
  wallet_address text not null,
  usdc_micro numeric(40, 0) not null,
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  reserved_at timestamptz not null,
  reserved_until timestamptz not null,
  primary key (wallet_address, usdc_micro),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
    deferrable initially deferred
);
create unique index amount_reservations_request on amount_reservations (request_id);
create index amount_reservations_until on amount_reservations (reserved_until);

-- Registry: the wallets whose incoming transfers are read from the chains, and for whom.
create table watched_wallets (
  wallet_address text not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  watch_until timestamptz not null,
  changed_at timestamptz not null,
  primary key (wallet_address, partner_id, test_mode, account_id)
);
create index watched_wallets_changed on watched_wallets (changed_at);

-- ── chains and payments ─────────────────────────────────────────────────────────────────────────────────────────────

-- A process that holds a lease does a job that only one may do; fence grows with every new holder.
create table leases (
  name text primary key,
  holder uuid not null,
  fence bigint not null,
  held_until timestamptz not null
);

create table chain_cursors (
  chain_id bigint primary key,
  fence bigint not null,
  number bigint not null, -- every block up to here was read
  hash text not null,
  block_time timestamptz not null, -- of the block at number
  head_number bigint not null, -- as last told by the provider
  final_number bigint not null, -- final for any amount
  safe_number bigint, -- of the provider's tags; null where finality goes by depth
  finalized_number bigint,
  updated_at timestamptz not null
);

-- Blocks that may still be reorganised away, to compare parents and walk back.
create table chain_blocks (
  chain_id bigint not null references chain_cursors (chain_id),
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  block_time timestamptz not null,
  primary key (chain_id, number)
);

-- Registry: each transfer to a watched wallet, bound to at most one request.
create table transfers (
  chain_id bigint not null,
  tx_hash text not null,
  ordinal int not null, -- of the log in its transaction; survives a reorganisation, unlike the index in the block
  block_number bigint not null,
  block_hash text not null,
  block_time timestamptz not null,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  value numeric(78, 0) not null check (value > 0),
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  calldata_reference bytea, -- 16 bytes carried for this very transfer, null when there are none or they are ambiguous
  request_id uuid, -- null: unmatched
  candidate_request_id uuid, -- unmatched, but seems meant for this request
  rule text check (rule in ('authorization', 'reference', 'amount', 'claim', 'merchant')),
  reason text, -- why it is unmatched, or bound but not counted
  counts boolean not null default false, -- adds to the sum that pays request_id
  judged_at timestamptz, -- null: not looked at yet
  final_at timestamptz,
  primary key (chain_id, tx_hash, ordinal),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id),
  check (not counts or request_id is not null)
);
create index transfers_block on transfers (chain_id, block_number);
create index transfers_unjudged on transfers (chain_id, block_number) where judged_at is null;
create index transfers_unsettled on transfers (chain_id, block_number) where counts and final_at is null;
create index transfers_request on transfers (partner_id, test_mode, request_id) where request_id is not null;
create index transfers_candidate on transfers (partner_id, test_mode, candidate_request_id)
  where request_id is null and candidate_request_id is not null;
create index transfers_unmatched on transfers (partner_id, test_mode, account_id, block_time) where request_id is null;

-- Alarms for the operator: opened once, closed when the trouble ends.
create table alarms (
  name text primary key,
  message text not null,
  raised_at timestamptz not null default now(),
  cleared_at timestamptz
);

-- ── webhooks ────────────────────────────────────────────────────────────────────────────────────────────────────────

create table webhook_endpoints (
  partner_id uuid not null references partners (id),
  test_mode boolean not null,
  url text,
  secret bytea not null, -- sealed
  pending_secret bytea, -- sealed; takes over when activated
  pending_since timestamptz,
  disabled_at timestamptz,
  disabled_reason text,
  failures int not null default 0, -- in a row
  last_success_at timestamptz,
  failing_since timestamptz,
  probe_at timestamptz, -- after ten failures in a row: no attempt before this, then one
  primary key (partner_id, test_mode)
);

-- An event and its delivery are one row: exactly one per request, with the exact bytes that every attempt sends.
create table webhook_deliveries (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null unique,
  request_id uuid not null,
  event text not null,
  body text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'exhausted')),
  attempts int not null default 0, -- of the current round; a replay starts a new one
  next_attempt_at timestamptz not null,
  lease uuid,
  lease_until timestamptz,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  primary key (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
create unique index webhook_deliveries_request on webhook_deliveries (partner_id, test_mode, request_id);
create index webhook_deliveries_due on webhook_deliveries (partner_id, test_mode, next_attempt_at) where state = 'waiting';
create index webhook_deliveries_log on webhook_deliveries (partner_id, test_mode, created_at);

create table webhook_attempts (
  partner_id uuid not null,
  test_mode boolean not null,
  delivery_id uuid not null,
  id uuid not null,
  url text not null,
  started_at timestamptz not null,
  duration_ms int not null,
  status_code int,
  error text, -- a word for the kind of failure; null on success
  request_headers json not null,
  response_body text, -- at most 4 KiB
  primary key (partner_id, test_mode, delivery_id, id),
  foreign key (partner_id, test_mode, delivery_id) references webhook_deliveries (partner_id, test_mode, id)
);

-- ── mail ────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table mails (
  id uuid primary key,
  recipient text not null,
  subject text not null,
  body text not null,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now()
);
create index mails_due on mails (next_attempt_at) where sent_at is null;

-- ── who may see what ────────────────────────────────────────────────────────────────────────────────────────────────

-- The scope of the transaction. Unset, it is null, and null equals nothing: rows are denied by default.
create function scope_partner() returns uuid stable language sql
  return nullif(current_setting('quittance.partner_id', true), '')::uuid;
create function scope_test_mode() returns boolean stable language sql
  return nullif(current_setting('quittance.test_mode', true), '')::boolean;

-- Steps down to the application's role within one partner and mode, until the transaction ends.
create function enter_scope(partner uuid, test boolean) returns void language plpgsql as $$
begin
  perform set_config('quittance.partner_id', partner::text, true),
          set_config('quittance.test_mode', test::text, true),
          set_config('role', 'quittance_app', true);
end $$;

do $$
declare t text;
begin
  foreach t in array array['partner_clocks', 'merchants', 'wallets', 'onboarding_nonces', 'onboarding_codes', 'requests',
    'amount_reservations', 'watched_wallets', 'transfers', 'webhook_endpoints', 'webhook_deliveries', 'webhook_attempts']
  loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = scope_test_mode())
      with check (partner_id = scope_partner() and test_mode = scope_test_mode())', t);
    execute format('grant select, insert, update, delete on %I to quittance_app', t);
  end loop;
end $$;
alter table partners enable row level security;
create policy scope on partners to quittance_app using (id = scope_partner());
grant select on partners to quittance_app;
grant select on rates, rate_overrides, chain_cursors to quittance_app;
grant insert on mails to quittance_app;

-- ── writes that must be one statement ───────────────────────────────────────────────────────────────────────────────

-- The next instant of a partner's clock. The row stays locked until commit, so take it in the statement that commits.
create function take_clock(partner uuid, test boolean) returns timestamptz language sql
begin atomic
  insert into partner_clocks as clock (partner_id, test_mode, last_at)
  values (partner, test, date_trunc('milliseconds', clock_timestamp()))
  on conflict (partner_id, test_mode) do update
    set last_at = greatest(clock.last_at + interval '1 millisecond', date_trunc('milliseconds', clock_timestamp()))
  returning last_at;
end;

-- An amount plus the smallest surcharge that nobody holds; null when all are taken. The registry spans the platform, so it
-- is read beyond the caller's scope. Among one more than are held there is a free one: no need to look further.
create function free_amount(wallet text, exact_micro numeric) returns numeric
  stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  held constant bigint := (select count(*) from amount_reservations r
    where r.wallet_address = wallet and r.usdc_micro between exact_micro and exact_micro + 9999);
begin
  return (select exact_micro + surcharge from generate_series(0, least(9999, held)) as surcharge
    where not exists (
      select from amount_reservations r where r.wallet_address = wallet and r.usdc_micro = exact_micro + surcharge)
    order by surcharge limit 1);
end $$;

-- Stores a request: scope, clock, replay, amount, row. One call, one round trip; the clock is held for this statement.
-- The clock also queues the creates of one partner and mode, so the look-ups below see everything committed before.
create function create_request(
  partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric,
  rate_used text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text, ref bytea,
  blocks jsonb, expiry interval, out stored requests, out replayed boolean
) language plpgsql as $$
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
end $$;

-- Stores a merchant, with its claim on a wallet. Returns nothing when the wallet is taken.
create function create_merchant(partner uuid, test boolean, account uuid, fields jsonb)
  returns setof merchants language plpgsql as $$
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
end $$;
