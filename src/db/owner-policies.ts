import type { Sql } from './connection.ts';

/**
 * Creates the missing policies of the tables' current owner, all at once, and its default privileges, as migration 0043
 * does. Two processes must not do this at once: see `inTurn`.
 */
export async function giveToOwner(owner: Sql): Promise<void> {
  await owner.unsafe(`do $$ declare t text; begin
    for t in ${withoutPolicy} loop
      execute format('create policy owner on %I to current_user using (true) with check (true)', t);
    end loop;
  end $$;
  alter default privileges in schema public grant select, insert, update, delete on tables to quittance_service;
  alter default privileges revoke execute on functions from public`);
}

const withoutPolicy = `
  select relname from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity and not exists (
    select from pg_policies where schemaname = 'public' and tablename = relname and policyname = 'owner')`;

/**
 * Whether a restore ended before its last step. All rows are there by then, but the tables' owner sees none of them.
 * The migration that creates `scope_keys` gives every table its policy.
 */
export async function isHalfRestored(owner: Sql): Promise<boolean> {
  return (await owner.unsafe(`${withoutPolicy} and relname = 'scope_keys'`)).length > 0;
}
