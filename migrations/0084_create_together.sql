-- Creates of the same moment are stored together: one statement, one transaction and one wait for the disk for several.
-- Each by itself is stored as `store_as_assumed` does it, or not at all, whatever becomes of the others. They are of one
-- mode and each of another partner, so none waits for another's clock, key or wallet. `good`: the places, from 1, of
-- those that may be stored. `paid_on`: null for any chain. Returns those that were stored.
--
-- It runs as its caller, the service, which sees all partners: nobody else may call it, as with `store_as_assumed`. Each
-- row is its own partner's: the wallet, the merchant, the reservation, the clock and the request are all found by the
-- partner at the same place, and the gate's statement has compared that partner with the key of the call.
create function store_together(
  good int[], test boolean, partners uuid[], ids uuid[], accounts uuid[], keys text[], fiats bigint[], codes text[],
  exact_micros numeric[], rates_used text[], rates_at timestamptz[], rates_from text[], memos text[], modes text[],
  names text[], mails text[], phones text[], metas json[], wallets text[], paid_on text[], refs bytea[],
  chains bigint[], expiries interval[]
) returns table (partner uuid, id uuid, usdc_micro numeric, created_at timestamptz, expires_at timestamptz)
language plpgsql as $$
#variable_conflict use_column
declare
  locked bigint; -- nothing: assigned, since `perform` would cost as much
  free numeric[];
  watch int[];
  blocks jsonb;
  made timestamptz;
  count bigint;
  setting text;
begin
  -- As store_as_assumed locks, in the same order, and each kind of lock in one order over all nodes.
  select count(pg_advisory_xact_lock(hashtext('request key'), k.hash)) into locked from (
    select hashtext(concat(i.partner, test, i.account, i.key)) as hash
    from unnest(partners, accounts, keys) with ordinality as i(partner, account, key, place)
    where i.place = any(good) and i.key is not null order by 1) k;
  select count(pg_advisory_xact_lock(hashtext('request wallet'), w.hash)) into locked from (
    select hashtext(i.wallet) as hash from unnest(wallets) with ordinality as i(wallet, place)
    where i.place = any(good) order by 1) w;

  made := real_time();
  -- Held until commit, so that each wallet stays its merchant's.
  select array_agg(s.place), array_agg(s.free),
      array_agg(s.place) filter (where s.watch_until is null or s.watch_until < made + s.expiry + interval '59 days')
    into good, free, watch from (
      select i.place, i.expiry, s.watch_until,
        case when a.wallet_address is null then i.micro else free_amount(i.wallet, i.micro) end as free
      from unnest(partners, accounts, wallets, exact_micros, paid_on, codes, rates_used, rates_from, rates_at, expiries)
          with ordinality as i(partner, account, wallet, micro, chains, code, rate, rate_from, rate_at, expiry, place)
        join wallets w on w.address = i.wallet
        join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
        left join rates r on r.code = m.display_currency
        left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
        left join watched_wallets s on (s.wallet_address, s.partner_id, s.test_mode, s.account_id)
          = (i.wallet, i.partner, test, i.account)
        left join amount_reservations a on (a.wallet_address, a.usdc_micro) = (i.wallet, i.micro)
      where i.place = any(good) and m.partner_id = i.partner and m.test_mode = test and m.id = i.account
        and m.wallet_address = i.wallet and m.onboarded_at is not null
        and m.wallet_chain_ids is not distinct from i.chains::int[]
        and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = i.code
        and coalesce(o.rate, r.rate) = i.rate and (o.rate is not null) = (i.rate_from = 'override')
        and (o.rate is not null or r.fetched_at = i.rate_at)
      for key share of w) s;
  select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
      coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}')) into blocks
    from chain_cursors c where c.chain_id = any(chains)
      and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds';
  if watch is not null then
    insert into watched_wallets
      select i.wallet, i.partner, test, i.account, made + i.expiry + interval '60 days', made
      from unnest(wallets, partners, accounts, expiries) with ordinality as i(wallet, partner, account, expiry, place)
      where i.place = any(watch) order by 1, 2, 4
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  return query with item as materialized (
      select i.*, f.free
      from unnest(good, free) as f(place, free) join
        unnest(partners, ids, accounts, keys, fiats, codes, rates_used, rates_from, memos, modes, names, mails, phones,
          metas, wallets, paid_on, refs, expiries)
          with ordinality as i(partner, id, account, key, fiat, code, rate, rate_from, memo, mode, name, mail, phone,
            meta, wallet, paid_on, ref, expiry, place) on i.place = f.place
      where f.free is not null
    ), reserved as (
      insert into amount_reservations
        select i.wallet, i.free, i.partner, test, i.id, made, made + i.expiry + interval '24 hours' from item i
        order by 1, 2
        on conflict do nothing returning partner_id
    ), clocks as (
      insert into partner_clocks as clock (partner_id, test_mode, last_at)
        select partner_id, test, real_time() from reserved order by 1
        on conflict (partner_id, test_mode) do update set last_at = greatest(clock.last_at + interval '1 ms', real_time())
        returning clock.partner_id, clock.last_at
    ), stored as (
      insert into requests as q (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro,
          reserved, rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata,
          wallet_address, reference, start_blocks, wallet_chain_ids, created_at, made_at, expires_at)
        select i.partner, test, i.id, i.account, i.key, i.fiat, i.code, i.free, true,
          i.rate, i.rate_from, i.memo, i.mode, i.name, i.mail, i.phone, i.meta,
          i.wallet, i.ref, blocks, coalesce(i.paid_on::int[], '{}'), c.at, c.made, c.made + i.expiry
        from item i join (
          select partner_id, last_at as at, least(last_at, real_time()) as made from clocks) c on c.partner_id = i.partner
        on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing
        returning q.partner_id, q.id, q.usdc_micro, q.created_at, q.expires_at
    )
    select * from stored;
  get diagnostics count = row_count;
  if count = 0 then
    -- Nothing that must survive a power failure.
    setting := set_config('synchronous_commit', 'off', true);
  end if;
  if count < cardinality(good) then
    -- Its own alone: the same amount may be somebody else's by now.
    delete from amount_reservations a
      using unnest(good, free) as f(place, free) join unnest(partners, ids, wallets)
        with ordinality as i(partner, id, wallet, place) on i.place = f.place
      where a.wallet_address = i.wallet and a.usdc_micro = f.free and a.request_id = i.id
        and not exists (select from requests r where r.partner_id = i.partner and r.test_mode = test and r.id = i.id);
  end if;
end $$;
grant execute on function store_together to quittance_service;
