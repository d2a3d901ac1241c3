-- What a transfer was made for, as other logs of its transaction say: the nonce of the EIP-3009 authorization that it
-- executed, and the reference that the contract for recurring payments named. Of rows from before, nobody looked.
alter table transfers
  add column authorization_nonce bytea check (octet_length(authorization_nonce) = 32),
  add column charged_reference bytea check (octet_length(charged_reference) = 16),
  add column logs_read boolean not null default false;
alter table transfers alter column logs_read set default true;
alter table transfers
  drop constraint transfers_rule_check,
  add constraint transfers_rule_check check (rule in ('authorization', 'charge', 'reference', 'amount', 'claim', 'merchant'));

-- Whether an authorization was executed is asked of each that was handed in, and some wallets pay often.
create index transfers_authorization on transfers (partner_id, test_mode, authorization_nonce)
  where authorization_nonce is not null;

-- Authorizations that were handed in for a request before anybody sent them. The first request wins, over the whole
-- platform. What was relayed of one is the relayer's to tell.
create table authorizations (
  chain_id bigint not null,
  token_address text not null,
  authorizer text not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  value numeric(78) not null check (value > 0),
  valid_before timestamptz not null, -- no chain executes it later
  relay_id uuid, -- the call that executes it; null while none was taken on
  failures int not null default 0, -- calls before that one, which were reverted or lost
  handed_in_at timestamptz not null default now(), -- anew when it is sent again
  primary key (chain_id, token_address, authorizer, nonce),
  foreign key (partner_id, test_mode, request_id) references requests (partner_id, test_mode, id)
);
create index authorizations_request on authorizations (partner_id, test_mode, request_id);
create index authorizations_authorizer on authorizations (authorizer, handed_in_at);
alter table authorizations enable row level security, force row level security;
create policy owner on authorizations to current_user using (true) with check (true);
create policy service on authorizations to quittance_service using (true) with check (true);
create policy scope on authorizations to quittance_app
  using (partner_id = scope_partner() and test_mode = (select scope_test_mode()))
  with check (partner_id = scope_partner() and test_mode = (select scope_test_mode()));
grant select, insert, update on authorizations to quittance_app;
grant select, insert, update, delete on authorizations to quittance_service;
