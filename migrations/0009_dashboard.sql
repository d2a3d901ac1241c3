-- What merchants see of their payments: where the rate came from, sums by day, and what was given back.

alter table requests add column rate_source text; -- 'override', or the names of the sources behind the rate; null: not kept then

-- Payments that were verified, by merchant and time: sums come from the index alone.
create index requests_account_paid on requests (partner_id, test_mode, account_id, proof_verified_at)
  include (fiat_code, fiat_int, usdc_micro) where proof_status = 'verified';
-- Whom a wallet has paid among the merchants of a partner.
create index transfers_from on transfers (partner_id, test_mode, from_address);

-- Money that a merchant sent back: one row for each transfer that was not wanted, or not wholly. The transfer itself may
-- vanish in a reorganisation; what the merchant did stays.
create table returns (
  partner_id uuid not null,
  test_mode boolean not null,
  chain_id bigint not null,
  tx_hash text not null,
  ordinal int not null,
  account_id uuid not null,
  request_id uuid, -- of an overpayment
  to_address text not null,
  usdc_micro numeric(40, 0) not null check (usdc_micro > 0),
  return_tx_hash text not null check (return_tx_hash ~ '^0x[0-9a-f]{64}$'),
  noted_at timestamptz not null,
  primary key (partner_id, test_mode, chain_id, tx_hash, ordinal),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
-- One transaction gives back one payment.
create unique index returns_transaction on returns (partner_id, test_mode, chain_id, return_tx_hash);

alter table returns enable row level security;
create policy scope on returns to quittance_app
  using (partner_id = scope_partner() and test_mode = scope_test_mode())
  with check (partner_id = scope_partner() and test_mode = scope_test_mode());
grant select, insert on returns to quittance_app;

-- Merchants act in their dashboard, too.
alter table audit_log
  drop constraint audit_log_actor_kind_check,
  add constraint audit_log_actor_kind_check
    check (actor_kind in ('partner_user', 'operator', 'api_key', 'command_line', 'merchant'));

-- As before, and it keeps where the rate came from.
drop function create_request(uuid, boolean, uuid, uuid, text, bigint, text, numeric, text, text, text, text, text, text, json,
  text, bytea, jsonb, interval);
create function create_request(
  partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric,
  rate_used text, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text,
  ref bytea, blocks jsonb, expiry interval, out stored requests, out replayed boolean
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
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, created_at, expires_at)
    values (partner, test, request, account, key, fiat, code, coalesce(free, exact_micro), free is not null,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, at + expiry)
    returning * into stored;
end $$;
