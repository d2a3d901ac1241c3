-- Without a transaction.
-- What a search by a customer's e-mail address finds must not depend on the requests of others, or it tells how often another
-- partner's or merchant's requests have that address. The index serves look-ups over all partners as the former one did.
drop index concurrently if exists requests_email;
create index concurrently requests_email on requests
  (lower(customer_email), partner_id, test_mode, account_id, created_at) where customer_email is not null;
drop index concurrently if exists requests_customer_email;

-- The newest requests of a customer's e-mail address, of one merchant where one is named. Of a whole scope, none where more than
-- 5,000 have it: that many are no customer's, and the newest are found without an index. `find_by_email` stays for the previous
-- version.
create or replace function find_by_email_in_scope(wanted text, account uuid, most int) returns setof uuid
  stable security definer set search_path = public, pg_temp language sql as $$
  (select r.id from requests r
    where account is not null and r.customer_email is not null and lower(r.customer_email) = lower(wanted)
      and r.partner_id = scope_partner() and r.test_mode = scope_test_mode() and r.account_id = account
    order by r.created_at desc limit most)
  union all
  (select own.id from (
    select found.id, found.created_at, count(*) over () as many from (
      select r.id, r.created_at from requests r
      where account is null and r.customer_email is not null and lower(r.customer_email) = lower(wanted)
        and r.partner_id = scope_partner() and r.test_mode = scope_test_mode()
      limit 5001) found) own
    where own.many <= 5000
    order by own.created_at desc limit most)
$$;

grant execute on function find_by_email_in_scope to quittance_app, quittance_service;
