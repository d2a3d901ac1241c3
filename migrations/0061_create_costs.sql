-- What a create costs. A plan for a merchant's requests multiplied the shares of its partner and of itself, took every
-- index that begins with them for exact, and read all requests of the merchant to find a repeated key.
create statistics requests_owners (dependencies, ndistinct) on partner_id, test_mode, account_id from requests;

-- Values of requests' metadata by which support looks for them, written by a loop soon after the create.
create table metadata_values (
  partner_id uuid not null,
  test_mode boolean not null,
  token bigint not null,
  request_id uuid not null,
  primary key (partner_id, test_mode, token, request_id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
-- Up to where in the order of a scope's requests that was done.
create table metadata_indexed (
  partner_id uuid not null,
  test_mode boolean not null,
  up_to timestamptz not null,
  primary key (partner_id, test_mode),
  foreign key (partner_id, test_mode) references partner_clocks (partner_id, test_mode)
);
do $$ declare t text; begin
  foreach t in array array['metadata_values', 'metadata_indexed'] loop
    execute format('alter table %I enable row level security, force row level security', t);
    execute format('create policy owner on %I to current_user using (true) with check (true)', t);
    execute format('create policy service on %I to quittance_service using (true) with check (true)', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
      with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()))', t);
    execute format('grant select on %I to quittance_app', t);
    execute format('grant select, insert, update, delete on %I to quittance_service', t);
  end loop;
end $$;

-- The newest requests that have a value in their metadata, whatever its case.
create or replace function find_by_value(wanted text, account uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language sql
begin atomic
  select r.id from metadata_values v
    join requests r on (r.partner_id, r.test_mode, r.id) = (v.partner_id, v.test_mode, v.request_id)
  where v.partner_id = scope_partner() and v.test_mode = scope_test_mode()
    and v.token = metadata_token(scope_partner(), scope_test_mode(), lower(wanted))
    and exists (select from json_each_text(r.metadata) e where lower(e.value) = lower(wanted))
    and (account is null or r.account_id = account)
  order by r.created_at desc limit most;
end;

-- As before, with the exact amount tried before a free one is looked for, and without locking the row of a watched
-- wallet that is watched for long enough.
create or replace function create_request(
  partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric,
  rate_used text, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text,
  ref bytea, blocks jsonb, expiry interval, at_commit boolean, out stored requests, out replayed boolean
) language plpgsql as $$
declare
  made timestamptz;
  at timestamptz;
  free numeric := exact_micro;
  watched timestamptz;
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
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    exit when free is null;
  end loop;

  watched := made + expiry + interval '60 days';
  perform from watched_wallets w where w.wallet_address = wallet and w.partner_id = partner and w.test_mode = test
    and w.account_id = account and w.watch_until >= watched - interval '1 day';
  if not found then
    insert into watched_wallets values (wallet, partner, test, account, watched, made)
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

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
