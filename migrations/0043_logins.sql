-- The service owns nothing: it logs in as two roles, one that sees one scope and proves which, and one that sees all rows.
-- Every table denies by default, to its owner, too.

do $$ begin
  if not exists (select from pg_roles where rolname = 'quittance_service') then
    create role quittance_service nologin;
  end if;
exception when duplicate_object or unique_violation then
  null; -- another database of this server was as far
end $$;

-- ── what proves a scope ─────────────────────────────────────────────────────────────────────────────────────────────

-- What a login proves its scopes by: the key of an HMAC-SHA256, as its two pads. Nobody but the owner reads it.
create table scope_keys (
  login name primary key,
  inner_pad bytea not null check (length(inner_pad) = 64),
  outer_pad bytea not null check (length(outer_pad) = 64)
);

-- The scope of the transaction, where its proof holds. Otherwise it is null, and null equals nothing: rows are denied by
-- default. Anybody may set the three settings; who does not know the key cannot make a proof for another partner or mode.
create or replace function scope_partner() returns uuid
  stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  partner constant text := current_setting('quittance.partner_id', true);
begin
  -- Hashed once more: how long the comparison takes tells nothing of the proof that is right.
  if partner <> '' and exists (
    select from scope_keys k where k.login = session_user
      and sha256(sha256(k.outer_pad || sha256(k.inner_pad
        || convert_to(partner || ' ' || current_setting('quittance.test_mode', true), 'UTF8'))))
      = sha256(decode(current_setting('quittance.proof', true), 'hex')))
  then
    return partner::uuid;
  end if;
  return null;
end $$;
-- It proves for itself: between the two a statement may have changed the settings.
create or replace function scope_test_mode() returns boolean
  stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  test constant text := current_setting('quittance.test_mode', true);
begin
  if test <> '' and exists (
    select from scope_keys k where k.login = session_user
      and sha256(sha256(k.outer_pad || sha256(k.inner_pad
        || convert_to(current_setting('quittance.partner_id', true) || ' ' || test, 'UTF8'))))
      = sha256(decode(current_setting('quittance.proof', true), 'hex')))
  then
    return test::boolean;
  end if;
  return null;
end $$;

-- Steps down into one partner and mode, until the transaction ends. The proof is the HMAC of both, in hex.
drop function enter_scope(uuid, boolean);
create function enter_scope(partner uuid, test boolean, proof text) returns void language plpgsql as $$
begin
  perform set_config('quittance.partner_id', partner::text, true),
          set_config('quittance.test_mode', test::text, true),
          set_config('quittance.proof', proof, true),
          set_config('role', 'quittance_app', true);
  if scope_partner() is null then
    raise insufficient_privilege using message = 'the proof of this scope does not hold';
  end if;
end $$;

create or replace function leave_scope() returns void language plpgsql as $$
begin
  perform set_config('role', 'none', true),
          set_config('quittance.partner_id', '', true),
          set_config('quittance.test_mode', '', true),
          set_config('quittance.proof', '', true);
end $$;

-- Before a scope is entered: settings that an earlier transaction may have left in the session are taken back. The driver
-- prepares statements by the protocol; one that was prepared by SQL stands in the place of one of ours, to be run in the next
-- scope with its proof among the parameters, so such a session ends.
create function begin_scoped() returns void set search_path = pg_catalog, pg_temp language plpgsql as $$
begin
  if exists (select from pg_prepared_statements where from_sql) then
    perform pg_terminate_backend(pg_backend_pid());
  end if;
  reset all;
end $$;

-- True in a session of the login that sees all rows, stepped down or not.
create function is_of_service() returns boolean stable language sql
  return pg_has_role(session_user, 'quittance_service', 'member');

-- ── what looks beyond its caller's rows ─────────────────────────────────────────────────────────────────────────────

