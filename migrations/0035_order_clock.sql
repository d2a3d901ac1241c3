-- The clock that orders is not the clock that expires: it never goes back, so after one jump it runs ahead of real time.
-- What lasts for some time is counted from here; null on requests from before it was kept.
alter table requests add column made_at timestamptz;

-- The database's real time, in the whole milliseconds that clients see.
create function real_time() returns timestamptz language sql
  return date_trunc('milliseconds', clock_timestamp());

-- As before, but the clock is taken last: nothing waits for anything while it is held. Inside a transaction that does more,
-- it is taken by the commit itself. Who creates with the same key, or for the same wallet, waits before that.
drop function create_request(uuid, boolean, uuid, uuid, text, bigint, text, numeric, text, text, text, text, text, text, text,
  json, text, bytea, jsonb, interval);
create function create_request(
  partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric,
  rate_used text, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text,
  ref bytea, blocks jsonb, expiry interval, at_commit boolean, out stored requests, out replayed boolean
) language plpgsql as $$
declare
  made timestamptz;
  at timestamptz;
  free numeric;
begin
  perform enter_scope(partner, test);
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

-- At commit: newer servers run what waited for it under the role that it was written with, and let nobody change that.
create function enter_scope_at_commit(partner uuid, test boolean) returns void language plpgsql as $$
begin
  if current_user <> 'quittance_app' then
    perform enter_scope(partner, test);
  else
    perform set_config('quittance.partner_id', partner::text, true), set_config('quittance.test_mode', test::text, true);
  end if;
end $$;

create function order_request() returns trigger language plpgsql as $$
declare
  at timestamptz;
  made timestamptz;
begin
  perform enter_scope_at_commit(new.partner_id, new.test_mode);
  at := take_clock(new.partner_id, new.test_mode);
  made := least(at, real_time());
  update requests set created_at = at, made_at = made, expires_at = expires_at + (made - made_at)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $$;
create constraint trigger requests_order after insert on requests deferrable initially deferred
  for each row when (new.created_at >= '10000-01-01Z') execute function order_request();

-- As before, but the commit says when: until then the row has the real time.
create or replace function create_merchant(partner uuid, test boolean, account uuid, fields jsonb)
returns setof merchants language plpgsql as $$
declare
  row merchants;
begin
  perform enter_scope(partner, test);
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

create function order_merchant() returns trigger language plpgsql as $$
begin
  perform enter_scope_at_commit(new.partner_id, new.test_mode);
  update merchants set created_at = take_clock(new.partner_id, new.test_mode)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $$;
create constraint trigger merchants_order after insert on merchants deferrable initially deferred
  for each row when (current_setting('quittance.order_merchant', true) = 'at commit') execute function order_merchant();
