-- What partners look for in their pages: searches, what needs attention, figures, and news of deliveries.

-- Money that pays nothing, over all merchants of a partner.
create index transfers_unmatched_list on transfers (partner_id, test_mode, block_time, chain_id, tx_hash, ordinal)
  where request_id is null and judged_at is not null;
-- Volume by day comes from the index alone.
create index requests_verified on requests (partner_id, test_mode, proof_verified_at) include (fiat_code, fiat_int)
  where proof_status = 'verified';
create index webhook_deliveries_exhausted on webhook_deliveries (partner_id, test_mode, created_at)
  where state = 'exhausted';

-- ── search by a value of the metadata ───────────────────────────────────────────────────────────────────────────────

create function metadata_token(partner uuid, test boolean, value text) returns bigint
  immutable parallel safe language sql
  return hashtextextended(partner::text || test::text || value, 0);
-- One number for each value: a small index, and one that a partner's values share with nobody else's.
create function metadata_tokens(partner uuid, test boolean, metadata json) returns bigint[]
  immutable parallel safe language sql
  return (select array_agg(metadata_token(partner, test, e.value)) from json_each_text(metadata) e);
create index requests_metadata on requests using gin (metadata_tokens(partner_id, test_mode, metadata))
  where metadata::text <> '{}';

-- The newest requests of the transaction's scope that have a value in their metadata. It runs as the owner, because the
-- index cannot be used under row-level security.
create function find_by_metadata(wanted text, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language sql
begin atomic
  select r.id from requests r
  where r.metadata::text <> '{}' and r.partner_id = scope_partner() and r.test_mode = scope_test_mode()
    and metadata_tokens(r.partner_id, r.test_mode, r.metadata)
      @> array[metadata_token(scope_partner(), scope_test_mode(), wanted)]
    and exists (select from json_each_text(r.metadata) e where e.value = wanted)
  order by r.created_at desc limit most;
end;

-- ── requests that were paid in part ─────────────────────────────────────────────────────────────────────────────────

create table underpaid_requests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  primary key (partner_id, test_mode, request_id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);

-- At commit, when transfer and request are both what they will be: a payment in full leaves no trace here.
create function note_underpaid() returns trigger
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  touched uuid;
  at transfers := coalesce(new, old);
begin
  foreach touched in array array[new.request_id, old.request_id] loop
    continue when touched is null;
    if exists (select from requests r
        where (r.partner_id, r.test_mode, r.id) = (at.partner_id, at.test_mode, touched) and r.proof_status = 'none')
      and exists (select from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (at.partner_id, at.test_mode, touched) and t.counts)
    then
      insert into underpaid_requests values (at.partner_id, at.test_mode, touched) on conflict do nothing;
    else
      delete from underpaid_requests u
        where (u.partner_id, u.test_mode, u.request_id) = (at.partner_id, at.test_mode, touched);
    end if;
  end loop;
  return null;
end $$;
create constraint trigger transfers_note_underpaid
  after insert or delete or update of request_id, counts on transfers
  deferrable initially deferred for each row execute function note_underpaid();
insert into underpaid_requests
  select distinct t.partner_id, t.test_mode, t.request_id from transfers t
    join requests r on (r.partner_id, r.test_mode, r.id) = (t.partner_id, t.test_mode, t.request_id)
  where t.counts and r.proof_status = 'none';

-- ── creates that were repeated with other values ────────────────────────────────────────────────────────────────────

create table differing_replays (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  times int not null,
  last_at timestamptz not null,
  last_fields text[] not null, -- names only: what was sent is kept nowhere
  primary key (partner_id, test_mode, request_id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
create index differing_replays_list on differing_replays (partner_id, test_mode, last_at);

do $$
declare t text;
begin
  foreach t in array array['underpaid_requests', 'differing_replays'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = scope_test_mode())
      with check (partner_id = scope_partner() and test_mode = scope_test_mode())', t);
    execute format('grant select, insert, update, delete on %I to quittance_app', t);
  end loop;
end $$;

-- ── news of deliveries ──────────────────────────────────────────────────────────────────────────────────────────────

-- Attempts are recorded in batches: each request is told of once.
create function tell_attempts() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('request %s %s %s %s', r.id, r.account_id, r.partner_id, r.test_mode))
    from (select distinct partner_id, test_mode, delivery_id from made) m
      join webhook_deliveries d on (d.partner_id, d.test_mode, d.id) = (m.partner_id, m.test_mode, m.delivery_id)
      join requests r on (r.partner_id, r.test_mode, r.id) = (d.partner_id, d.test_mode, d.request_id);
  return null;
end $$;
create trigger webhook_attempts_tell after insert on webhook_attempts
  referencing new table as made for each statement execute function tell_attempts();
