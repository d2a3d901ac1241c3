-- Whom to tell when something of a partner's own needs their hand, such as a webhook endpoint that was disabled.
alter table partners add column email text check (email <> '');

-- Finds endpoints that have been failing for too long.
create index webhook_endpoints_failing on webhook_endpoints (failing_since)
  where failing_since is not null and disabled_at is null;
