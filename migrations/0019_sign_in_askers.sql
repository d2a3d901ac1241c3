-- Who asked for a link, so that a stranger's asking takes nothing from somebody else's.
alter table sign_in_links
  add column asker_hash bytea, -- of a network, or of a browser that this address has signed in with before
  add column known_browser boolean not null default false;

-- Open streams of news end when their session does, or their person may do something else now.
create function tell_session_end() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', 'session ' || new.id);
  return null;
end $$;
create trigger session_ends_told after update of revoked_at on sessions
  for each row when (new.revoked_at is not null and old.revoked_at is null) execute function tell_session_end();

create function tell_user_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', 'user ' || new.id);
  return null;
end $$;
create trigger user_changes_told after update of role, disabled_at on users
  for each row when (new.role is distinct from old.role or new.disabled_at is distinct from old.disabled_at)
  execute function tell_user_change();
