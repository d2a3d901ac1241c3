-- A create costs less. Each statement that writes a request parsed nine checks anew, a seventh of what a create costs.
-- One function, which a session parses once, checks the same.
create function request_is_sound(
  status text, proof_status text, proof_verified_at timestamptz, tx_hash text, payer_address text, voided_at timestamptz,
  fiat_int bigint, usdc_micro numeric, payment_mode text, reference bytea
) returns boolean immutable parallel safe language plpgsql as $$
begin
  return status in ('requested', 'opened', 'expired', 'voided') and proof_status in ('none', 'attached', 'verified')
    and (proof_status = 'verified') = (proof_verified_at is not null)
    and (proof_status <> 'verified' or (tx_hash is not null and payer_address is not null))
    and (status <> 'voided' or voided_at is not null)
    and fiat_int between 1 and 2147483647 and usdc_micro > 0
    and payment_mode in ('pos', 'invoice') and length(reference) = 16;
end $$;
grant execute on function request_is_sound to quittance_app, quittance_service;
-- Validated by the next migration: that reads the whole table, and this one holds a lock.
alter table requests add constraint requests_sound check (request_is_sound(status, proof_status, proof_verified_at,
  tx_hash, payer_address, voided_at, fiat_int, usdc_micro, payment_mode, reference)) not valid;
alter table requests drop constraint requests_check, drop constraint requests_check1, drop constraint requests_check2,
  drop constraint requests_fiat_int_check, drop constraint requests_payment_mode_check,
  drop constraint requests_proof_status_check, drop constraint requests_reference_check,
  drop constraint requests_status_check, drop constraint requests_usdc_micro_check;

-- Who has just compared where the wallet can be paid says so: `{}` for any chain. Otherwise it is looked up, as before.
create or replace function copy_wallet_chains() returns trigger language plpgsql as $$
begin
  if new.wallet_chain_ids is null then
    select wallet_chains(m, new.wallet_address) into new.wallet_chain_ids from merchants m
      where m.partner_id = new.partner_id and m.test_mode = new.test_mode and m.id = new.account_id;
  elsif new.wallet_chain_ids = '{}' then
    new.wallet_chain_ids := null;
  end if;
  return new;
end $$;

-- As `create_as_assumed`, which earlier versions call, in fewer statements. It returns only what the caller cannot know;
-- all is null where nothing was stored.
create function store_as_assumed(
  allowed boolean, partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text,
  exact_micro numeric, rate_used text, rate_at timestamptz, rate_from text, memo_text text, mode text, name text, mail text,
  phone text, meta json, wallet text, paid_on int[], ref bytea, chains bigint[], expiry interval,
  out id uuid, out usdc_micro numeric, out created_at timestamptz, out expires_at timestamptz
) language plpgsql as $$
declare
  made timestamptz;
  at timestamptz;
  watch_to timestamptz;
  locked text; -- nothing: assigned, since `perform` would cost as much as any statement
  watched boolean;
  blocks jsonb;
  free numeric := exact_micro;
begin
  if allowed is not true then return; end if;
  -- As create_request locks, in the same order: it looks for the key before it stores.
  if key is not null then
    locked := pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
  end if;
  locked := pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));

  watch_to := real_time() + expiry + interval '59 days';
  -- Held until commit, so that the wallet stays the merchant's.
  select
      exists (select from watched_wallets s where s.wallet_address = wallet and s.partner_id = partner
        and s.test_mode = test and s.account_id = account and s.watch_until >= watch_to),
      (select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
          coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}'))
        from chain_cursors c where c.chain_id = any(chains)
          and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds')
    into watched, blocks
    from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
      left join rates r on r.code = m.display_currency
      left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null and m.wallet_chain_ids is not distinct from paid_on
      and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = store_as_assumed.code
      and coalesce(o.rate, r.rate) = rate_used and (o.rate is not null) = (rate_from = 'override')
      and (o.rate is not null or r.fetched_at = rate_at)
    for key share of w;
  if not found then return; end if;

  made := real_time();
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    if free is null then return; end if;
  end loop;

  if not watched then
    insert into watched_wallets values (wallet, partner, test, account, made + expiry + interval '60 days', made)
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  insert into partner_clocks as clock (partner_id, test_mode, last_at) values (partner, test, real_time())
    on conflict (partner_id, test_mode) do update set last_at = greatest(clock.last_at + interval '1 ms', real_time())
    returning clock.last_at into at;
  made := least(at, real_time());
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, wallet_chain_ids, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, store_as_assumed.code, free, true,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet,
      ref, blocks, coalesce(paid_on, '{}'), at, made, made + expiry)
    on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing;
  if not found then
    delete from amount_reservations a where a.wallet_address = wallet and a.usdc_micro = free;
    return;
  end if;
  id := request;
  usdc_micro := free;
  created_at := at;
  expires_at := made + expiry;
end $$;
grant execute on function store_as_assumed to quittance_service;
