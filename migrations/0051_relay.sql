-- The relayer: transactions that the service itself signs, sends and follows until the chain has decided.

-- What the loop last learned of each of its addresses on each chain, and the nonce that the next call gets.
create table relay_accounts (
  chain_id bigint not null,
  address text not null,
  next_nonce bigint not null check (next_nonce >= 0),
  chain_nonce bigint not null check (chain_nonce >= 0), -- how many of its transactions are mined, as all endpoints agree
  balance_wei numeric(78) not null,
  base_fee_wei numeric(78) not null, -- of the next block
  priority_fee_wei numeric(78) not null, -- what a call gives beyond it
  head_number bigint not null,
  seen_number bigint, -- the block that the reader had read when the chain was last asked
  counted_at timestamptz not null, -- when it was last asked how many are mined
  checked_at timestamptz not null, -- and when about the balance too
  look_at timestamptz not null default now(), -- when the loop comes by again
  gap_nonce bigint, -- a nonce without a call, below others that have one: it is closed by a transfer of nothing
  gap_at timestamptz, -- when that was last tried
  gap_fee_wei numeric(78),
  gap_priority_fee_wei numeric(78),
  primary key (chain_id, address)
);

create table relay_transactions (
  partner_id uuid not null references partners,
  test_mode boolean not null,
  id uuid not null unique,
  chain_id bigint not null,
  from_address text not null,
  nonce bigint not null check (nonce >= 0),
  to_address text not null,
  data bytea not null,
  gas bigint not null check (gas > 0), -- the limit
  purpose text not null check (purpose in ('charge', 'revoke', 'authorization')),
  subject_id uuid not null, -- the request, or the mandate that is revoked
  state text not null default 'allotted' check (state in ('allotted', 'sent', 'mined', 'final', 'reverted', 'lost')),
  hash text, -- of the variant that was signed last, or that was mined
  day date not null, -- whose budget it is counted in
  fee_wei numeric(78) not null, -- reserved at most; once it is mined, what it cost
  allotted_at timestamptz not null default now(),
  sent_at timestamptz, -- when the last variant was signed
  sent_head bigint, -- the chain's head at that time
  reached boolean not null default false, -- an endpoint has taken the last variant
  tried_at timestamptz, -- when it was last handed to an endpoint
  trouble text, -- why it is not signed, or no endpoint took it
  refused_at timestamptz, -- since when every endpoint refuses it
  block_number bigint,
  block_hash text,
  succeeded boolean, -- of the mined variant; null while that is not known
  passed_block bigint, -- the head when the nonce was first found used without any variant being known
  ended_at timestamptz,
  primary key (partner_id, test_mode, id),
  unique (chain_id, from_address, nonce),
  check (case state when 'allotted' then hash is null when 'lost' then true else hash is not null end),
  check ((state in ('final', 'reverted', 'lost')) = (ended_at is not null)),
  check (num_nulls(block_number, block_hash) in (0, 2))
);
create index relay_transactions_live on relay_transactions (chain_id, from_address, nonce)
  where state in ('allotted', 'sent', 'mined');
create index relay_transactions_waiting on relay_transactions (partner_id, test_mode, chain_id)
  where state in ('allotted', 'sent');
create index relay_transactions_subject on relay_transactions (partner_id, test_mode, subject_id);

-- Every variant that was ever signed: the chain may include any of them.
create table relay_variants (
  partner_id uuid not null,
  test_mode boolean not null,
  relay_id uuid not null,
  hash text not null unique,
  signed bytea not null,
  max_fee_wei numeric(78) not null,
  priority_fee_wei numeric(78) not null,
  cancels boolean not null default false, -- a transfer of nothing in place of a call that every endpoint refuses
  fee_wei numeric(78), -- what it cost, where the reader has read its receipt
  signed_at timestamptz not null default now(),
  primary key (partner_id, test_mode, relay_id, hash),
  foreign key (partner_id, test_mode, relay_id) references relay_transactions (partner_id, test_mode, id)
);

-- What a partner's calls have cost on a day (UTC), what is under way counted at most.
create table relay_spending (
  partner_id uuid not null references partners,
  test_mode boolean not null,
  chain_id bigint not null,
  day date not null,
  wei numeric(78) not null check (wei >= 0),
  primary key (partner_id, test_mode, chain_id, day)
);
create index relay_spending_day on relay_spending (chain_id, day);

do $$
declare t text;
begin
  foreach t in array array['relay_accounts', 'relay_transactions', 'relay_variants', 'relay_spending'] loop
    execute format('alter table %I enable row level security, force row level security', t);
    execute format('create policy owner on %I to current_user using (true) with check (true)', t);
    execute format('create policy service on %I to quittance_service using (true) with check (true)', t);
    execute format('grant select, insert, update, delete on %I to quittance_service', t);
  end loop;
  foreach t in array array['relay_transactions', 'relay_variants', 'relay_spending'] loop
    execute format('create policy scope on %I to quittance_app
      using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
      with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()))', t);
    execute format('grant select on %I to quittance_app', t);
  end loop;
end $$;
create policy everybody on relay_accounts for select to quittance_app using (true);
grant select on relay_accounts to quittance_app;