-- As before. The planner is kept from the figures that tell how common a text is, from an owner of forced row-level security,
-- too: so of the next 1,000 it is looked whether reading on fills a page sooner than all that the index of words finds.
create or replace function find_merchants(pattern text, onboarded int[], by_partner int[], by_operator int[], before timestamptz,
  before_id uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp set enable_bitmapscan = on language plpgsql as $$
begin
  execute $query$
    select set_config('enable_bitmapscan',
      case when count(*) < 1000 or count(*) filter (where matched) >= $6 then 'off' else 'on' end, true)
    from (
      select lower(coalesce(m.business_name, '') || E'\n' || coalesce(m.display_name, '') || E'\n' || coalesce(m.email, ''))
        like $3 as matched
      from merchants m
      where m.partner_id = $1 and m.test_mode = $2 and ($4 is null or (m.created_at, m.id) < ($4, $5))
      order by m.created_at desc, m.id desc limit 1000) sample $query$
  using scope_partner(), scope_test_mode(), pattern, before, before_id, most;
  return query execute $query$
    select found.id from unnest($4) done cross join unnest($5) partner_off cross join unnest($6) operator_off
      cross join lateral (
        select m.id, m.created_at from merchants m
        where m.partner_id = $1 and m.test_mode = $2 and (case when m.onboarded_at is null then 0 else 1 end) = done
          and m.disabled_by_partner = (partner_off = 1) and m.disabled_by_operator = (operator_off = 1)
          and lower(coalesce(m.business_name, '') || E'\n' || coalesce(m.display_name, '') || E'\n' || coalesce(m.email, ''))
            like $3
          and ($7 is null or (m.created_at, m.id) < ($7, $8))
          and (length($3) > 4 or m.created_at >= coalesce((
            select n.created_at from merchants n where n.partner_id = $1 and n.test_mode = $2
            order by n.created_at desc offset 20000 limit 1), '-infinity'))
        order by m.created_at desc, m.id desc limit $9) found
    order by found.created_at desc, found.id desc limit $9 $query$
  using scope_partner(), scope_test_mode(), pattern, onboarded, by_partner, by_operator, before, before_id, most;
end $$;

-- As before, but a scope asks only for wallets of its own.
create or replace function free_amount(wallet text, exact_micro numeric) returns numeric
  stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  held constant bigint := (select count(*) from amount_reservations r
    where r.wallet_address = wallet and r.usdc_micro between exact_micro and exact_micro + 9999);
begin
  if not is_of_service() and not exists (select from wallets w where w.address = wallet
    and w.partner_id = (select scope_partner()) and w.test_mode = (select scope_test_mode()))
  then
    raise insufficient_privilege;
  end if;
  return (select exact_micro + surcharge from generate_series(0, least(9999, held)) as surcharge
    where not exists (
      select from amount_reservations r where r.wallet_address = wallet and r.usdc_micro = exact_micro + surcharge)
    order by surcharge limit 1);
end $$;

-- As before, but no session of a scope frees other partners' wallets.
create or replace function free_unsigned_wallet(
  wallet text, claimed_before timestamptz, spared_partner uuid, spared_test boolean,
  out partner_id uuid, out test_mode boolean, out account_id uuid, out address text
) returns setof record
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  claim wallets;
  displaced constant boolean := spared_partner is not null;
begin
  if not is_of_service() then raise insufficient_privilege; end if;
  select * into claim from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at < coalesce(claimed_before, 'infinity')
      and (w.partner_id, w.test_mode) is distinct from (spared_partner, spared_test);
  if not found then return; end if;
  -- The merchant first, then its wallet: in the order of the merchant's own signature.
  perform from merchants m
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id) for no key update;
  delete from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at = claim.claimed_at and w.account_id = claim.account_id;
  if not found then return; end if;
  update merchants m set wallet_address = null,
      displaced_wallet = case when displaced then wallet end,
      displaced_at = case when displaced then real_time() end
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id)
      and m.wallet_address = wallet and m.wallet_signed_at is null;
  partner_id := claim.partner_id;
  test_mode := claim.test_mode;
  account_id := claim.account_id;
  address := wallet;
  return next;
end $$;

-- As before, but whoever calls has entered the scope, or is of the service.
create or replace function create_request(
  partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric,
  rate_used text, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text,
  ref bytea, blocks jsonb, expiry interval, at_commit boolean, out stored requests, out replayed boolean
) language plpgsql as $$
declare
  made timestamptz;
  at timestamptz;
  free numeric;
begin
  if key is not null then
    perform pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
    select * into stored from requests
      where partner_id = partner and test_mode = test and account_id = account and idempotency_key = key;
    replayed := found;
    if replayed then return; end if;
  end if;
  replayed := false;

  perform pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));
  -- Read anew, and held until commit: what the caller knows of the merchant is from before.
  perform from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null
    for key share of w;
  if not found then return; end if;

  made := real_time();
  -- The primary key decides; losing to a row that was not visible tries the next.
  for attempt in 1..5 loop
    free := free_amount(wallet, exact_micro);
    exit when free is null;
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := null;
  end loop;

  insert into watched_wallets values (wallet, partner, test, account, made + expiry + interval '60 days', made)
    on conflict (wallet_address, partner_id, test_mode, account_id) do update
      set watch_until = excluded.watch_until, changed_at = excluded.changed_at
      where watched_wallets.watch_until < excluded.watch_until - interval '1 day';

  if at_commit then
    at := '10000-01-01Z'::timestamptz + random() * interval '100000 years'; -- its own, until the commit says which
  else
    at := take_clock(partner, test);
    made := least(at, real_time());
  end if;
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, code, coalesce(free, exact_micro), free is not null,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, made, made + expiry)
    returning * into stored;
  if at_commit then stored.created_at := made; end if;
