-- Each list checks its scope once for each table or state. The key is fetched by the shortest query there is, and what is
-- computed from it needs none: an expression that reads no table costs PL/pgSQL a tenth of a query. For the same reason
-- entering a scope assigns its settings.

create or replace function scope_partner() returns uuid language plpgsql stable security definer as $$
declare
  partner constant pg_catalog.text := pg_catalog.current_setting('quittance.partner_id', true);
  inside pg_catalog.bytea;
  outside pg_catalog.bytea;
begin
  if partner operator(pg_catalog.<>) '' then
    select k.inner_pad, k.outer_pad into inside, outside from public.scope_keys k
      where k.login operator(pg_catalog.=) session_user;
    -- Hashed once more: how long the comparison takes tells nothing of the proof that is right.
    if pg_catalog.sha256(pg_catalog.sha256(outside operator(pg_catalog.||) pg_catalog.sha256(
        inside operator(pg_catalog.||) pg_catalog.convert_to(partner operator(pg_catalog.||) ' '
          operator(pg_catalog.||) pg_catalog.current_setting('quittance.test_mode', true), 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex'))
    then
      return partner::pg_catalog.uuid;
    end if;
  end if;
  return null;
end $$;

create or replace function scope_test_mode() returns boolean language plpgsql stable security definer as $$
declare
  test constant pg_catalog.text := pg_catalog.current_setting('quittance.test_mode', true);
  inside pg_catalog.bytea;
  outside pg_catalog.bytea;
begin
  if test operator(pg_catalog.<>) '' then
    select k.inner_pad, k.outer_pad into inside, outside from public.scope_keys k
      where k.login operator(pg_catalog.=) session_user;
    if pg_catalog.sha256(pg_catalog.sha256(outside operator(pg_catalog.||) pg_catalog.sha256(
        inside operator(pg_catalog.||) pg_catalog.convert_to(
          pg_catalog.current_setting('quittance.partner_id', true) operator(pg_catalog.||) ' '
            operator(pg_catalog.||) test, 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex'))
    then
      return test::boolean;
    end if;
  end if;
  return null;
end $$;

create or replace function enter_scope(partner uuid, test boolean, proof text) returns void language plpgsql as $$
declare
  entered text;
begin
  entered := set_config('quittance.partner_id', partner::text, true);
  entered := set_config('quittance.test_mode', test::text, true);
  entered := set_config('quittance.proof', proof, true);
  entered := set_config('role', 'quittance_app', true);
  if scope_partner() is null then
    raise insufficient_privilege using message = 'the proof of this scope does not hold';
  end if;
end $$;
