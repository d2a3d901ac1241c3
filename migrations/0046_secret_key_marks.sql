-- What each key of SECRET_KEYS has left here, so that a start with another or a lost one is noticed. The mark is a keyed hash;
-- it is null where a key was given up before it left one.
create table secret_key_marks (
  key_id text primary key,
  mark bytea,
  noted_at timestamptz not null default now(),
  forgotten_at timestamptz
);

-- Where the service logs in as a role that owns nothing.
do $$ begin
  if exists (select from pg_roles where rolname = 'quittance_service') then
    alter table secret_key_marks enable row level security, force row level security;
    execute 'create policy owner on secret_key_marks to current_user using (true) with check (true)';
    create policy service on secret_key_marks to quittance_service using (true) with check (true);
    grant select, insert, update, delete on secret_key_marks to quittance_service;
  end if;
end $$;
