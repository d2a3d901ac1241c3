-- An index for each filter that lists offer, so that none goes through a partner for a few rows. A filter of several states is
-- read as one branch for each, so each of these holds states first and then the order of its list.

create index requests_states on requests (partner_id, test_mode, status, proof_status, created_at);
create index requests_account_states on requests (partner_id, test_mode, account_id, status, proof_status, created_at);

create index merchants_states on merchants (partner_id, test_mode, (case when onboarded_at is null then 0 else 1 end),
  disabled_by_partner, disabled_by_operator, created_at, id);
-- For operators, over all partners.
create index merchants_all_states on merchants (test_mode, (case when onboarded_at is null then 0 else 1 end),
  disabled_by_partner, disabled_by_operator, created_at, id);
create index merchants_terms_states on merchants (terms_version, test_mode,
  (case when onboarded_at is null then 0 else 1 end), disabled_by_partner, disabled_by_operator, created_at, id)
  where terms_version is not null;

create index webhook_deliveries_states on webhook_deliveries
  (partner_id, test_mode, state, (case when attempts > 0 then 1 else 0 end), created_at, id);

create index transfers_unmatched_reasons on transfers
  (partner_id, test_mode, (case when reason is null then 'no_match' else reason end), block_time, chain_id, tx_hash, ordinal)
  where request_id is null and judged_at is not null;
create index transfers_unmatched_account on transfers
  (partner_id, test_mode, account_id, (case when reason is null then 'no_match' else reason end), block_time, chain_id, tx_hash, ordinal)
  where request_id is null and judged_at is not null;

-- The newest of a payer are looked for.
drop index transfers_from;
create index transfers_from on transfers (partner_id, test_mode, from_address, block_time);

create index transfers_strays on transfers (partner_id, test_mode, reason, candidate_request_id)
  where request_id is null and judged_at is not null and candidate_request_id is not null;

-- The log is listed by time, as it is filtered by time.
create index audit_log_list on audit_log (partner_id, at, number);
create index audit_log_actions on audit_log (partner_id, action, at, number);
create index audit_log_actors on audit_log (partner_id, actor_name, at, number);
create index audit_log_actions_of on audit_log (partner_id, actor_name, action, at, number);

create index users_states on users ((case when disabled_at is null then 0 else 1 end), email, id);
create index users_partner_states on users (partner_id, (case when disabled_at is null then 0 else 1 end), email, id);
create index plans_states on plans (partner_id, test_mode, account_id, state, created_at, id);
create index receipts_given_up on receipts (created_at, request_id) where done_at is null and next_attempt_at = 'infinity';

-- ── parts of names and addresses ────────────────────────────────────────────────────────────────────────────────────

create extension if not exists pg_trgm;
create index merchants_words on merchants using gin
  (lower(coalesce(business_name, '') || E'\n' || coalesce(display_name, '') || E'\n' || coalesce(email, '')) gin_trgm_ops);
create index users_words on users using gin (email gin_trgm_ops);

-- Merchants of the transaction's scope, in any of some states, whose name or address is like a pattern; newest first. It runs
-- as the owner, because the index cannot be used under row-level security, and is planned anew for each pattern. A pattern too
-- short for the index is looked for in the newest 20,000.
create function find_merchants(pattern text, onboarded int[], by_partner int[], by_operator int[], before timestamptz,
  before_id uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language plpgsql as $$
begin
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

-- ── requests that more came for than was asked ──────────────────────────────────────────────────────────────────────

-- Part of it may have been given back since: whoever lists them looks.
create table overpaid_requests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  primary key (partner_id, test_mode, request_id),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
alter table overpaid_requests enable row level security;
create policy scope on overpaid_requests to quittance_app
  using (partner_id = scope_partner() and test_mode = scope_test_mode())
  with check (partner_id = scope_partner() and test_mode = scope_test_mode());
grant select on overpaid_requests to quittance_app;

create function note_overpaid() returns trigger
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  touched uuid;
  at transfers := coalesce(new, old);
begin
  foreach touched in array array[new.request_id, old.request_id] loop
    continue when touched is null;
    if (select sum(t.value) from transfers t
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
create constraint trigger transfers_note_overpaid
  after insert or delete or update of request_id, counts on transfers
  deferrable initially deferred for each row execute function note_overpaid();
insert into overpaid_requests
  select r.partner_id, r.test_mode, r.id from requests r join transfers t
    on (t.partner_id, t.test_mode, t.request_id) = (r.partner_id, r.test_mode, r.id)
  where t.counts group by r.partner_id, r.test_mode, r.id having sum(t.value) > r.usdc_micro;
