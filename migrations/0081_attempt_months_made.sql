-- The months of delivery attempts are made while the service works, by whichever node comes first; others wait for it. As the
-- owner, because nobody else may. It gives up where it would hold up deliveries for longer than a second.
create function make_attempt_months(ahead int) returns setof text
  security definer set search_path = public, pg_temp set lock_timeout = '1s' language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7188256);
  return query select add_attempt_months(ahead);
end $$;
grant execute on function make_attempt_months to quittance_service;
