-- Each read of a scope calls these two up to a dozen times. A search path of their own made each call plan anew: every
-- name is qualified instead, operators too, so nothing that a session sets decides what they call.

create or replace function scope_partner() returns uuid language plpgsql stable security definer as $$
declare
  partner constant pg_catalog.text := pg_catalog.current_setting('quittance.partner_id', true);
begin
  -- Hashed once more: how long the comparison takes tells nothing of the proof that is right.
  if partner operator(pg_catalog.<>) '' and exists (
    select from public.scope_keys k where k.login operator(pg_catalog.=) session_user
      and pg_catalog.sha256(pg_catalog.sha256(k.outer_pad operator(pg_catalog.||) pg_catalog.sha256(
        k.inner_pad operator(pg_catalog.||) pg_catalog.convert_to(partner operator(pg_catalog.||) ' '
          operator(pg_catalog.||) pg_catalog.current_setting('quittance.test_mode', true), 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex')))
  then
    return partner::pg_catalog.uuid;
  end if;
  return null;
end $$;

create or replace function scope_test_mode() returns boolean language plpgsql stable security definer as $$
declare
  test constant pg_catalog.text := pg_catalog.current_setting('quittance.test_mode', true);
begin
  if test operator(pg_catalog.<>) '' and exists (
    select from public.scope_keys k where k.login operator(pg_catalog.=) session_user
      and pg_catalog.sha256(pg_catalog.sha256(k.outer_pad operator(pg_catalog.||) pg_catalog.sha256(
        k.inner_pad operator(pg_catalog.||) pg_catalog.convert_to(
          pg_catalog.current_setting('quittance.partner_id', true) operator(pg_catalog.||) ' '
            operator(pg_catalog.||) test, 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex')))
  then
    return test::boolean;
  end if;
  return null;
end $$;
