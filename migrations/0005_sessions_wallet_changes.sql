-- Sessions of people, onboarding that goes on after a reload, and changes of a merchant's wallet.

-- How far a merchant has come before its signature. Gone once it has signed.
create table onboarding_progress (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  details_at timestamptz not null, -- when the details were handed in
  email text, -- given by the merchant where the partner gave none
  wallet_address text check (wallet_address ~ '^0x[0-9a-f]{40}$'),
  chain_id bigint,
  primary key (partner_id, test_mode, account_id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id)
);

-- Messages that wallets sign carry a number which proves that we made them; here stand those that were used.
drop table onboarding_nonces;
create table used_wallet_messages (
  nonce text primary key,
  expires_at timestamptz not null
);
create index used_wallet_messages_expiry on used_wallet_messages (expires_at);

-- Who is signed in where. The token is only in the browser's cookie; here stands its keyed hash.
create table sessions (
  id uuid primary key,
  token_hash bytea not null unique,
  kind text not null check (kind in ('merchant', 'partner_user', 'operator')),
  partner_id uuid references partners (id),
  test_mode boolean,
  account_id uuid,
  user_id uuid,
  wallet_address text, -- a merchant's: the session ends when the merchant has another one
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  ip text not null,
  user_agent text,
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  check (kind <> 'merchant' or num_nulls(partner_id, test_mode, account_id, wallet_address) = 0),
  check (kind <> 'partner_user' or num_nulls(partner_id, user_id) = 0),
  check (kind <> 'operator' or (user_id is not null and partner_id is null))
);
create index sessions_account on sessions (partner_id, test_mode, account_id, last_seen_at);

-- A merchant keeps its earlier wallets, for late payments, and holds the one a recovery will bring.
drop index wallets_account;
create index wallets_account on wallets (account_id);

create table wallet_changes (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null unique,
  account_id uuid not null,
  kind text not null check (kind in ('change', 'recovery')),
  state text not null check (state in ('started', 'signed', 'applied', 'vetoed', 'cancelled', 'expired')),
  old_wallet text not null,
  new_wallet text,
  new_chain_ids int[],
  started_at timestamptz not null,
  link_until timestamptz, -- of a recovery: until then the new wallet may sign
  signed_at timestamptz,
  due_at timestamptz, -- of a recovery: from then on it is applied, unless vetoed
  ended_at timestamptz,
  primary key (partner_id, test_mode, id),
  foreign key (partner_id, test_mode, account_id) references merchants (partner_id, test_mode, id),
  check (state not in ('signed', 'applied') or num_nulls(new_wallet, signed_at) = 0)
);
create unique index wallet_changes_open on wallet_changes (partner_id, test_mode, account_id)
  where state in ('started', 'signed');
create index wallet_changes_due on wallet_changes (due_at) where state = 'signed';
create index wallet_changes_links on wallet_changes (link_until) where state = 'started';

do $$
declare t text;
begin
  foreach t in array array['onboarding_progress', 'wallet_changes'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = scope_test_mode())
      with check (partner_id = scope_partner() and test_mode = scope_test_mode())', t);
    execute format('grant select, insert, update, delete on %I to quittance_app', t);
  end loop;
end $$;
grant select, insert, delete on used_wallet_messages to quittance_app;
