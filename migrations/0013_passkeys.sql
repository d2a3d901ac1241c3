-- Passkeys of people who sign in by e-mail: who has one does not come in with a mailed link alone.

create table passkeys (
  id uuid primary key,
  partner_id uuid, -- null: an operator's
  user_id uuid not null references users (id),
  credential_id bytea not null unique,
  public_key bytea not null, -- COSE
  counter bigint not null, -- as the device last told it; stays 0 for those that do not count
  name text not null,
  created_at timestamptz not null,
  last_used_at timestamptz,
  foreign key (partner_id, user_id) references users (partner_id, id)
);
create index passkeys_of_user on passkeys (user_id, created_at);
create index passkeys_of_partner on passkeys (partner_id, user_id);

alter table passkeys enable row level security;
create policy scope on passkeys to quittance_app
  using (partner_id = scope_partner()) with check (partner_id = scope_partner());
grant select, delete on passkeys to quittance_app;

-- A challenge is stored when it is used, so that it is used once.
create table used_passkey_challenges (
  challenge bytea primary key,
  expires_at timestamptz not null
);
create index used_passkey_challenges_expiry on used_passkey_challenges (expires_at);

-- When somebody who is signed in last showed a passkey again.
alter table sessions add column confirmed_at timestamptz;
