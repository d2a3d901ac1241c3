-- Stores a request in the statement that also reads the key and counts the call, where everything is as the caller
-- assumes from an earlier create: the merchant can be paid at this wallet, in this currency, at this rate. Otherwise, and
-- where the key was used before or no amount is free, nothing is stored and nothing is returned: the caller reads anew and
-- decides. `rate_at`: when the rate was fetched; null for an override. `chains`: those of the mode.
create function create_as_assumed(
  allowed boolean, partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text,
  exact_micro numeric, rate_used text, rate_at timestamptz, rate_from text, memo_text text, mode text, name text, mail text,
  phone text, meta json, wallet text, paid_on int[], ref bytea, chains bigint[], expiry interval
) returns requests language plpgsql as $$
declare
  made timestamptz;
  at timestamptz;
  watched timestamptz;
  blocks jsonb;
  free numeric := exact_micro;
  stored requests;
begin
  if allowed is not true then return null; end if;
  -- As create_request locks, in the same order: it looks for the key before it stores.
  if key is not null then
    perform pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
  end if;
  perform pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));
  -- Held until commit, so that the wallet stays the merchant's.
  perform from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
      left join rates r on r.code = m.display_currency
      left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null and m.wallet_chain_ids is not distinct from paid_on
      and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = create_as_assumed.code
      and coalesce(o.rate, r.rate) = rate_used and (o.rate is not null) = (rate_from = 'override')
      and (o.rate is not null or r.fetched_at = rate_at)
    for key share of w;
  if not found then return null; end if;

  made := real_time();
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    if free is null then return null; end if;
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

  select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
      coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}')) into blocks
    from chain_cursors c where c.chain_id = any(chains)
      and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds';

  at := take_clock(partner, test);
  made := least(at, real_time());
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, create_as_assumed.code, free, true,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, made, made + expiry)
    on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing
    returning * into stored;
  if not found then
    delete from amount_reservations where wallet_address = wallet and usdc_micro = free;
    return null;
  end if;
  return stored;
end $$;
grant execute on function create_as_assumed to quittance_service;
