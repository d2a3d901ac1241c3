-- What support types, of one merchant where one is named. These run as the owner, because their indexes cannot be used under
-- row-level security, and look at the transaction's scope only. `find_by_metadata` stays for the previous version.

-- The newest requests that have a value in their metadata: as typed, in small or in capital letters, or capitalised. The index
-- holds values as they were given, so other spellings are not in it.
create function find_by_value(wanted text, account uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language sql
begin atomic
  select r.id from requests r
  where r.metadata::text <> '{}' and r.partner_id = scope_partner() and r.test_mode = scope_test_mode()
    and metadata_tokens(r.partner_id, r.test_mode, r.metadata)
      && array(select metadata_token(scope_partner(), scope_test_mode(), w)
        from unnest(array[wanted, lower(wanted), upper(wanted), initcap(wanted)]) w)
    and exists (select from json_each_text(r.metadata) e where lower(e.value) = lower(wanted))
    and (account is null or r.account_id = account)
  order by r.created_at desc limit most;
end;

-- The newest requests of a customer's e-mail address. None where more than 5,000 have it, of whichever partner: that many are
-- no customer's, and the newest are found without an index.
create function find_by_email(wanted text, account uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language sql
begin atomic
  select r.id from (
    select id, partner_id, test_mode, account_id, created_at, count(*) over () as many from (
      select * from requests where customer_email is not null and lower(customer_email) = lower(wanted) limit 5001) any_scope) r
  where r.many <= 5000 and r.partner_id = scope_partner() and r.test_mode = scope_test_mode()
    and (account is null or r.account_id = account)
  order by r.created_at desc limit most;
end;

grant execute on function find_by_value, find_by_email to quittance_app, quittance_service;
