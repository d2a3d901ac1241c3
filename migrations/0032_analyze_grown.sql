-- Plans of prepared statements, functions and foreign keys are kept until their tables' statistics change. The server
-- analyses a table about once a minute; one that was small a moment ago is read as a whole, or by the wrong index, until then.

-- Analyses the tables that are twice as large as when statistics were last taken, smallest first, and names them. Tables
-- without any are taken for ten pages large by the planner, which suits indexes; tiny ones are left alone. It runs as the
-- owner, because nobody else may analyse. One at a time: nothing is done while another node is at it.
create function analyze_grown() returns setof text
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  grown text;
begin
  if not pg_try_advisory_xact_lock(7188255) then return; end if;
  for grown in
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and pg_relation_size(c.oid) / current_setting('block_size')::int >= 2 * greatest(c.relpages, 4)
    order by c.relpages, c.relname
  loop
    execute format('analyze (skip_locked) %I', grown);
    return next grown;
  end loop;
end $$;
