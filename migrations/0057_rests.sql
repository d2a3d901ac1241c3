-- After a partial payment the rest is due. An amount is reserved for it as for the whole amount, in the same registry,
-- so that a transfer of it is recognised and nobody else's is mistaken for it. Its row there names no request: this table
-- does, with the rest for which the amount is and the newest blocks known when it was reserved.
alter table amount_reservations alter column request_id drop not null;

create table reserved_rests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  rest_micro numeric(40) not null check (rest_micro > 0),
  wallet_address text not null,
  usdc_micro numeric(40) not null,
  start_blocks jsonb not null,
  primary key (partner_id, test_mode, request_id, rest_micro),
  unique (wallet_address, usdc_micro),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id),
  foreign key (wallet_address, usdc_micro) references amount_reservations (wallet_address, usdc_micro) on delete cascade
);
alter table reserved_rests enable row level security, force row level security;
create policy owner on reserved_rests to current_user using (true) with check (true);
create policy service on reserved_rests to quittance_service using (true) with check (true);
create policy scope on reserved_rests to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
grant select, insert, delete on reserved_rests to quittance_app, quittance_service;

-- Reserves an amount for the rest of a request, whose row the caller has locked: the rest exactly if it is free,
-- otherwise with the smallest free surcharge below one cent. Returns it, or what was reserved for the same rest before;
-- null where no amount is free, the request is over, its wallet has left the partner, or ten rests are reserved already.
create function reserve_rest(partner uuid, test boolean, request uuid, exact_micro numeric, fresh interval)
returns numeric language plpgsql as $$
declare
  at constant timestamptz := real_time();
  owed requests;
  until timestamptz;
  free numeric;
begin
  select s.usdc_micro into free from reserved_rests s
    where s.partner_id = partner and s.test_mode = test and s.request_id = request and s.rest_micro = exact_micro;
  if found then return free; end if;
  select * into owed from requests r where r.partner_id = partner and r.test_mode = test and r.id = request;
  until := owed.expires_at + interval '24 hours';
  if owed.status = 'voided' or until <= at
    or not exists (select from wallets w
      where w.address = owed.wallet_address and w.partner_id = partner and w.test_mode = test)
    or (select count(*) from reserved_rests s
      where s.partner_id = partner and s.test_mode = test and s.request_id = request) >= 10
  then
    return null;
  end if;
  -- The primary key decides; losing to a row that was not visible tries the next.
  for attempt in 1..5 loop
    free := free_amount(owed.wallet_address, exact_micro);
    exit when free is null;
    insert into amount_reservations values (owed.wallet_address, free, partner, test, null, at, until)
      on conflict do nothing;
    exit when found;
    free := null;
  end loop;
  if free is not null then
    insert into reserved_rests values (partner, test, request, exact_micro, owed.wallet_address, free, (
      select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
        coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}'))
      from chain_cursors c where c.block_time between at - fresh and at + fresh));
  end if;
  return free;
end $$;
grant execute on function reserve_rest to quittance_app, quittance_service;

-- The amounts of a request's rests are freed with its own, whoever moves the time of that.
create function free_rests_later() returns trigger language plpgsql as $$
begin
  update amount_reservations a set reserved_until = new.reserved_until
    from reserved_rests s
    where s.partner_id = new.partner_id and s.test_mode = new.test_mode and s.request_id = new.request_id
      and a.wallet_address = s.wallet_address and a.usdc_micro = s.usdc_micro;
  return null;
end $$;
create trigger amount_reservations_rests after update of reserved_until on amount_reservations
  for each row when (new.request_id is not null) execute function free_rests_later();

-- The surcharge by which a rest is told apart is no overpayment: it stays below one cent.
create or replace function note_overpaid() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  touched uuid;
  at transfers := coalesce(new, old);
begin
  foreach touched in array array[new.request_id, old.request_id] loop
    continue when touched is null;
    if (select sum(t.value) - case when count(*) > 1 then 9999 else 0 end from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (at.partner_id, at.test_mode, touched) and t.counts)
      > (select r.usdc_micro from requests r where (r.partner_id, r.test_mode, r.id) = (at.partner_id, at.test_mode, touched))
    then
      insert into overpaid_requests values (at.partner_id, at.test_mode, touched) on conflict do nothing;
    else
      delete from overpaid_requests o
        where (o.partner_id, o.test_mode, o.request_id) = (at.partner_id, at.test_mode, touched);
    end if;
  end loop;
  return null;
end $$;
