-- What a transaction of a scope may have left in the session: the role that it stepped down to, which may not end the session;
-- statements that it prepared in the place of the driver's; locks that outlive it; and settings.
create or replace function begin_scoped() returns void set search_path = pg_catalog, pg_temp language plpgsql as $$
begin
  perform set_config('role', 'none', false);
  if exists (select from pg_prepared_statements where from_sql) then
    perform pg_terminate_backend(pg_backend_pid());
    raise insufficient_privilege using message = 'this session was left with a statement that is not ours';
  end if;
  perform pg_advisory_unlock_all();
  execute 'unlisten *';
  reset all;
end $$;