end $$;

create or replace function create_merchant(partner uuid, test boolean, account uuid, fields jsonb)
returns setof merchants language plpgsql as $$
declare
  row merchants;
begin
  perform set_config('quittance.order_merchant', 'at commit', true);
  row := jsonb_populate_record(null::merchants, fields || jsonb_build_object('partner_id', partner, 'test_mode', test,
    'id', account, 'created_at', real_time(), 'onboarding_epoch', 0, 'disabled_by_partner', false,
    'disabled_by_operator', false));
  if row.wallet_address is not null then
    insert into wallets values (row.wallet_address, partner, test, account, row.created_at) on conflict do nothing;
    if not found then return; end if;
  end if;
  return query insert into merchants select row.* returning *;
end $$;

-- As before, but as the owner: at commit the scope may have been left. It writes the row that was inserted, and its clock.
create or replace function order_request() returns trigger
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  at timestamptz;
  made timestamptz;
begin
  at := take_clock(new.partner_id, new.test_mode);
  made := least(at, real_time());
  update requests set created_at = at, made_at = made, expires_at = expires_at + (made - made_at)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $$;

create or replace function order_merchant() returns trigger
  security definer set search_path = public, pg_temp language plpgsql as $$
begin
  update merchants set created_at = take_clock(new.partner_id, new.test_mode)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $$;
drop function enter_scope_at_commit(uuid, boolean);

-- ── who may do what ─────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare
  t text;
  p record;
  f text;
begin
  for p in select * from pg_policies where schemaname = 'public' and policyname = 'scope' loop
    -- The mode is asked once for a statement. The partner is asked as it was: every statement names its own beside it, so that
    -- both are compared once, and the planner sees how many rows it has.
    execute format('alter policy scope on %I using (%s)', p.tablename,
      replace(p.qual, 'scope_test_mode()', '(select scope_test_mode())'));
    if p.with_check is not null then
      execute format('alter policy scope on %I with check (%s)', p.tablename,
        replace(p.with_check, 'scope_test_mode()', '(select scope_test_mode())'));
    end if;
  end loop;
  for t in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' loop
    execute format('alter table %I enable row level security, force row level security', t);
    execute format('create policy owner on %I to current_user using (true) with check (true)', t);
    execute format('revoke all on %I from public', t);
    continue when t = 'scope_keys';
    execute format('create policy service on %I to quittance_service using (true) with check (true)', t);
  end loop;
  foreach t in array array['chain_blocks', 'chain_cursors', 'rates', 'rate_overrides'] loop
    execute format('create policy everybody on %I for select to quittance_app using (true)', t); -- they are no partner's
  end loop;
  -- An extension's own are left as they are.
  for f in select own.oid::regprocedure from pg_proc own where own.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d
      where d.classid = 'pg_proc'::regclass and d.objid = own.oid and d.deptype = 'e')
  loop
    execute format('revoke execute on function %s from public', f);
  end loop;
end $$;

-- A message that was used stays used: only what is long past is cleared away.
create policy used on used_wallet_messages for select to quittance_app using (true);
create policy uses on used_wallet_messages for insert to quittance_app with check (true);
create policy clears on used_wallet_messages for delete to quittance_app using (expires_at < now() - interval '29 days');

-- A mail of a request is of the scope; any other is nobody's.
drop policy queue on mails;
create policy queue on mails for insert to quittance_app with check (partner_id is null);

grant select, insert, update, delete on all tables in schema public to quittance_service;
revoke all on scope_keys from quittance_service;
revoke insert, update, delete on schema_migrations from quittance_service;
revoke update, delete on audit_log from quittance_service;
alter default privileges in schema public grant select, insert, update, delete on tables to quittance_service;

alter default privileges revoke execute on functions from public;
grant execute on function analyze_grown() to quittance_service;
grant execute on function begin_scoped() to quittance_app;
grant execute on function scope_partner(), scope_test_mode(), enter_scope, leave_scope, is_of_service, real_time, take_clock,
  metadata_token, metadata_tokens, wallet_chains, queue_receipts, find_merchants, find_by_metadata, free_amount,
  free_unsigned_wallet, create_request, create_merchant to quittance_app, quittance_service;

revoke create on schema public from public;
