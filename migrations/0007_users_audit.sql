-- People who sign in by e-mail, their one-time links, and the log of what was done.

create table users (
  id uuid primary key,
  partner_id uuid references partners (id), -- null: an operator
  email text not null, -- in lower case
  role text check (role in ('owner', 'developer', 'viewer')),
  created_at timestamptz not null,
  last_sign_in_at timestamptz,
  disabled_at timestamptz,
  unique nulls not distinct (partner_id, email),
  unique (partner_id, id),
  check ((role is null) = (partner_id is null))
);
create index users_email on users (email);

alter table sessions
  add constraint sessions_user foreign key (user_id) references users (id),
  add constraint sessions_user_of_partner foreign key (partner_id, user_id) references users (partner_id, id);
create index sessions_of_user on sessions (user_id, last_seen_at) where user_id is not null;

-- A link is asked for under any address, known or not, so that both cost the same.
create table sign_in_links (
  token_hash bytea primary key,
  kind text not null check (kind in ('partner_user', 'operator')),
  email text not null,
  partner_id uuid references partners (id), -- asked for on a partner's own host, or an invitation: of this partner only
  user_id uuid references users (id), -- an invitation, for this user only
  browser_hash bytea, -- the browser that asked; an invitation is bound to none
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  check ((user_id is null) = (browser_hash is not null))
);
create index sign_in_links_email on sign_in_links (email, created_at);
create index sign_in_links_expiry on sign_in_links (expires_at);

-- ── the audit log ───────────────────────────────────────────────────────────────────────────────────────────────────

-- The end of each chain: one per partner, and one for what belongs to no partner, under the nil UUID.
create table audit_chains (
  partner_id uuid primary key,
  last_number bigint not null,
  last_hash bytea not null
) with (fillfactor = 50);

create table audit_log (
  partner_id uuid not null,
  number bigint not null, -- 1, 2, 3 … in each chain
  at timestamptz not null,
  test_mode boolean, -- null: concerns no mode, or both
  actor_kind text not null check (actor_kind in ('partner_user', 'operator', 'api_key', 'command_line')),
  actor_id uuid,
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text not null,
  ip text,
  user_agent text,
  details json not null,
  hash bytea not null, -- SHA-256 over the hash before it, the number and the content
  primary key (partner_id, number)
);

create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to' using errcode = 'integrity_constraint_violation';
end $$;
create trigger audit_log_stays before update or delete on audit_log for each row execute function refuse_audit_change();
create trigger audit_log_stays_whole before truncate on audit_log for each statement execute function refuse_audit_change();

-- ── who may see what ────────────────────────────────────────────────────────────────────────────────────────────────

do $$
declare t text;
begin
  foreach t in array array['users', 'audit_chains', 'audit_log'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner()) with check (partner_id = scope_partner())', t);
  end loop;
end $$;
grant select, insert, update on users, audit_chains to quittance_app;
grant select, insert on audit_log to quittance_app;

-- Steps back up from a scope inside a transaction that goes on.
create function leave_scope() returns void language plpgsql as $$
begin
  perform set_config('role', 'none', true),
          set_config('quittance.partner_id', '', true),
          set_config('quittance.test_mode', '', true);
end $$;
