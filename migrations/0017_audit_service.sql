-- What the service does by itself is in the audit log, too; and one recovery that fails holds up no other.

alter table audit_log
  drop constraint audit_log_actor_kind_check,
  add constraint audit_log_actor_kind_check
    check (actor_kind in ('partner_user', 'operator', 'api_key', 'command_line', 'merchant', 'service'));

-- A recovery whose end could not be carried out is tried again at `settle_after`, later each time.
alter table wallet_changes
  add column settle_failures int not null default 0,
  add column settle_after timestamptz;

-- Wallets that were claimed and never signed for, by their age.
create index wallets_unsigned on wallets (claimed_at) where signed_at is null;

-- Secrets that wait to come into force.
create index webhook_endpoints_pending on webhook_endpoints (pending_since) where pending_secret is not null;
