-- Generated from the migrations by `npm run schema`; do not edit.

create extension pg_trgm;

-- What an operator has to look at. An alarm that has ended keeps its row.
create table alarms (
  raised_at timestamp with time zone not null default now(),
  -- When it ended. Null while it lasts.
  cleared_at timestamp with time zone,
  -- The kind of alarm, as src/db/alarm-kinds.ts lists them.
  kind text not null,
  -- What it concerns, such as a chain or an endpoint. Empty for a kind that can only occur once.
  subject text not null,
  -- The facts from which its sentence is made, by kind.
  details jsonb not null,
  constraint alarms_pkey PRIMARY KEY (kind, subject)
);
alter table alarms enable row level security, force row level security;
create policy owner on alarms for ALL to quittance using (true) with check (true);
create policy service on alarms for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on alarms to quittance_service;

-- Registry over all partners: which amounts are reserved at a wallet, so that a transfer is recognised by its value.
create table amount_reservations (
  wallet_address text not null,
  -- The reserved amount in micro units: the amount due, or with a surcharge below one cent.
  usdc_micro numeric(40,0) not null,
  partner_id uuid not null,
  test_mode boolean not null,
  -- The request whose whole amount this is. Null for the rest of a request: reserved_rests names it.
  request_id uuid,
  reserved_at timestamp with time zone not null,
  -- From then on the amount can be reserved again.
  reserved_until timestamp with time zone not null,
  constraint amount_reservations_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id) DEFERRABLE INITIALLY DEFERRED,
  constraint amount_reservations_pkey PRIMARY KEY (wallet_address, usdc_micro)
);
CREATE UNIQUE INDEX amount_reservations_request ON public.amount_reservations USING btree (request_id);
CREATE INDEX amount_reservations_until ON public.amount_reservations USING btree (reserved_until);
CREATE TRIGGER amount_reservations_rests AFTER UPDATE OF reserved_until ON amount_reservations FOR EACH ROW WHEN (new.request_id IS NOT NULL) EXECUTE FUNCTION free_rests_later();
alter table amount_reservations enable row level security, force row level security;
create policy owner on amount_reservations for ALL to quittance using (true) with check (true);
create policy scope on amount_reservations for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on amount_reservations for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on amount_reservations to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on amount_reservations to quittance_service;

-- API keys of partners. The key itself is not stored.
create table api_keys (
  id uuid not null,
  partner_id uuid not null,
  test_mode boolean not null,
  -- The keyed hash of the key.
  hash bytea not null,
  -- The prefix and the last four characters of the key, by which people recognise it.
  hint text not null,
  scopes text[] not null,
  created_at timestamp with time zone not null default now(),
  revoked_at timestamp with time zone,
  name text,
  -- The e-mail address of the user who created it. Null if no user did.
  created_by text,
  -- When it expires. Null: never.
  ends_at timestamp with time zone,
  -- The form that created it, so that a form that is sent twice creates one key.
  form_key text,
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_name_check CHECK (((name <> ''::text) AND (char_length(name) <= 60))),
  constraint api_keys_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint api_keys_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX api_keys_form ON public.api_keys USING btree (partner_id, test_mode, form_key) WHERE (form_key IS NOT NULL);
CREATE INDEX api_keys_partner ON public.api_keys USING btree (partner_id, created_at);
alter table api_keys enable row level security, force row level security;
create policy owner on api_keys for ALL to quittance using (true) with check (true);
create policy service on api_keys for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on api_keys to quittance_service;

-- The end of each audit log. Each partner has one. The nil UUID stands for what belongs to no partner.
create table audit_chains (
  partner_id uuid not null,
  -- The number of the last entry.
  last_number bigint not null,
  -- The hash of the last entry.
  last_hash bytea not null,
  constraint audit_chains_pkey PRIMARY KEY (partner_id)
) with (fillfactor=50);
CREATE TRIGGER logs_tell AFTER INSERT OR UPDATE ON audit_chains FOR EACH ROW EXECUTE FUNCTION tell_log();
alter table audit_chains enable row level security, force row level security;
create policy owner on audit_chains for ALL to quittance using (true) with check (true);
create policy scope on audit_chains for ALL to quittance_app using ((partner_id = scope_partner())) with check ((partner_id = scope_partner()));
create policy service on audit_chains for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on audit_chains to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on audit_chains to quittance_service;

-- Who did what. Each entry holds a hash over the entry before it, so a change or a gap is found.
create table audit_log (
  -- The partner whose log it is. The nil UUID for what belongs to no partner.
  partner_id uuid not null,
  -- Its place in the log of its partner: 1, 2, 3 and so on.
  number bigint not null,
  at timestamp with time zone not null,
  -- Null if it concerns no mode, or both.
  test_mode boolean,
  actor_kind text not null,
  actor_id uuid,
  actor_name text not null,
  action text not null,
  object_kind text not null,
  object_id text not null,
  ip text,
  user_agent text,
  -- What was changed, by action. As json, which keeps the order of keys.
  details json not null,
  -- SHA-256 over the hash of the entry before it, the number and the content.
  hash bytea not null,
  constraint audit_log_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['partner_user'::text, 'operator'::text, 'api_key'::text, 'command_line'::text, 'merchant'::text, 'service'::text]))),
  constraint audit_log_pkey PRIMARY KEY (partner_id, number)
);
CREATE INDEX audit_log_actions ON public.audit_log USING btree (partner_id, action, at, number);
CREATE INDEX audit_log_actions_of ON public.audit_log USING btree (partner_id, actor_name, action, at, number);
CREATE INDEX audit_log_actors ON public.audit_log USING btree (partner_id, actor_name, at, number);
CREATE INDEX audit_log_list ON public.audit_log USING btree (partner_id, at, number);
CREATE TRIGGER audit_log_stays BEFORE DELETE OR UPDATE ON audit_log FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_stays_whole BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
alter table audit_log enable row level security, force row level security;
create policy owner on audit_log for ALL to quittance using (true) with check (true);
create policy scope on audit_log for ALL to quittance_app using ((partner_id = scope_partner())) with check ((partner_id = scope_partner()));
create policy service on audit_log for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT on audit_log to quittance_app;
grant INSERT, SELECT on audit_log to quittance_service;

-- EIP-3009 authorizations that were submitted for a request before they were sent. Each belongs to the request that had it first.
create table authorizations (
  chain_id bigint not null,
  token_address text not null,
  -- The address of the wallet that signed it.
  authorizer text not null,
  -- The 32 bytes by which the token recognises it.
  nonce bytea not null,
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  -- What it pays, in micro units.
  value numeric(78,0) not null,
  -- No chain executes it later.
  valid_before timestamp with time zone not null,
  -- The transaction of the relayer that executes it. Null while there is none.
  relay_id uuid,
  -- How many earlier transactions for it were reverted or lost.
  failures integer not null default 0,
  -- When it was last submitted.
  handed_in_at timestamp with time zone not null default now(),
  constraint authorizations_nonce_check CHECK ((octet_length(nonce) = 32)),
  constraint authorizations_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint authorizations_pkey PRIMARY KEY (chain_id, token_address, authorizer, nonce),
  constraint authorizations_value_check CHECK ((value > (0)::numeric))
);
CREATE INDEX authorizations_authorizer ON public.authorizations USING btree (authorizer, handed_in_at);
CREATE INDEX authorizations_request ON public.authorizations USING btree (partner_id, test_mode, request_id);
alter table authorizations enable row level security, force row level security;
create policy owner on authorizations for ALL to quittance using (true) with check (true);
create policy scope on authorizations for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on authorizations for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on authorizations to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on authorizations to quittance_service;

-- The addresses (BASE_URL) under which nodes may run on this database. A node with another one does not start.
create table base_urls (
  origin text not null,
  added_at timestamp with time zone not null default now(),
  constraint base_urls_pkey PRIMARY KEY (origin)
);
alter table base_urls enable row level security, force row level security;
create policy owner on base_urls for ALL to quittance using (true) with check (true);
create policy service on base_urls for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on base_urls to quittance_service;

-- The last 512 blocks of each chain that were read, to find where a reorganisation began.
create table chain_blocks (
  chain_id bigint not null,
  -- The number of the block.
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  block_time timestamp with time zone not null,
  constraint chain_blocks_chain_id_fkey FOREIGN KEY (chain_id) REFERENCES chain_cursors(chain_id),
  constraint chain_blocks_pkey PRIMARY KEY (chain_id, number)
);
alter table chain_blocks enable row level security, force row level security;
create policy everybody on chain_blocks for SELECT to quittance_app using (true);
create policy owner on chain_blocks for ALL to quittance using (true) with check (true);
create policy service on chain_blocks for ALL to quittance_service using (true) with check (true);
grant SELECT on chain_blocks to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on chain_blocks to quittance_service;

-- Sparse older blocks of each chain, for reorganisations that are longer than what chain_blocks holds.
create table chain_checkpoints (
  chain_id bigint not null,
  -- The number of the block.
  number bigint not null,
  hash text not null,
  block_time timestamp with time zone not null,
  constraint chain_checkpoints_chain_id_fkey FOREIGN KEY (chain_id) REFERENCES chain_cursors(chain_id),
  constraint chain_checkpoints_pkey PRIMARY KEY (chain_id, number)
);
alter table chain_checkpoints enable row level security, force row level security;
create policy owner on chain_checkpoints for ALL to quittance using (true) with check (true);
create policy service on chain_checkpoints for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on chain_checkpoints to quittance_service;

-- How far each chain was read.
create table chain_cursors (
  chain_id bigint not null,
  -- The fence of the lease under which it was written last. A process with a lower one cannot write any more.
  fence bigint not null,
  -- Every block up to this one was read.
  number bigint not null,
  -- The hash of that block.
  hash text not null,
  -- The time of that block.
  block_time timestamp with time zone not null,
  -- The newest block, as the endpoint last reported it.
  head_number bigint not null,
  -- The newest block that is final for any amount.
  final_number bigint not null,
  -- The block with the endpoint's tag safe. Null where finality is a number of blocks.
  safe_number bigint,
  -- The block with the endpoint's tag finalized. Null where finality is a number of blocks.
  finalized_number bigint,
  updated_at timestamp with time zone not null,
  constraint chain_cursors_pkey PRIMARY KEY (chain_id)
);
CREATE TRIGGER chain_cursors_tell AFTER UPDATE ON chain_cursors FOR EACH ROW WHEN (old.number IS DISTINCT FROM new.number) EXECUTE FUNCTION tell_chain();
alter table chain_cursors enable row level security, force row level security;
create policy everybody on chain_cursors for SELECT to quittance_app using (true);
create policy owner on chain_cursors for ALL to quittance using (true) with check (true);
create policy service on chain_cursors for ALL to quittance_service using (true) with check (true);
grant SELECT on chain_cursors to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on chain_cursors to quittance_service;

-- In which modes each chain was read, so that what was read in the other mode is read again once it is back.
create table chain_modes (
  chain_id bigint not null,
  test_mode boolean not null,
  -- The last block that was read in this mode. Null while it is read in it.
  left_at bigint,
  constraint chain_modes_pkey PRIMARY KEY (chain_id, test_mode)
);
alter table chain_modes enable row level security, force row level security;
create policy owner on chain_modes for ALL to quittance using (true) with check (true);
create policy service on chain_modes for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on chain_modes to quittance_service;

-- Charges under a mandate: one for each request of a plan that charges automatically.
create table collections (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  plan_id uuid not null,
  account_id uuid not null,
  -- The number of the charge in its plan: 1, 2, 3 and so on.
  number integer not null,
  -- The mandate that it was last tried with.
  mandate_id uuid not null,
  -- The chain of that mandate.
  chain_id bigint not null,
  state text not null default 'waiting'::text,
  -- When it is tried. Null while a transaction is under way, and at the end.
  due_at timestamp with time zone,
  -- How many tries failed. Delays do not count.
  attempts integer not null default 0,
  -- When the first of them failed.
  failing_since timestamp with time zone,
  -- How often in a row it was delayed.
  waits integer not null default 0,
  -- Why it last failed, was delayed or ended. Null when nothing is wrong.
  reason text,
  reason_at timestamp with time zone,
  -- The last transaction of the relayer for it.
  relay_id uuid,
  -- Whether that transaction was reverted and the reason is not known yet.
  reverted boolean not null default false,
  made_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint collections_check CHECK (((state = 'waiting'::text) = (due_at IS NOT NULL))),
  constraint collections_check1 CHECK (((state = ANY (ARRAY['waiting'::text, 'sent'::text])) = (ended_at IS NULL))),
  constraint collections_check2 CHECK (((reason IS NULL) = (reason_at IS NULL))),
  constraint collections_check3 CHECK (((state <> 'sent'::text) OR (relay_id IS NOT NULL))),
  constraint collections_check4 CHECK (((attempts > 0) = (failing_since IS NOT NULL))),
  constraint collections_number_check CHECK ((number > 0)),
  constraint collections_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint collections_partner_id_test_mode_mandate_id_fkey FOREIGN KEY (partner_id, test_mode, mandate_id) REFERENCES mandates(partner_id, test_mode, id),
  constraint collections_partner_id_test_mode_plan_id_number_fkey FOREIGN KEY (partner_id, test_mode, plan_id, number) REFERENCES plan_charges(partner_id, test_mode, plan_id, number),
  constraint collections_partner_id_test_mode_plan_id_number_key UNIQUE (partner_id, test_mode, plan_id, number),
  constraint collections_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint collections_pkey PRIMARY KEY (partner_id, test_mode, request_id),
  constraint collections_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'sent'::text, 'charged'::text, 'paid'::text, 'asked'::text, 'past_due'::text, 'stopped'::text])))
);
CREATE INDEX collections_due ON public.collections USING btree (chain_id, partner_id, test_mode, due_at) WHERE (state = 'waiting'::text);
CREATE INDEX collections_next ON public.collections USING btree (chain_id, due_at) WHERE (state = 'waiting'::text);
CREATE INDEX collections_open ON public.collections USING btree (partner_id, test_mode, plan_id, number) WHERE (state = ANY (ARRAY['waiting'::text, 'sent'::text]));
CREATE UNIQUE INDEX collections_relay ON public.collections USING btree (relay_id) WHERE (state = 'sent'::text);
CREATE UNIQUE INDEX collections_sent ON public.collections USING btree (partner_id, test_mode, plan_id) WHERE (state = 'sent'::text);
CREATE TRIGGER collections_tell AFTER UPDATE ON collections FOR EACH ROW WHEN (old.reason IS DISTINCT FROM new.reason OR old.attempts <> new.attempts) EXECUTE FUNCTION tell_collection();
alter table collections enable row level security, force row level security;
create policy owner on collections for ALL to quittance using (true) with check (true);
create policy scope on collections for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on collections for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on collections to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on collections to quittance_service;

-- How often something was done on a day (UTC), for what is limited per day.
create table day_counters (
  -- The partner in both modes, because a mailbox receives what is limited from both.
  partner_id uuid not null,
  day date not null,
  -- What is counted.
  action text not null,
  -- The merchant, request or address for which it is counted.
  subject text not null,
  -- The count.
  calls integer not null,
  constraint day_counters_pkey PRIMARY KEY (partner_id, day, action, subject)
);
CREATE INDEX day_counters_day ON public.day_counters USING btree (day);
alter table day_counters enable row level security, force row level security;
create policy owner on day_counters for ALL to quittance using (true) with check (true);
create policy scope on day_counters for ALL to quittance_app using ((partner_id = scope_partner())) with check ((partner_id = scope_partner()));
create policy service on day_counters for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on day_counters to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on day_counters to quittance_service;

-- Creates that repeated an idempotency key with other values. Partners see them as mistakes of their software.
create table differing_replays (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  -- How often.
  times integer not null,
  last_at timestamp with time zone not null,
  -- The names of the fields that differed last. Their values are not stored.
  last_fields text[] not null,
  constraint differing_replays_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint differing_replays_pkey PRIMARY KEY (partner_id, test_mode, request_id)
);
CREATE INDEX differing_replays_list ON public.differing_replays USING btree (partner_id, test_mode, last_at);
alter table differing_replays enable row level security, force row level security;
create policy owner on differing_replays for ALL to quittance using (true) with check (true);
create policy scope on differing_replays for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on differing_replays for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on differing_replays to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on differing_replays to quittance_service;

-- How far the removal of old personal data has come.
create table erased_customers (
  partner_id uuid not null,
  test_mode boolean not null,
  -- The creation time of the last request that was looked at.
  up_to timestamp with time zone not null,
  constraint erased_customers_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint erased_customers_pkey PRIMARY KEY (partner_id, test_mode)
);
alter table erased_customers enable row level security, force row level security;
create policy owner on erased_customers for ALL to quittance using (true) with check (true);
create policy scope on erased_customers for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on erased_customers for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on erased_customers to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on erased_customers to quittance_service;

-- Transfers that a reorganisation removed although their sender had signed for them or their merchant had attached them. Mined again, they are bound again.
create table kept_bindings (
  chain_id bigint not null,
  tx_hash text not null,
  -- The place of the log among those of its transaction, from 0.
  ordinal integer not null,
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  -- What had bound it: claim (a signature) or merchant (attached by hand).
  rule text not null,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  -- What it moved, in micro units.
  value numeric(78,0) not null,
  constraint kept_bindings_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint kept_bindings_pkey PRIMARY KEY (chain_id, tx_hash, ordinal),
  constraint kept_bindings_rule_check CHECK ((rule = ANY (ARRAY['claim'::text, 'merchant'::text])))
);
CREATE INDEX kept_bindings_request ON public.kept_bindings USING btree (partner_id, test_mode, request_id);
alter table kept_bindings enable row level security, force row level security;
create policy owner on kept_bindings for ALL to quittance using (true) with check (true);
create policy scope on kept_bindings for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on kept_bindings for ALL to quittance_service using (true) with check (true);
grant SELECT on kept_bindings to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on kept_bindings to quittance_service;

-- Work that only one process may do at a time, such as reading a chain.
create table leases (
  -- The work.
  name text not null,
  -- The process that has the lease.
  holder uuid not null,
  -- Grows with each new holder, so that an earlier one can be told apart and refused.
  fence bigint not null,
  held_until timestamp with time zone not null,
  -- Since when processes have wanted the lease. A chain can be paid from then on, even before its first block is read.
  wanted_at timestamp with time zone not null default now(),
  constraint leases_pkey PRIMARY KEY (name)
);
alter table leases enable row level security, force row level security;
create policy owner on leases for ALL to quittance using (true) with check (true);
create policy service on leases for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on leases to quittance_service;

-- The outbox. Mails are deleted after a time.
create table mails (
  id uuid not null,
  recipient text not null,
  -- With its numbers masked while the mail is stored encrypted.
  subject text not null,
  -- The plain text. Stored only in the sandbox, where mails are shown.
  body text,
  created_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone,
  -- How often sending it was tried.
  attempts integer not null default 0,
  -- When it is tried next. infinity: given up.
  next_attempt_at timestamp with time zone not null default now(),
  -- The same for programs that show HTML. Stored only in the sandbox.
  body_html text,
  -- Set for mails to a customer about a request or plan, which are deleted with the customer's data.
  partner_id uuid,
  test_mode boolean,
  -- The request of a mail to a customer. Each has at most one mail for each purpose.
  request_id uuid,
  -- ask: requests a payment. plan: is about plan_id. receipt: is a receipt, or any mail without a request.
  purpose text not null default 'receipt'::text,
  -- Whether somebody is waiting for it, as for a code. Urgent mails are sent first.
  urgent boolean not null default false,
  -- Where a POST stops mails like this one (RFC 8058).
  unsubscribe_url text,
  -- Subject, bodies and link of a mail, encrypted. Null once it was sent.
  sealed bytea,
  -- The plan of a mail to a customer.
  plan_id uuid,
  -- The partner for whom a mail is sent that is not to a customer. Partners take turns at the mail server.
  for_partner_id uuid,
  -- The plan whose customer a mail to its merchant names, so that it is deleted with the customer's data.
  about_plan_id uuid,
  constraint mails_check CHECK (((purpose = 'plan'::text) = (plan_id IS NOT NULL))),
  constraint mails_check1 CHECK (((num_nulls(partner_id, test_mode) = ANY (ARRAY[0, 2])) AND (num_nonnulls(request_id, plan_id) = num_nonnulls(partner_id)))),
  constraint mails_partner_id_test_mode_plan_id_fkey FOREIGN KEY (partner_id, test_mode, plan_id) REFERENCES plans(partner_id, test_mode, id),
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_purpose_check CHECK ((purpose = ANY (ARRAY['ask'::text, 'receipt'::text, 'plan'::text]))),
  constraint mails_request_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id)
);
CREATE INDEX mails_about_plan ON public.mails USING btree (about_plan_id) WHERE (about_plan_id IS NOT NULL);
CREATE INDEX mails_due ON public.mails USING btree (urgent, next_attempt_at) WHERE (sent_at IS NULL);
CREATE INDEX mails_given_up ON public.mails USING btree (created_at, id) WHERE ((sent_at IS NULL) AND (next_attempt_at = 'infinity'::timestamp with time zone));
CREATE INDEX mails_plan ON public.mails USING btree (partner_id, test_mode, plan_id) WHERE (plan_id IS NOT NULL);
CREATE INDEX mails_readable ON public.mails USING btree (created_at) WHERE (body IS NOT NULL);
CREATE UNIQUE INDEX mails_request ON public.mails USING btree (partner_id, test_mode, request_id, purpose) WHERE (request_id IS NOT NULL);
CREATE INDEX mails_sender ON public.mails USING btree (urgent, COALESCE(partner_id, for_partner_id, '00000000-0000-0000-0000-000000000000'::uuid), next_attempt_at) WHERE ((sent_at IS NULL) AND (next_attempt_at < 'infinity'::timestamp with time zone));
CREATE INDEX mails_sent ON public.mails USING btree (sent_at) WHERE (sent_at IS NOT NULL);
CREATE INDEX mails_server ON public.mails USING btree (urgent, COALESCE(for_partner_id, partner_id, '00000000-0000-0000-0000-000000000000'::uuid), lower(split_part(recipient, '@'::text, '-1'::integer)), COALESCE(encode(SUBSTRING(sealed FROM 2 FOR get_byte(SUBSTRING(sealed FROM 1 FOR 1), 0)), 'escape'::text), ''::text), next_attempt_at) WHERE ((sent_at IS NULL) AND (next_attempt_at < 'infinity'::timestamp with time zone));
CREATE INDEX mails_turn ON public.mails USING btree (urgent, COALESCE(partner_id, '00000000-0000-0000-0000-000000000000'::uuid), next_attempt_at) WHERE ((sent_at IS NULL) AND (next_attempt_at < 'infinity'::timestamp with time zone));
CREATE TRIGGER mails_queued AFTER INSERT ON mails FOR EACH ROW WHEN (new.purpose <> 'ask'::text) EXECUTE FUNCTION tell_queue('mails');
alter table mails enable row level security, force row level security;
create policy owner on mails for ALL to quittance using (true) with check (true);
create policy queue on mails for INSERT to quittance_app using (true) with check (((partner_id IS NULL) AND ((for_partner_id IS NULL) OR (for_partner_id = scope_partner()))));
create policy scope on mails for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on mails for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT on mails to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on mails to quittance_service;

-- What a customer agreed to for a plan that charges automatically. A plan has at most one that is active.
create table mandates (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  plan_id uuid not null,
  account_id uuid not null,
  chain_id bigint not null,
  token_address text not null,
  -- The contract that charges.
  contract_address text not null,
  -- The wallet that is charged.
  payer text not null,
  -- The wallet that is paid.
  payee text not null,
  -- The address of the relayer that may charge.
  executor text not null,
  -- The most that one charge may take, in micro units.
  cap_micro numeric(40,0) not null,
  -- The shortest time between two charges, in seconds.
  min_interval_s integer not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone not null,
  -- A keyed hash that stands for the plan in what the customer signs.
  plan_ref bytea not null,
  -- Random bytes that make each mandate unique.
  salt bytea not null,
  -- The EIP-712 hash that was signed. The contract knows the mandate by it.
  hash bytea not null,
  -- The payer's signature under hash.
  signature bytea not null,
  -- The most that one charge may take, in minor units of fiat_code. cap_micro was computed from it.
  cap_fiat_int bigint not null,
  fiat_code text not null,
  -- By how many percent cap_micro exceeds cap_fiat_int at the rate of agreed_at, for changes of the rate.
  reserve_percent integer not null,
  -- For how many charges the payer has allowed the token to be taken. Null: without limit.
  allowed_charges integer,
  agreed_at timestamp with time zone not null,
  state text not null default 'active'::text,
  ended_at timestamp with time zone,
  end_reason text,
  -- The payer's signature under the revocation. Null if the link alone stopped it, or nothing did.
  stop_signature bytea,
  -- When its revocation on the chain is tried or checked next. Null: nothing to do.
  revoke_due_at timestamp with time zone,
  -- How many tries failed in a row.
  revoke_failures integer not null default 0,
  -- The transaction of the relayer that revokes it.
  revoke_relay_id uuid,
  -- When it was known to be revoked on the chain.
  revoked_at timestamp with time zone,
  constraint mandates_allowed_charges_check CHECK ((allowed_charges > 0)),
  constraint mandates_cap_fiat_int_check CHECK ((cap_fiat_int > 0)),
  constraint mandates_cap_micro_check CHECK ((cap_micro > (0)::numeric)),
  constraint mandates_check CHECK (((state = 'active'::text) = (ended_at IS NULL))),
  constraint mandates_check1 CHECK (((state = ANY (ARRAY['stopped'::text, 'ended'::text])) = (end_reason IS NOT NULL))),
  constraint mandates_check2 CHECK ((starts_at < ends_at)),
  constraint mandates_contract_address_check CHECK ((contract_address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint mandates_end_reason_check CHECK ((end_reason = ANY (ARRAY['stopped_by_customer'::text, 'stopped_by_merchant'::text, 'revoked_on_chain'::text, 'wallet_changed'::text, 'above_cap'::text, 'currency_changed'::text, 'plan_ended'::text, 'expired'::text, 'customer_erased'::text, 'past_due'::text]))),
  constraint mandates_executor_check CHECK ((executor ~ '^0x[0-9a-f]{40}$'::text)),
  constraint mandates_hash_check CHECK ((length(hash) = 32)),
  constraint mandates_id_key UNIQUE (id),
  constraint mandates_min_interval_s_check CHECK ((min_interval_s > 0)),
  constraint mandates_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint mandates_partner_id_test_mode_plan_id_fkey FOREIGN KEY (partner_id, test_mode, plan_id) REFERENCES plans(partner_id, test_mode, id),
  constraint mandates_payee_check CHECK ((payee ~ '^0x[0-9a-f]{40}$'::text)),
  constraint mandates_payer_check CHECK ((payer ~ '^0x[0-9a-f]{40}$'::text)),
  constraint mandates_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint mandates_plan_ref_check CHECK ((length(plan_ref) = 32)),
  constraint mandates_salt_check CHECK ((length(salt) = 32)),
  constraint mandates_state_check CHECK ((state = ANY (ARRAY['active'::text, 'stopped'::text, 'replaced'::text, 'ended'::text]))),
  constraint mandates_token_address_check CHECK ((token_address ~ '^0x[0-9a-f]{40}$'::text))
);
CREATE UNIQUE INDEX mandates_active ON public.mandates USING btree (partner_id, test_mode, plan_id) WHERE (state = 'active'::text);
CREATE INDEX mandates_ends ON public.mandates USING btree (partner_id, test_mode, ends_at) WHERE (state = 'active'::text);
CREATE UNIQUE INDEX mandates_hash ON public.mandates USING btree (chain_id, contract_address, hash);
CREATE INDEX mandates_of_chain ON public.mandates USING btree (chain_id, test_mode, id) WHERE (state = 'active'::text);
CREATE INDEX mandates_of_plan ON public.mandates USING btree (plan_id) WHERE (state = 'active'::text);
CREATE INDEX mandates_payees ON public.mandates USING btree (partner_id, test_mode, account_id, payee) WHERE (state = 'active'::text);
CREATE INDEX mandates_payer ON public.mandates USING btree (chain_id, token_address, payer, contract_address) WHERE (state = 'active'::text);
CREATE INDEX mandates_plan ON public.mandates USING btree (partner_id, test_mode, plan_id, agreed_at);
CREATE INDEX mandates_revoke ON public.mandates USING btree (partner_id, test_mode, revoke_due_at) WHERE (revoke_due_at IS NOT NULL);
CREATE STATISTICS public.mandates_owners (dependencies) ON partner_id, test_mode, account_id FROM mandates;
CREATE TRIGGER mandates_tell AFTER UPDATE ON mandates FOR EACH ROW WHEN (old.state IS DISTINCT FROM new.state OR old.revoked_at IS DISTINCT FROM new.revoked_at) EXECUTE FUNCTION tell_mandate();
CREATE TRIGGER mandates_tell_new AFTER INSERT ON mandates FOR EACH ROW EXECUTE FUNCTION tell_mandate();
alter table mandates enable row level security, force row level security;
create policy owner on mandates for ALL to quittance using (true) with check (true);
create policy scope on mandates for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on mandates for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on mandates to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on mandates to quittance_service;

-- The merchants of partners. The API and other tables call the id account_id.
create table merchants (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  email text,
  display_name text,
  business_name text,
  country text,
  phone text,
  website text,
  instagram text,
  industry text,
  app_mode text not null,
  -- The currency of its requests (ISO 4217).
  display_currency text not null,
  wallet_address text,
  -- When its wallet signed. Null while the wallet is only claimed.
  wallet_signed_at timestamp with time zone,
  -- The chains on which the code of a contract wallet was checked. Null: any chain.
  wallet_chain_ids integer[],
  onboarded_at timestamp with time zone,
  -- Raised by a reset, so that earlier onboarding links end.
  onboarding_epoch integer not null default 0,
  -- When a code that was sent to the e-mail address was entered.
  email_checked_at timestamp with time zone,
  terms_version text,
  terms_accepted_at timestamp with time zone,
  -- The IP address from which the terms were accepted.
  terms_accepted_from text,
  disabled_by_partner boolean not null default false,
  disabled_by_operator boolean not null default false,
  created_at timestamp with time zone not null,
  -- The language in which mails to it are written.
  language text,
  -- A claimed wallet that it lost to a merchant who signed for it. Null once it has another one.
  displaced_wallet text,
  -- When it lost that wallet.
  displaced_at timestamp with time zone,
  constraint merchants_app_mode_check CHECK ((app_mode = ANY (ARRAY['personal'::text, 'business'::text]))),
  constraint merchants_check CHECK (((onboarded_at IS NULL) OR ((wallet_signed_at IS NOT NULL) AND (terms_accepted_at IS NOT NULL)))),
  constraint merchants_displaced_check CHECK (((displaced_wallet IS NULL) = (displaced_at IS NULL))),
  constraint merchants_id_key UNIQUE (id),
  constraint merchants_order TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint merchants_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint merchants_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint merchants_wallet_address_check CHECK ((wallet_address ~ '^0x[0-9a-f]{40}$'::text))
);
CREATE INDEX merchants_all_states ON public.merchants USING btree (test_mode, (
CASE
    WHEN (onboarded_at IS NULL) THEN 0
    ELSE 1
END), disabled_by_partner, disabled_by_operator, created_at, id);
CREATE INDEX merchants_list ON public.merchants USING btree (partner_id, test_mode, created_at, id);
CREATE INDEX merchants_newest ON public.merchants USING btree (created_at, id);
CREATE INDEX merchants_states ON public.merchants USING btree (partner_id, test_mode, (
CASE
    WHEN (onboarded_at IS NULL) THEN 0
    ELSE 1
END), disabled_by_partner, disabled_by_operator, created_at, id);
CREATE INDEX merchants_terms ON public.merchants USING btree (terms_version, terms_accepted_at) WHERE (terms_version IS NOT NULL);
CREATE INDEX merchants_terms_states ON public.merchants USING btree (terms_version, test_mode, (
CASE
    WHEN (onboarded_at IS NULL) THEN 0
    ELSE 1
END), disabled_by_partner, disabled_by_operator, created_at, id) WHERE (terms_version IS NOT NULL);
CREATE INDEX merchants_words ON public.merchants USING gin (lower(((((COALESCE(business_name, ''::text) || '
'::text) || COALESCE(display_name, ''::text)) || '
'::text) || COALESCE(email, ''::text))) gin_trgm_ops);
CREATE CONSTRAINT TRIGGER merchants_order AFTER INSERT ON merchants DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (current_setting('quittance.order_merchant'::text, true) = 'at commit'::text) EXECUTE FUNCTION order_merchant();
CREATE TRIGGER merchants_tell AFTER UPDATE ON merchants FOR EACH ROW WHEN (old.onboarded_at IS DISTINCT FROM new.onboarded_at OR old.wallet_address IS DISTINCT FROM new.wallet_address OR old.disabled_by_partner IS DISTINCT FROM new.disabled_by_partner OR old.disabled_by_operator IS DISTINCT FROM new.disabled_by_operator OR old.onboarding_epoch IS DISTINCT FROM new.onboarding_epoch OR old.business_name IS DISTINCT FROM new.business_name OR old.display_name IS DISTINCT FROM new.display_name OR old.email IS DISTINCT FROM new.email OR old.phone IS DISTINCT FROM new.phone OR old.website IS DISTINCT FROM new.website OR old.country IS DISTINCT FROM new.country OR old.app_mode IS DISTINCT FROM new.app_mode OR old.display_currency IS DISTINCT FROM new.display_currency) EXECUTE FUNCTION tell_merchant();
alter table merchants enable row level security, force row level security;
create policy owner on merchants for ALL to quittance using (true) with check (true);
create policy scope on merchants for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on merchants for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on merchants to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on merchants to quittance_service;

-- How far values of metadata are in metadata_values.
create table metadata_indexed (
  partner_id uuid not null,
  test_mode boolean not null,
  -- The creation time of the last request that was indexed.
  up_to timestamp with time zone not null,
  constraint metadata_indexed_partner_id_test_mode_fkey FOREIGN KEY (partner_id, test_mode) REFERENCES partner_clocks(partner_id, test_mode),
  constraint metadata_indexed_pkey PRIMARY KEY (partner_id, test_mode)
);
alter table metadata_indexed enable row level security, force row level security;
create policy owner on metadata_indexed for ALL to quittance using (true) with check (true);
create policy scope on metadata_indexed for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on metadata_indexed for ALL to quittance_service using (true) with check (true);
grant SELECT on metadata_indexed to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on metadata_indexed to quittance_service;

-- Values of requests' metadata in lower case, for searches. A loop writes them soon after the create.
create table metadata_values (
  partner_id uuid not null,
  test_mode boolean not null,
  -- A hash of partner, mode and value (metadata_token).
  token bigint not null,
  request_id uuid not null,
  constraint metadata_values_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint metadata_values_pkey PRIMARY KEY (partner_id, test_mode, token, request_id)
);
alter table metadata_values enable row level security, force row level security;
create policy owner on metadata_values for ALL to quittance using (true) with check (true);
create policy scope on metadata_values for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on metadata_values for ALL to quittance_service using (true) with check (true);
grant SELECT on metadata_values to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on metadata_values to quittance_service;

-- Codes that were sent to a merchant's e-mail address.
create table onboarding_codes (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  -- The keyed hash of the code.
  code_hash bytea not null,
  -- How many wrong codes were entered.
  attempts integer not null default 0,
  expires_at timestamp with time zone not null,
  constraint onboarding_codes_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint onboarding_codes_pkey PRIMARY KEY (partner_id, test_mode, account_id)
);
alter table onboarding_codes enable row level security, force row level security;
create policy owner on onboarding_codes for ALL to quittance using (true) with check (true);
create policy scope on onboarding_codes for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on onboarding_codes for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on onboarding_codes to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on onboarding_codes to quittance_service;

-- How far a merchant has come before its signature. Deleted once it has signed.
create table onboarding_progress (
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  -- When the first form was sent.
  details_at timestamp with time zone not null,
  -- The address that the merchant gave where the partner gave none.
  email text,
  wallet_address text,
  chain_id bigint,
  constraint onboarding_progress_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint onboarding_progress_pkey PRIMARY KEY (partner_id, test_mode, account_id),
  constraint onboarding_progress_wallet_address_check CHECK ((wallet_address ~ '^0x[0-9a-f]{40}$'::text))
);
alter table onboarding_progress enable row level security, force row level security;
create policy owner on onboarding_progress for ALL to quittance using (true) with check (true);
create policy scope on onboarding_progress for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on onboarding_progress for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on onboarding_progress to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on onboarding_progress to quittance_service;

-- Requests that were paid more than their amount. The function note_overpaid writes them.
create table overpaid_requests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  constraint overpaid_requests_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint overpaid_requests_pkey PRIMARY KEY (partner_id, test_mode, request_id)
);
alter table overpaid_requests enable row level security, force row level security;
create policy owner on overpaid_requests for ALL to quittance using (true) with check (true);
create policy scope on overpaid_requests for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on overpaid_requests for ALL to quittance_service using (true) with check (true);
grant SELECT on overpaid_requests to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on overpaid_requests to quittance_service;

-- The clock of each partner and mode: each request gets the next millisecond, so created_at increases in the order of commits.
create table partner_clocks (
  partner_id uuid not null,
  test_mode boolean not null,
  -- The created_at that was given last.
  last_at timestamp with time zone not null,
  constraint partner_clocks_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint partner_clocks_pkey PRIMARY KEY (partner_id, test_mode)
) with (fillfactor=50);
alter table partner_clocks enable row level security, force row level security;
create policy owner on partner_clocks for ALL to quittance using (true) with check (true);
create policy scope on partner_clocks for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on partner_clocks for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on partner_clocks to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on partner_clocks to quittance_service;

-- The partners, who create merchants and requests through the API.
create table partners (
  id uuid not null,
  -- The short name in addresses and commands.
  slug text not null,
  name text not null,
  -- The currency of merchants that name none (ISO 4217).
  currency text not null,
  -- The lifetimes that its requests may have.
  allowed_expiry_minutes integer[] not null,
  -- The lifetime of requests that name none.
  default_expiry_minutes integer not null,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  -- Where the partner is told of what needs its attention.
  email text,
  -- The colour of its pages, as #rrggbb.
  accent text,
  -- The image, at most 64 KiB.
  logo bytea,
  -- The media type of the logo.
  logo_type text,
  -- Part of the logo's address, so that a new logo has a new address.
  logo_hash text,
  constraint partners_accent_check CHECK ((accent ~ '^#[0-9a-f]{6}$'::text)),
  constraint partners_check CHECK ((default_expiry_minutes = ANY (allowed_expiry_minutes))),
  constraint partners_email_check CHECK ((email <> ''::text)),
  constraint partners_logo_check CHECK (((octet_length(logo) >= 1) AND (octet_length(logo) <= 65536))),
  constraint partners_logo_hash_check CHECK ((logo_hash ~ '^[0-9a-f]{16}$'::text)),
  constraint partners_logo_type_check CHECK ((logo_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/webp'::text]))),
  constraint partners_logo_whole CHECK ((num_nulls(logo, logo_type, logo_hash) = ANY (ARRAY[0, 3]))),
  constraint partners_pkey PRIMARY KEY (id),
  constraint partners_slug_check CHECK ((slug ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'::text)),
  constraint partners_slug_key UNIQUE (slug)
);
alter table partners enable row level security, force row level security;
create policy owner on partners for ALL to quittance using (true) with check (true);
create policy scope on partners for ALL to quittance_app using ((id = scope_partner()));
create policy service on partners for ALL to quittance_service using (true) with check (true);
grant SELECT on partners to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on partners to quittance_service;

-- Passkeys of users. Who has one cannot sign in with a link alone.
create table passkeys (
  id uuid not null,
  -- Null for an operator.
  partner_id uuid,
  user_id uuid not null,
  -- The identifier that the authenticator gave it.
  credential_id bytea not null,
  -- The public key in COSE format.
  public_key bytea not null,
  -- The signature counter that the authenticator last reported. 0 for those that do not count.
  counter bigint not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  constraint passkeys_credential_id_key UNIQUE (credential_id),
  constraint passkeys_partner_id_user_id_fkey FOREIGN KEY (partner_id, user_id) REFERENCES users(partner_id, id),
  constraint passkeys_pkey PRIMARY KEY (id),
  constraint passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX passkeys_of_partner ON public.passkeys USING btree (partner_id, user_id);
CREATE INDEX passkeys_of_user ON public.passkeys USING btree (user_id, created_at);
alter table passkeys enable row level security, force row level security;
create policy owner on passkeys for ALL to quittance using (true) with check (true);
create policy scope on passkeys for ALL to quittance_app using ((partner_id = scope_partner())) with check ((partner_id = scope_partner()));
create policy service on passkeys for ALL to quittance_service using (true) with check (true);
grant DELETE, SELECT on passkeys to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on passkeys to quittance_service;

-- Transactions that a customer's wallet or form named before they were mined. They are shown and prove nothing.
create table payment_hints (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  chain_id bigint not null,
  tx_hash text not null,
  from_address text not null,
  -- The nonce of the transaction. With from_address it finds what replaced it.
  nonce bigint not null,
  -- The newest block when it was first seen.
  seen_block bigint not null,
  state text not null,
  -- The transaction that was mined in its place, if known.
  replaced_by text,
  first_seen_at timestamp with time zone not null default now(),
  -- When the chain was last asked about it.
  checked_at timestamp with time zone not null default now(),
  -- What it would move to the request's wallet, in micro units. Null where only its being mined can tell.
  value numeric(78,0),
  -- When the first hint of its request arrived.
  heard_at timestamp with time zone not null default now(),
  constraint payment_hints_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint payment_hints_pkey PRIMARY KEY (partner_id, test_mode, request_id, chain_id, tx_hash),
  constraint payment_hints_state_check CHECK ((state = ANY (ARRAY['seen'::text, 'mined'::text, 'failed'::text, 'replaced'::text, 'gone'::text]))),
  constraint payment_hints_tx_hash_check CHECK ((tx_hash ~ '^0x[0-9a-f]{64}$'::text))
);
CREATE INDEX payment_hints_age ON public.payment_hints USING btree (first_seen_at);
CREATE TRIGGER payment_hints_tell AFTER UPDATE ON payment_hints FOR EACH ROW WHEN (old.state IS DISTINCT FROM new.state) EXECUTE FUNCTION tell_hint();
CREATE TRIGGER payment_hints_tell_new AFTER INSERT ON payment_hints FOR EACH ROW EXECUTE FUNCTION tell_hint();
alter table payment_hints enable row level security, force row level security;
create policy owner on payment_hints for ALL to quittance using (true) with check (true);
create policy scope on payment_hints for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on payment_hints for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on payment_hints to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on payment_hints to quittance_service;

-- The latest EIP-2612 permit of each payer. It allows the contract to take a token, for all mandates of the payer.
create table permits (
  chain_id bigint not null,
  token_address text not null,
  payer text not null,
  -- The contract that may take the token.
  contract_address text not null,
  -- How much it may take, in micro units.
  value numeric(78,0) not null,
  -- The nonce of the payer at the token.
  nonce numeric(78,0) not null,
  -- Until when the token accepts it, in Unix seconds.
  deadline numeric(78,0) not null,
  -- The payer's signature.
  signature bytea not null,
  signed_at timestamp with time zone not null,
  constraint permits_contract_address_check CHECK ((contract_address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint permits_payer_check CHECK ((payer ~ '^0x[0-9a-f]{40}$'::text)),
  constraint permits_pkey PRIMARY KEY (chain_id, token_address, payer, contract_address),
  constraint permits_token_address_check CHECK ((token_address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint permits_value_check CHECK ((value > (0)::numeric))
);
alter table permits enable row level security, force row level security;
create policy owner on permits for ALL to quittance using (true) with check (true);
create policy service on permits for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on permits to quittance_service;

-- The charges of plans: each is an ordinary request.
create table plan_charges (
  partner_id uuid not null,
  test_mode boolean not null,
  plan_id uuid not null,
  -- The number of the charge in its plan: 1, 2, 3 and so on.
  number integer not null,
  -- The date for which it is.
  due_on date not null,
  request_id uuid not null,
  made_at timestamp with time zone not null,
  constraint plan_charges_number_check CHECK ((number > 0)),
  constraint plan_charges_partner_id_test_mode_plan_id_due_on_key UNIQUE (partner_id, test_mode, plan_id, due_on),
  constraint plan_charges_partner_id_test_mode_plan_id_fkey FOREIGN KEY (partner_id, test_mode, plan_id) REFERENCES plans(partner_id, test_mode, id),
  constraint plan_charges_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint plan_charges_partner_id_test_mode_request_id_key UNIQUE (partner_id, test_mode, request_id),
  constraint plan_charges_pkey PRIMARY KEY (partner_id, test_mode, plan_id, number)
);
alter table plan_charges enable row level security, force row level security;
create policy owner on plan_charges for ALL to quittance using (true) with check (true);
create policy scope on plan_charges for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on plan_charges for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT on plan_charges to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on plan_charges to quittance_service;

-- Plans request the same amount from one customer on one date after the other.
create table plans (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  account_id uuid not null,
  -- The form that created it, so that a form that is sent twice creates one plan.
  form_key text not null,
  -- The memo of each charge. Null once erased.
  name text,
  -- The amount of each charge, in minor units of fiat_code.
  fiat_int bigint not null,
  fiat_code text not null,
  -- Null once erased.
  customer_name text,
  customer_email text,
  customer_phone text,
  -- The language in which the customer is written to.
  language text not null,
  -- Copied to each request. As json, which keeps the order of keys.
  metadata json not null,
  -- The unit of every.
  period text not null,
  -- How many periods lie between two dates.
  every integer not null,
  -- The first date, in UTC.
  first_on date not null,
  -- How many charges there are. Null: until somebody ends it.
  max_charges integer,
  state text not null default 'active'::text,
  -- How many charges were made.
  charges integer not null default 0,
  -- How many times every periods after first_on the next charge is. A pause skips some.
  slot integer not null default 0,
  -- The date of the next charge. Null once the plan has ended.
  next_on date,
  -- When the next charge is tried. Null while none is.
  due_at timestamp with time zone,
  -- Why the charge of next_on could not be made. Null when nothing is wrong.
  failure text,
  -- How many tries of that charge failed in a row.
  failures integer not null default 0,
  -- When the first of them failed.
  failed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  -- When the customer stopped the mails of the plan. Null: each new request is mailed.
  mails_stopped_at timestamp with time zone,
  -- link: the customer pays each request. automatic: the wallet of the customer is charged under a mandate.
  collect text not null default 'link'::text,
  -- The most that a customer agrees to for one charge, in minor units of fiat_code.
  cap_fiat_int bigint,
  -- By how many percent a mandate exceeds that, for changes of the rate.
  reserve_percent integer not null default 0,
  -- What follows a charge that failed for good: link (requests payment by link) or end (ends the plan).
  after_past_due text not null default 'link'::text,
  -- The date for which the wallet was last looked at ahead, so that the customer is warned once of each.
  foreseen_on date,
  -- The key of the ids and references of its requests, so that they stay the same when SECRET_KEYS changes.
  charge_key uuid,
  constraint plans_after_past_due_check CHECK ((after_past_due = ANY (ARRAY['link'::text, 'end'::text]))),
  constraint plans_cap_fiat_int_check CHECK (((cap_fiat_int >= 1) AND (cap_fiat_int <= 2147483647))),
  constraint plans_check CHECK (((state = 'ended'::text) OR (num_nulls(name, customer_name, next_on) = 0))),
  constraint plans_check1 CHECK (((state = 'active'::text) = (due_at IS NOT NULL))),
  constraint plans_check2 CHECK (((state = 'ended'::text) = (ended_at IS NOT NULL))),
  constraint plans_check3 CHECK (((max_charges IS NULL) OR (charges <= max_charges))),
  constraint plans_check4 CHECK (((failure IS NULL) = (failed_at IS NULL))),
  constraint plans_check5 CHECK (((collect = 'link'::text) OR (cap_fiat_int IS NOT NULL))),
  constraint plans_collect_check CHECK ((collect = ANY (ARRAY['link'::text, 'automatic'::text]))),
  constraint plans_every_check CHECK (((every >= 1) AND (every <= 365))),
  constraint plans_fiat_int_check CHECK (((fiat_int >= 1) AND (fiat_int <= 2147483647))),
  constraint plans_id_key UNIQUE (id),
  constraint plans_max_charges_check CHECK ((max_charges > 0)),
  constraint plans_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint plans_period_check CHECK ((period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  constraint plans_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint plans_reserve_percent_check CHECK (((reserve_percent >= 0) AND (reserve_percent <= 100))),
  constraint plans_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'ended'::text])))
);
CREATE INDEX plans_customer_email ON public.plans USING btree (lower(customer_email)) WHERE (customer_email IS NOT NULL);
CREATE INDEX plans_customer_phone ON public.plans USING btree (regexp_replace(customer_phone, '\D'::text, ''::text, 'g'::text)) WHERE (customer_phone IS NOT NULL);
CREATE INDEX plans_due ON public.plans USING btree (partner_id, test_mode, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX plans_foresee ON public.plans USING btree (due_at, id) WHERE ((collect = 'automatic'::text) AND (state = 'active'::text) AND (foreseen_on IS DISTINCT FROM next_on));
CREATE UNIQUE INDEX plans_form ON public.plans USING btree (partner_id, test_mode, account_id, form_key);
CREATE INDEX plans_list ON public.plans USING btree (partner_id, test_mode, account_id, created_at, id);
CREATE INDEX plans_next ON public.plans USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX plans_of_partner ON public.plans USING btree (partner_id, test_mode, created_at, id);
CREATE INDEX plans_of_partner_states ON public.plans USING btree (partner_id, test_mode, state, created_at, id);
CREATE INDEX plans_personal ON public.plans USING btree (ended_at) WHERE ((state = 'ended'::text) AND (customer_name IS NOT NULL));
CREATE INDEX plans_states ON public.plans USING btree (partner_id, test_mode, account_id, state, created_at, id);
CREATE INDEX plans_stuck ON public.plans USING btree (failed_at) WHERE (failure = ANY (ARRAY['rate_unavailable'::text, 'other'::text]));
CREATE STATISTICS public.plans_owners (dependencies) ON partner_id, test_mode, account_id FROM plans;
CREATE TRIGGER plans_tell AFTER UPDATE ON plans FOR EACH ROW WHEN (old.state IS DISTINCT FROM new.state OR old.failure IS DISTINCT FROM new.failure OR old.failures IS DISTINCT FROM new.failures OR old.name IS DISTINCT FROM new.name OR old.mails_stopped_at IS DISTINCT FROM new.mails_stopped_at OR old.fiat_int IS DISTINCT FROM new.fiat_int OR old.collect IS DISTINCT FROM new.collect) EXECUTE FUNCTION tell_plan();
CREATE TRIGGER plans_tell_new AFTER INSERT ON plans FOR EACH ROW EXECUTE FUNCTION tell_plan();
alter table plans enable row level security, force row level security;
create policy owner on plans for ALL to quittance using (true) with check (true);
create policy scope on plans for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on plans for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on plans to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on plans to quittance_service;

-- How many calls were made in a minute. Each subject and action has one row, which is used again.
create table rate_counters (
  partner_id uuid not null,
  -- The API key, or the partner itself.
  subject uuid not null,
  action text not null,
  -- The minute for which calls is the count.
  minute timestamp with time zone not null,
  -- The count.
  calls integer not null,
  constraint rate_counters_pkey PRIMARY KEY (partner_id, subject, action)
) with (fillfactor=50);
alter table rate_counters enable row level security, force row level security;
create policy owner on rate_counters for ALL to quittance using (true) with check (true);
create policy service on rate_counters for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on rate_counters to quittance_service;

-- Exchange rates that an operator has set. They come before those of rates.
create table rate_overrides (
  code text not null,
  -- Units of the currency for one stablecoin, as a decimal number in text.
  rate text not null,
  -- When it was set. No statement reads it.
  set_at timestamp with time zone not null default now(),
  -- When it ends. Null: until it is removed.
  until timestamp with time zone,
  constraint rate_overrides_pkey PRIMARY KEY (code)
);
alter table rate_overrides enable row level security, force row level security;
create policy everybody on rate_overrides for SELECT to quittance_app using (true);
create policy owner on rate_overrides for ALL to quittance using (true) with check (true);
create policy service on rate_overrides for ALL to quittance_service using (true) with check (true);
grant SELECT on rate_overrides to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on rate_overrides to quittance_service;

-- The exchange rates that were fetched last.
create table rates (
  -- The currency (ISO 4217).
  code text not null,
  -- Units of the currency for one stablecoin, as a decimal number in text.
  rate text not null,
  -- The sources and their rates, of which rate is the median: [{source, rate}].
  sources json not null,
  fetched_at timestamp with time zone not null,
  constraint rates_pkey PRIMARY KEY (code)
);
CREATE TRIGGER rates_tell AFTER INSERT OR UPDATE ON rates FOR EACH STATEMENT EXECUTE FUNCTION tell_rates();
alter table rates enable row level security, force row level security;
create policy everybody on rates for SELECT to quittance_app using (true);
create policy owner on rates for ALL to quittance using (true) with check (true);
create policy service on rates for ALL to quittance_service using (true) with check (true);
grant SELECT on rates to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on rates to quittance_service;

-- How far verified requests were searched for receipts that could not be queued when they were verified. One row.
create table receipt_sweep (
  -- Allows only one row. No statement reads it.
  sole boolean not null default true,
  -- When the last request that was looked at was verified.
  verified_at timestamp with time zone not null,
  -- That request.
  request_id uuid not null,
  constraint receipt_sweep_pkey PRIMARY KEY (sole),
  constraint receipt_sweep_sole_check CHECK (sole)
);
alter table receipt_sweep enable row level security, force row level security;
create policy owner on receipt_sweep for ALL to quittance using (true) with check (true);
create policy service on receipt_sweep for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on receipt_sweep to quittance_service;

-- Receipts to be sent, as a mail or as a message to a phone.
create table receipts (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  channel text not null,
  created_at timestamp with time zone not null default now(),
  -- How often sending it was tried.
  attempts integer not null default 0,
  -- When it is tried next. infinity: given up.
  next_attempt_at timestamp with time zone not null default now(),
  -- When it was passed on, or nobody was left to send it to.
  done_at timestamp with time zone,
  -- Why the last attempt failed, for operators.
  error text,
  constraint receipts_channel_check CHECK ((channel = ANY (ARRAY['mail'::text, 'phone'::text]))),
  constraint receipts_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint receipts_pkey PRIMARY KEY (partner_id, test_mode, request_id, channel)
);
CREATE INDEX receipts_due ON public.receipts USING btree (channel, next_attempt_at) WHERE (done_at IS NULL);
CREATE INDEX receipts_given_up ON public.receipts USING btree (created_at, request_id) WHERE ((done_at IS NULL) AND (next_attempt_at = 'infinity'::timestamp with time zone));
CREATE INDEX receipts_turn ON public.receipts USING btree (channel, partner_id, next_attempt_at) WHERE ((done_at IS NULL) AND (next_attempt_at < 'infinity'::timestamp with time zone));
alter table receipts enable row level security, force row level security;
create policy owner on receipts for ALL to quittance using (true) with check (true);
create policy scope on receipts for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on receipts for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on receipts to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on receipts to quittance_service;

-- The addresses from which the relayer sends, on each chain, as they were when the chain was last asked.
create table relay_accounts (
  chain_id bigint not null,
  address text not null,
  -- The nonce that the next transaction gets.
  next_nonce bigint not null,
  -- How many of its transactions are mined, as all endpoints agree.
  chain_nonce bigint not null,
  -- Its balance, in wei.
  balance_wei numeric(78,0) not null,
  -- The base fee of the next block, in wei per gas.
  base_fee_wei numeric(78,0) not null,
  -- The priority fee that a transaction offers, in wei per gas.
  priority_fee_wei numeric(78,0) not null,
  -- The newest block.
  head_number bigint not null,
  -- Not used any more: seen_hash replaced it. A later release removes it.
  seen_number bigint,
  -- When the chain was last asked how many transactions are mined.
  counted_at timestamp with time zone not null,
  -- When the chain was last asked for the balance, too.
  checked_at timestamp with time zone not null,
  -- When the loop looks at it next.
  look_at timestamp with time zone not null default now(),
  -- A nonce without a transaction, below others that have one. A transfer of nothing fills it.
  gap_nonce bigint,
  -- When that was last tried.
  gap_at timestamp with time zone,
  -- The most that this transfer pays, in wei per gas.
  gap_fee_wei numeric(78,0),
  -- The priority fee of this transfer, in wei per gas.
  gap_priority_fee_wei numeric(78,0),
  -- The newest block that the reader had read.
  seen_hash text,
  constraint relay_accounts_chain_nonce_check CHECK ((chain_nonce >= 0)),
  constraint relay_accounts_next_nonce_check CHECK ((next_nonce >= 0)),
  constraint relay_accounts_pkey PRIMARY KEY (chain_id, address)
);
alter table relay_accounts enable row level security, force row level security;
create policy everybody on relay_accounts for SELECT to quittance_app using (true);
create policy owner on relay_accounts for ALL to quittance using (true) with check (true);
create policy service on relay_accounts for ALL to quittance_service using (true) with check (true);
grant SELECT on relay_accounts to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on relay_accounts to quittance_service;

-- What the relayer spent for a partner on a day (UTC). What is under way counts with its maximum.
create table relay_spending (
  partner_id uuid not null,
  test_mode boolean not null,
  chain_id bigint not null,
  day date not null,
  -- The sum, in wei.
  wei numeric(78,0) not null,
  constraint relay_spending_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint relay_spending_pkey PRIMARY KEY (partner_id, test_mode, chain_id, day),
  constraint relay_spending_wei_check CHECK ((wei >= (0)::numeric))
);
CREATE INDEX relay_spending_day ON public.relay_spending USING btree (chain_id, day);
alter table relay_spending enable row level security, force row level security;
create policy owner on relay_spending for ALL to quittance using (true) with check (true);
create policy scope on relay_spending for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on relay_spending for ALL to quittance_service using (true) with check (true);
grant SELECT on relay_spending to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on relay_spending to quittance_service;

-- Transactions that the service signs, sends and follows until the chain has decided.
create table relay_transactions (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  chain_id bigint not null,
  -- The address of the relayer that sends it.
  from_address text not null,
  -- Its nonce. Of all transactions with one nonce, the chain includes one.
  nonce bigint not null,
  to_address text not null,
  -- The calldata.
  data bytea not null,
  -- The gas limit.
  gas bigint not null,
  -- What it does: a charge, the end of a mandate, or an EIP-3009 authorization.
  purpose text not null,
  -- The request, or the mandate that it ends.
  subject_id uuid not null,
  -- allotted: has a nonce, is not signed. sent: signed. mined: in a block. final and reverted: its block is final. lost: another one used the nonce.
  state text not null default 'allotted'::text,
  -- The variant that was signed last, or that was mined.
  hash text,
  -- The day whose budget it is counted in (UTC).
  day date not null,
  -- The most that it can cost, in wei. Once it is mined, what it cost.
  fee_wei numeric(78,0) not null,
  allotted_at timestamp with time zone not null default now(),
  -- When the last variant was signed.
  sent_at timestamp with time zone,
  -- The newest block at that time.
  sent_head bigint,
  -- Whether an endpoint has accepted the last variant.
  reached boolean not null default false,
  -- When the last variant was last sent to an endpoint.
  tried_at timestamp with time zone,
  -- Why it is not signed, or why no endpoint accepted it.
  trouble text,
  -- Since when every endpoint refuses it.
  refused_at timestamp with time zone,
  -- The block that includes it.
  block_number bigint,
  block_hash text,
  -- Whether the mined variant succeeded. Null while that is not known.
  succeeded boolean,
  -- The newest block when its nonce was first found used without a known variant being mined.
  passed_block bigint,
  ended_at timestamp with time zone,
  -- The merchant of a charge. Null for other calls.
  account_id uuid,
  constraint relay_transactions_chain_id_from_address_nonce_key UNIQUE (chain_id, from_address, nonce),
  constraint relay_transactions_check CHECK (
CASE state
    WHEN 'allotted'::text THEN (hash IS NULL)
    WHEN 'lost'::text THEN true
    ELSE (hash IS NOT NULL)
END),
  constraint relay_transactions_check1 CHECK (((state = ANY (ARRAY['final'::text, 'reverted'::text, 'lost'::text])) = (ended_at IS NOT NULL))),
  constraint relay_transactions_check2 CHECK ((num_nulls(block_number, block_hash) = ANY (ARRAY[0, 2]))),
  constraint relay_transactions_gas_check CHECK ((gas > 0)),
  constraint relay_transactions_id_key UNIQUE (id),
  constraint relay_transactions_nonce_check CHECK ((nonce >= 0)),
  constraint relay_transactions_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint relay_transactions_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint relay_transactions_purpose_check CHECK ((purpose = ANY (ARRAY['charge'::text, 'revoke'::text, 'authorization'::text]))),
  constraint relay_transactions_state_check CHECK ((state = ANY (ARRAY['allotted'::text, 'sent'::text, 'mined'::text, 'final'::text, 'reverted'::text, 'lost'::text])))
);
CREATE INDEX relay_transactions_charges ON public.relay_transactions USING btree (partner_id, test_mode, chain_id, account_id, day) WHERE (account_id IS NOT NULL);
CREATE INDEX relay_transactions_live ON public.relay_transactions USING btree (chain_id, from_address, nonce) WHERE (state = ANY (ARRAY['allotted'::text, 'sent'::text, 'mined'::text]));
CREATE INDEX relay_transactions_subject ON public.relay_transactions USING btree (partner_id, test_mode, subject_id);
CREATE INDEX relay_transactions_waiting ON public.relay_transactions USING btree (partner_id, test_mode, chain_id) WHERE (state = ANY (ARRAY['allotted'::text, 'sent'::text]));
alter table relay_transactions enable row level security, force row level security;
create policy owner on relay_transactions for ALL to quittance using (true) with check (true);
create policy scope on relay_transactions for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on relay_transactions for ALL to quittance_service using (true) with check (true);
grant SELECT on relay_transactions to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on relay_transactions to quittance_service;

-- Every variant of a transaction that was ever signed, as with a higher fee. The chain may include any of them.
create table relay_variants (
  partner_id uuid not null,
  test_mode boolean not null,
  relay_id uuid not null,
  hash text not null,
  -- The signed transaction.
  signed bytea not null,
  -- The most that it pays, in wei per gas.
  max_fee_wei numeric(78,0) not null,
  -- Its priority fee, in wei per gas.
  priority_fee_wei numeric(78,0) not null,
  -- Whether it is a transfer of nothing in place of a call that every endpoint refuses.
  cancels boolean not null default false,
  -- What it cost, in wei. Null until its receipt was read.
  fee_wei numeric(78,0),
  signed_at timestamp with time zone not null default now(),
  constraint relay_variants_hash_key UNIQUE (hash),
  constraint relay_variants_partner_id_test_mode_relay_id_fkey FOREIGN KEY (partner_id, test_mode, relay_id) REFERENCES relay_transactions(partner_id, test_mode, id),
  constraint relay_variants_pkey PRIMARY KEY (partner_id, test_mode, relay_id, hash)
);
alter table relay_variants enable row level security, force row level security;
create policy owner on relay_variants for ALL to quittance using (true) with check (true);
create policy scope on relay_variants for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on relay_variants for ALL to quittance_service using (true) with check (true);
grant SELECT on relay_variants to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on relay_variants to quittance_service;

-- Payment requests.
create table requests (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  -- The merchant who is paid.
  account_id uuid not null,
  -- Null: a repeated create makes another request.
  idempotency_key text,
  -- The amount in minor units of fiat_code.
  fiat_int bigint not null,
  fiat_code text not null,
  -- The amount due in micro units, which are millionths of a stablecoin. It can include a surcharge below one cent.
  usdc_micro numeric(40,0) not null,
  -- Whether usdc_micro is reserved in amount_reservations. Otherwise no transfer is matched by its value.
  reserved boolean not null,
  -- Units of fiat_code for one stablecoin at the create, as a decimal number.
  rate text not null,
  memo text,
  payment_mode text not null,
  customer_name text,
  customer_email text,
  customer_phone text,
  -- As json, which keeps the order of keys.
  metadata json not null,
  -- The merchant's wallet at the create. A later change does not move open requests.
  wallet_address text not null,
  -- 16 bytes at the end of a payment's calldata that name the request: a keyed hash of its id.
  reference bytea not null,
  -- The newest block of each chain at the create: {"<chain id>": number, "heads": {"<chain id>": {"hash", "time"}}}.
  start_blocks jsonb not null,
  status text not null default 'requested'::text,
  proof_status text not null default 'none'::text,
  -- Why a proof was withdrawn: reorged.
  proof_note text,
  -- What it was paid with (CAIP-19). Null until a payment is known.
  asset_id text,
  -- The transfer that completed the amount.
  tx_hash text,
  -- The sender of that transfer.
  payer_address text,
  -- From the partner's clock, so it increases in the order of commits. It can differ from the real time.
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  opened_at timestamp with time zone,
  voided_at timestamp with time zone,
  proof_verified_at timestamp with time zone,
  -- override, or the sources of the rate. Null if they were not stored.
  rate_source text,
  -- The language in which the customer last read the pay page.
  customer_language text,
  -- The chains on which that wallet can be paid. Null: any chain.
  wallet_chain_ids integer[],
  -- The real time of the create. Null on old requests.
  made_at timestamp with time zone,
  constraint requests_id_key UNIQUE (id),
  constraint requests_order TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint requests_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint requests_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint requests_sound CHECK (request_is_sound(status, proof_status, proof_verified_at, tx_hash, payer_address, voided_at, fiat_int, usdc_micro, payment_mode, reference))
);
CREATE INDEX requests_account_list ON public.requests USING btree (partner_id, test_mode, account_id, created_at);
CREATE INDEX requests_account_paid ON public.requests USING btree (partner_id, test_mode, account_id, proof_verified_at) INCLUDE (fiat_code, fiat_int, usdc_micro) WHERE (proof_status = 'verified'::text);
CREATE INDEX requests_account_states ON public.requests USING btree (partner_id, test_mode, account_id, status, proof_status, created_at);
CREATE INDEX requests_customer_phone ON public.requests USING btree (regexp_replace(customer_phone, '\D'::text, ''::text, 'g'::text)) WHERE (customer_phone IS NOT NULL);
CREATE INDEX requests_due ON public.requests USING btree (expires_at) WHERE ((status = ANY (ARRAY['requested'::text, 'opened'::text])) AND (proof_status = 'none'::text));
CREATE INDEX requests_email ON public.requests USING btree (lower(customer_email), partner_id, test_mode, account_id, created_at) WHERE (customer_email IS NOT NULL);
CREATE UNIQUE INDEX requests_idempotency ON public.requests USING btree (partner_id, test_mode, account_id, idempotency_key);
CREATE UNIQUE INDEX requests_list ON public.requests USING btree (partner_id, test_mode, created_at);
CREATE INDEX requests_receipted ON public.requests USING btree (proof_verified_at, id) WHERE ((proof_status = 'verified'::text) AND ((customer_email IS NOT NULL) OR (customer_phone IS NOT NULL)));
CREATE INDEX requests_reference ON public.requests USING btree (partner_id, test_mode, reference);
CREATE INDEX requests_states ON public.requests USING btree (partner_id, test_mode, status, proof_status, created_at);
CREATE INDEX requests_verified ON public.requests USING btree (partner_id, test_mode, proof_verified_at) INCLUDE (fiat_code, fiat_int) WHERE (proof_status = 'verified'::text);
CREATE INDEX requests_wallet ON public.requests USING btree (partner_id, test_mode, wallet_address, created_at);
CREATE STATISTICS public.requests_owners (ndistinct, dependencies) ON partner_id, test_mode, account_id FROM requests;
CREATE CONSTRAINT TRIGGER requests_order AFTER INSERT ON requests DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.created_at >= '10000-01-01 00:00:00+00'::timestamp with time zone) EXECUTE FUNCTION order_request();
CREATE TRIGGER requests_tell AFTER UPDATE ON requests FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status OR old.proof_status IS DISTINCT FROM new.proof_status OR old.proof_note IS DISTINCT FROM new.proof_note) EXECUTE FUNCTION tell_request();
CREATE TRIGGER requests_wallet_chains BEFORE INSERT ON requests FOR EACH ROW EXECUTE FUNCTION copy_wallet_chains();
alter table requests enable row level security, force row level security;
create policy owner on requests for ALL to quittance using (true) with check (true);
create policy scope on requests for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on requests for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on requests to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on requests to quittance_service;

-- Amounts that are reserved for the rest of a request after a partial payment.
create table reserved_rests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  -- The rest that is due, in micro units.
  rest_micro numeric(40,0) not null,
  wallet_address text not null,
  -- The amount that is reserved for it, in micro units: the rest, or with a surcharge below one cent.
  usdc_micro numeric(40,0) not null,
  -- The newest block of each chain when it was reserved, as in requests.
  start_blocks jsonb not null,
  constraint reserved_rests_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint reserved_rests_pkey PRIMARY KEY (partner_id, test_mode, request_id, rest_micro),
  constraint reserved_rests_rest_micro_check CHECK ((rest_micro > (0)::numeric)),
  constraint reserved_rests_wallet_address_usdc_micro_fkey FOREIGN KEY (wallet_address, usdc_micro) REFERENCES amount_reservations(wallet_address, usdc_micro) ON DELETE CASCADE,
  constraint reserved_rests_wallet_address_usdc_micro_key UNIQUE (wallet_address, usdc_micro)
);
alter table reserved_rests enable row level security, force row level security;
create policy owner on reserved_rests for ALL to quittance using (true) with check (true);
create policy scope on reserved_rests for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on reserved_rests for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT on reserved_rests to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on reserved_rests to quittance_service;

-- Refunds: payments that a merchant sends back, each in whole or in part. The key is that of the transfer that came in.
create table returns (
  partner_id uuid not null,
  test_mode boolean not null,
  chain_id bigint not null,
  -- The transaction of the payment.
  tx_hash text not null,
  -- The place of its log among those of its transaction, from 0.
  ordinal integer not null,
  account_id uuid not null,
  -- The request that was overpaid. Null for an unmatched payment.
  request_id uuid,
  -- The wallet that the refund goes to.
  to_address text not null,
  -- What is to be sent back, in micro units.
  usdc_micro numeric(40,0) not null,
  -- The transaction that sends it back. Null until the merchant has named it.
  return_tx_hash text,
  -- When the refund was begun, or its transaction was named. One that replaces a transaction still awaited keeps it.
  noted_at timestamp with time zone not null,
  -- returning: begun. sent: named and not final. confirmed, failed, other: final. missing: not found for a day. kept: withdrawn by the merchant.
  state text not null default 'sent'::text,
  -- What return_tx_hash moves to the payer, in micro units. Null while no block shows it.
  given_micro numeric(40,0),
  -- The merchant's wallet that was paid, from which the refund comes.
  from_address text,
  token_address text,
  -- When the chain is asked next.
  next_look_at timestamp with time zone not null default now(),
  -- When return_tx_hash replaced a transaction that was still awaited. Null otherwise.
  replaced_at timestamp with time zone,
  constraint returns_given_micro_check CHECK ((given_micro > (0)::numeric)),
  constraint returns_not_noted CHECK (((state <> 'returning'::text) OR (return_tx_hash IS NULL))),
  constraint returns_noted CHECK (((state = ANY (ARRAY['returning'::text, 'kept'::text])) OR (return_tx_hash IS NOT NULL))),
  constraint returns_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint returns_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint returns_pkey PRIMARY KEY (partner_id, test_mode, chain_id, tx_hash, ordinal),
  constraint returns_return_tx_hash_check CHECK ((return_tx_hash ~ '^0x[0-9a-f]{64}$'::text)),
  constraint returns_sought CHECK (((state <> ALL (ARRAY['returning'::text, 'sent'::text])) OR (num_nulls(from_address, token_address) = 0))),
  constraint returns_state_check CHECK ((state = ANY (ARRAY['returning'::text, 'sent'::text, 'confirmed'::text, 'failed'::text, 'missing'::text, 'other'::text, 'kept'::text]))),
  constraint returns_usdc_micro_check CHECK ((usdc_micro > (0)::numeric))
);
CREATE INDEX returns_due ON public.returns USING btree (next_look_at) WHERE ((state = ANY (ARRAY['sent'::text, 'missing'::text, 'kept'::text])) AND (return_tx_hash IS NOT NULL) AND (from_address IS NOT NULL));
CREATE INDEX returns_of_chain ON public.returns USING btree (chain_id, test_mode, tx_hash) WHERE (state = ANY (ARRAY['returning'::text, 'sent'::text]));
CREATE INDEX returns_transaction ON public.returns USING btree (partner_id, test_mode, chain_id, return_tx_hash);
CREATE INDEX returns_turns ON public.returns USING btree (partner_id, account_id, next_look_at) WHERE ((state = ANY (ARRAY['sent'::text, 'missing'::text, 'kept'::text])) AND (return_tx_hash IS NOT NULL) AND (from_address IS NOT NULL));
CREATE TRIGGER returns_tell AFTER UPDATE ON returns FOR EACH ROW WHEN (old.state IS DISTINCT FROM new.state OR old.given_micro IS DISTINCT FROM new.given_micro OR old.return_tx_hash IS DISTINCT FROM new.return_tx_hash) EXECUTE FUNCTION tell_return();
CREATE TRIGGER returns_told AFTER INSERT ON returns FOR EACH ROW EXECUTE FUNCTION tell_return();
alter table returns enable row level security, force row level security;
create policy owner on returns for ALL to quittance using (true) with check (true);
create policy scope on returns for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on returns for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on returns to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on returns to quittance_service;

-- Transactions of refunds that were not found and were replaced. They could still be mined, so they are watched.
create table returns_replaced (
  partner_id uuid not null,
  test_mode boolean not null,
  chain_id bigint not null,
  tx_hash text not null,
  -- The place of the payment's log among those of its transaction, from 0.
  ordinal integer not null,
  -- The transaction that was replaced.
  return_tx_hash text not null,
  account_id uuid not null,
  request_id uuid,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  -- What it was to send back, in micro units.
  usdc_micro numeric(40,0) not null,
  -- When it was named.
  noted_at timestamp with time zone not null,
  -- When the chain is asked next.
  next_look_at timestamp with time zone not null default now(),
  constraint returns_replaced_partner_id_test_mode_chain_id_tx_hash_ord_fkey FOREIGN KEY (partner_id, test_mode, chain_id, tx_hash, ordinal) REFERENCES returns(partner_id, test_mode, chain_id, tx_hash, ordinal),
  constraint returns_replaced_pkey PRIMARY KEY (partner_id, test_mode, chain_id, tx_hash, ordinal, return_tx_hash),
  constraint returns_replaced_return_tx_hash_check CHECK ((return_tx_hash ~ '^0x[0-9a-f]{64}$'::text)),
  constraint returns_replaced_usdc_micro_check CHECK ((usdc_micro > (0)::numeric))
);
CREATE INDEX returns_replaced_due ON public.returns_replaced USING btree (next_look_at);
CREATE INDEX returns_replaced_turns ON public.returns_replaced USING btree (partner_id, account_id, next_look_at);
alter table returns_replaced enable row level security, force row level security;
create policy owner on returns_replaced for ALL to quittance using (true) with check (true);
create policy scope on returns_replaced for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on returns_replaced for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on returns_replaced to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on returns_replaced to quittance_service;

-- The migrations that were applied.
create table schema_migrations (
  name text not null,
  applied_at timestamp with time zone default now(),
  constraint schema_migrations_pkey PRIMARY KEY (name)
);
alter table schema_migrations enable row level security, force row level security;
create policy owner on schema_migrations for ALL to quittance using (true) with check (true);
create policy service on schema_migrations for ALL to quittance_service using (true) with check (true);
grant SELECT on schema_migrations to quittance_service;

-- The key with which each login proves its scopes (HMAC-SHA256). Only the owner reads it.
create table scope_keys (
  login name not null,
  -- The key with the inner padding.
  inner_pad bytea not null,
  -- The key with the outer padding.
  outer_pad bytea not null,
  constraint scope_keys_inner_pad_check CHECK ((length(inner_pad) = 64)),
  constraint scope_keys_outer_pad_check CHECK ((length(outer_pad) = 64)),
  constraint scope_keys_pkey PRIMARY KEY (login)
);
alter table scope_keys enable row level security, force row level security;
create policy owner on scope_keys for ALL to quittance using (true) with check (true);

-- The keys of SECRET_KEYS that this database was written with, so that a lost or changed one is noticed.
create table secret_key_marks (
  key_id text not null,
  -- A keyed hash. Null if the key was given up before it left one.
  mark bytea,
  noted_at timestamp with time zone not null default now(),
  -- When an operator gave the key up as lost.
  forgotten_at timestamp with time zone,
  -- When a running node last had the key first in SECRET_KEYS, which is the one that encrypts.
  in_front_at timestamp with time zone,
  constraint secret_key_marks_pkey PRIMARY KEY (key_id)
);
alter table secret_key_marks enable row level security, force row level security;
create policy owner on secret_key_marks for ALL to quittance using (true) with check (true);
create policy service on secret_key_marks for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on secret_key_marks to quittance_service;

-- Who is signed in. The browser's cookie has the token.
create table sessions (
  id uuid not null,
  -- The keyed hash of the token.
  token_hash bytea not null,
  kind text not null,
  partner_id uuid,
  test_mode boolean,
  -- The merchant of a session of that kind.
  account_id uuid,
  -- The user of any other session.
  user_id uuid,
  -- The merchant's wallet. The session ends when the merchant has another one.
  wallet_address text,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  revoked_at timestamp with time zone,
  ip text not null,
  user_agent text,
  -- When the user last confirmed with a passkey.
  confirmed_at timestamp with time zone,
  constraint sessions_check CHECK (((kind <> 'merchant'::text) OR (num_nulls(partner_id, test_mode, account_id, wallet_address) = 0))),
  constraint sessions_check1 CHECK (((kind <> 'partner_user'::text) OR (num_nulls(partner_id, user_id) = 0))),
  constraint sessions_check2 CHECK (((kind <> 'operator'::text) OR ((user_id IS NOT NULL) AND (partner_id IS NULL)))),
  constraint sessions_kind_check CHECK ((kind = ANY (ARRAY['merchant'::text, 'partner_user'::text, 'operator'::text]))),
  constraint sessions_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint sessions_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint sessions_pkey PRIMARY KEY (id),
  constraint sessions_token_hash_key UNIQUE (token_hash),
  constraint sessions_user FOREIGN KEY (user_id) REFERENCES users(id),
  constraint sessions_user_of_partner FOREIGN KEY (partner_id, user_id) REFERENCES users(partner_id, id)
);
CREATE INDEX sessions_account ON public.sessions USING btree (partner_id, test_mode, account_id, last_seen_at);
CREATE INDEX sessions_of_user ON public.sessions USING btree (user_id, last_seen_at) WHERE (user_id IS NOT NULL);
CREATE STATISTICS public.sessions_owners (dependencies) ON partner_id, test_mode, account_id FROM sessions;
CREATE TRIGGER session_ends_told AFTER UPDATE OF revoked_at ON sessions FOR EACH ROW WHEN (new.revoked_at IS NOT NULL AND old.revoked_at IS NULL) EXECUTE FUNCTION tell_session_end();
alter table sessions enable row level security, force row level security;
create policy owner on sessions for ALL to quittance using (true) with check (true);
create policy service on sessions for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on sessions to quittance_service;

-- Links that were mailed to sign in with. One is recorded for unknown addresses, too.
create table sign_in_links (
  -- The keyed hash of the token in the link.
  token_hash bytea not null,
  kind text not null,
  email text not null,
  -- Set for a link that was requested on a partner's own host, and for an invitation.
  partner_id uuid,
  -- The user of an invitation.
  user_id uuid,
  -- The browser that requested the link. Null for an invitation, which any browser may use.
  browser_hash bytea,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  -- The network that requested the link, or the browser if it is known. Limits are counted by it.
  asker_hash bytea,
  -- Whether that browser has signed in with this address before.
  known_browser boolean not null default false,
  constraint sign_in_links_check CHECK (((user_id IS NULL) = (browser_hash IS NOT NULL))),
  constraint sign_in_links_kind_check CHECK ((kind = ANY (ARRAY['partner_user'::text, 'operator'::text]))),
  constraint sign_in_links_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint sign_in_links_pkey PRIMARY KEY (token_hash),
  constraint sign_in_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id)
);
CREATE INDEX sign_in_links_email ON public.sign_in_links USING btree (email, created_at);
CREATE INDEX sign_in_links_expiry ON public.sign_in_links USING btree (expires_at);
alter table sign_in_links enable row level security, force row level security;
create policy owner on sign_in_links for ALL to quittance using (true) with check (true);
create policy service on sign_in_links for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on sign_in_links to quittance_service;

-- With which tokens each chain was read, so that blocks without one are read again once it is back.
create table tokens_read (
  chain_id bigint not null,
  token_address text not null,
  -- The last block that was read with the token, or searched for it since. Null if none was read without it.
  left_at bigint,
  -- The last block that was read without it. Null while it is missing, and if none was.
  back_at bigint,
  constraint tokens_read_check CHECK (((back_at IS NULL) OR (left_at IS NOT NULL))),
  constraint tokens_read_pkey PRIMARY KEY (chain_id, token_address)
);
alter table tokens_read enable row level security, force row level security;
create policy owner on tokens_read for ALL to quittance using (true) with check (true);
create policy service on tokens_read for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on tokens_read to quittance_service;

-- Registry over all partners: the transfers to watched wallets. Each is bound to at most one request.
create table transfers (
  chain_id bigint not null,
  tx_hash text not null,
  -- The place of the log among those of its transaction, from 0. Unlike log_index it survives a reorganisation.
  ordinal integer not null,
  -- The block that includes it.
  block_number bigint not null,
  block_hash text not null,
  block_time timestamp with time zone not null,
  token_address text not null,
  from_address text not null,
  to_address text not null,
  -- What it moves, in micro units.
  value numeric(78,0) not null,
  partner_id uuid not null,
  test_mode boolean not null,
  -- The merchant of the wallet.
  account_id uuid not null,
  -- The 16 bytes in the calldata that name a request. Null if there are none, or they are ambiguous.
  calldata_reference bytea,
  -- The request to which it is bound. Null: unmatched.
  request_id uuid,
  -- The request for which an unmatched transfer seems meant.
  candidate_request_id uuid,
  -- What bound it: see Rule in src/payments/rules.ts.
  rule text,
  -- Why it is unmatched, or bound and not counted: see Reason in src/payments/rules.ts.
  reason text,
  -- Whether it adds to what pays request_id.
  counts boolean not null default false,
  -- When it was matched, or found to match nothing. Null: not looked at yet.
  judged_at timestamp with time zone,
  -- When its block was final and all endpoints had confirmed it.
  final_at timestamp with time zone,
  -- When a loop looks at it next.
  look_at timestamp with time zone not null default now(),
  -- How often in a row a loop could not judge or confirm it.
  looks integer not null default 0,
  -- The place of the log in its block. Null on old rows.
  log_index integer,
  -- Whether the calldata was known. If not, it is matched and confirmed without it.
  calldata_read boolean not null default true,
  -- How often in a row all endpoints denied it alike.
  denials integer not null default 0,
  -- Since when they have.
  denied_at timestamp with time zone,
  -- The nonce of the EIP-3009 authorization that it executes.
  authorization_nonce bytea,
  -- The reference that the contract for automatic charges named.
  charged_reference bytea,
  -- Whether the other logs of the transaction were looked at.
  logs_read boolean not null default true,
  constraint transfers_authorization_nonce_check CHECK ((octet_length(authorization_nonce) = 32)),
  constraint transfers_charged_reference_check CHECK ((octet_length(charged_reference) = 16)),
  constraint transfers_check CHECK (((NOT counts) OR (request_id IS NOT NULL))),
  constraint transfers_note_overpaid TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint transfers_note_underpaid TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint transfers_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint transfers_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint transfers_pkey PRIMARY KEY (chain_id, tx_hash, ordinal),
  constraint transfers_rule_check CHECK ((rule = ANY (ARRAY['authorization'::text, 'charge'::text, 'reference'::text, 'amount'::text, 'claim'::text, 'merchant'::text]))),
  constraint transfers_value_check CHECK ((value > (0)::numeric))
);
CREATE INDEX transfers_arriving ON public.transfers USING btree (partner_id, test_mode, to_address, value) WHERE (judged_at IS NULL);
CREATE INDEX transfers_arriving_authorization ON public.transfers USING btree (partner_id, test_mode, authorization_nonce) WHERE ((judged_at IS NULL) AND (authorization_nonce IS NOT NULL));
CREATE INDEX transfers_arriving_charge ON public.transfers USING btree (partner_id, test_mode, charged_reference) WHERE ((judged_at IS NULL) AND (charged_reference IS NOT NULL));
CREATE INDEX transfers_arriving_reference ON public.transfers USING btree (partner_id, test_mode, calldata_reference) WHERE ((judged_at IS NULL) AND (calldata_reference IS NOT NULL));
CREATE INDEX transfers_authorization ON public.transfers USING btree (partner_id, test_mode, authorization_nonce) WHERE (authorization_nonce IS NOT NULL);
CREATE INDEX transfers_block ON public.transfers USING btree (chain_id, block_number);
CREATE INDEX transfers_candidate ON public.transfers USING btree (partner_id, test_mode, candidate_request_id) WHERE ((request_id IS NULL) AND (candidate_request_id IS NOT NULL));
CREATE INDEX transfers_candidate_largest ON public.transfers USING btree (partner_id, test_mode, candidate_request_id, (((reason = 'wrong_token'::text) IS TRUE)), value DESC, block_time DESC) WHERE ((request_id IS NULL) AND (candidate_request_id IS NOT NULL) AND (judged_at IS NOT NULL));
CREATE INDEX transfers_from ON public.transfers USING btree (partner_id, test_mode, from_address, block_time);
CREATE INDEX transfers_put_off ON public.transfers USING btree (chain_id) WHERE (counts AND (final_at IS NULL) AND (looks > 0));
CREATE INDEX transfers_request ON public.transfers USING btree (partner_id, test_mode, request_id) WHERE (request_id IS NOT NULL);
CREATE INDEX transfers_strays ON public.transfers USING btree (partner_id, test_mode, reason, candidate_request_id) WHERE ((request_id IS NULL) AND (judged_at IS NOT NULL) AND (candidate_request_id IS NOT NULL));
CREATE INDEX transfers_unjudged ON public.transfers USING btree (chain_id, partner_id, account_id, look_at, block_number, ordinal) WHERE (judged_at IS NULL);
CREATE INDEX transfers_unmatched ON public.transfers USING btree (partner_id, test_mode, account_id, block_time) WHERE (request_id IS NULL);
CREATE INDEX transfers_unmatched_account ON public.transfers USING btree (partner_id, test_mode, account_id, (
CASE
    WHEN (reason IS NULL) THEN 'no_match'::text
    ELSE reason
END), block_time, chain_id, tx_hash, ordinal) WHERE ((request_id IS NULL) AND (judged_at IS NOT NULL));
CREATE INDEX transfers_unmatched_list ON public.transfers USING btree (partner_id, test_mode, block_time, chain_id, tx_hash, ordinal) WHERE ((request_id IS NULL) AND (judged_at IS NOT NULL));
CREATE INDEX transfers_unmatched_reasons ON public.transfers USING btree (partner_id, test_mode, (
CASE
    WHEN (reason IS NULL) THEN 'no_match'::text
    ELSE reason
END), block_time, chain_id, tx_hash, ordinal) WHERE ((request_id IS NULL) AND (judged_at IS NOT NULL));
CREATE INDEX transfers_unsettled ON public.transfers USING btree (chain_id, partner_id, account_id, look_at, block_number, ordinal) WHERE (counts AND (final_at IS NULL));
CREATE INDEX transfers_wrong_token ON public.transfers USING btree (chain_id, token_address) WHERE ((reason = 'wrong_token'::text) AND (request_id IS NULL));
CREATE STATISTICS public.transfers_owners (dependencies) ON partner_id, test_mode, account_id FROM transfers;
CREATE CONSTRAINT TRIGGER transfers_note_overpaid AFTER INSERT OR DELETE OR UPDATE OF request_id, counts ON transfers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_overpaid();
CREATE CONSTRAINT TRIGGER transfers_note_underpaid AFTER INSERT OR DELETE OR UPDATE OF request_id, counts ON transfers DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_underpaid();
CREATE TRIGGER transfers_queued AFTER INSERT ON transfers FOR EACH STATEMENT EXECUTE FUNCTION tell_queue('transfers');
CREATE TRIGGER transfers_tell AFTER INSERT OR DELETE OR UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION tell_transfer();
alter table transfers enable row level security, force row level security;
create policy owner on transfers for ALL to quittance using (true) with check (true);
create policy scope on transfers for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on transfers for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on transfers to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on transfers to quittance_service;

-- Requests that were paid in part. The function note_underpaid writes them.
create table underpaid_requests (
  partner_id uuid not null,
  test_mode boolean not null,
  request_id uuid not null,
  constraint underpaid_requests_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint underpaid_requests_pkey PRIMARY KEY (partner_id, test_mode, request_id)
);
alter table underpaid_requests enable row level security, force row level security;
create policy owner on underpaid_requests for ALL to quittance using (true) with check (true);
create policy scope on underpaid_requests for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on underpaid_requests for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on underpaid_requests to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on underpaid_requests to quittance_service;

-- Transactions with transfers to watched wallets that could not be read with their block. They are tried again.
create table unread_transactions (
  chain_id bigint not null,
  -- The block that includes it.
  block_number bigint not null,
  block_hash text not null,
  block_time timestamp with time zone not null,
  -- Empty: the logs of the whole block.
  tx_hash text not null,
  -- The transfers to watched wallets, as the block's logs had them.
  logs jsonb not null,
  -- For whom each of these wallets was watched.
  owners jsonb not null,
  seen_at timestamp with time zone not null default now(),
  -- How often reading it failed.
  tries integer not null default 0,
  -- When it is tried next.
  look_at timestamp with time zone not null default now(),
  -- When its transfers were stored without what could not be read.
  stored_at timestamp with time zone,
  -- The host of the endpoint that alone reports it. Null if a merchant, a customer or this service named it.
  told_by text,
  constraint unread_transactions_pkey PRIMARY KEY (chain_id, block_hash, tx_hash)
);
alter table unread_transactions enable row level security, force row level security;
create policy owner on unread_transactions for ALL to quittance using (true) with check (true);
create policy service on unread_transactions for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on unread_transactions to quittance_service;

-- Challenges that a passkey has answered. None can be used again.
create table used_passkey_challenges (
  -- The random bytes that the passkey signed.
  challenge bytea not null,
  expires_at timestamp with time zone not null,
  constraint used_passkey_challenges_pkey PRIMARY KEY (challenge)
);
CREATE INDEX used_passkey_challenges_expiry ON public.used_passkey_challenges USING btree (expires_at);
alter table used_passkey_challenges enable row level security, force row level security;
create policy owner on used_passkey_challenges for ALL to quittance using (true) with check (true);
create policy service on used_passkey_challenges for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on used_passkey_challenges to quittance_service;

-- Messages that a wallet has signed, as to sign in. None can be used again.
create table used_wallet_messages (
  -- The nonce in the message, which proves that the service wrote it.
  nonce text not null,
  expires_at timestamp with time zone not null,
  constraint used_wallet_messages_pkey PRIMARY KEY (nonce)
);
CREATE INDEX used_wallet_messages_expiry ON public.used_wallet_messages USING btree (expires_at);
alter table used_wallet_messages enable row level security, force row level security;
create policy clears on used_wallet_messages for DELETE to quittance_app using ((expires_at < (now() - '29 days'::interval)));
create policy owner on used_wallet_messages for ALL to quittance using (true) with check (true);
create policy service on used_wallet_messages for ALL to quittance_service using (true) with check (true);
create policy used on used_wallet_messages for SELECT to quittance_app using (true);
create policy uses on used_wallet_messages for INSERT to quittance_app using (true) with check (true);
grant DELETE, INSERT, SELECT on used_wallet_messages to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on used_wallet_messages to quittance_service;

-- People who sign in by e-mail: users of partners, and operators.
create table users (
  id uuid not null,
  -- Null for an operator.
  partner_id uuid,
  -- In lower case.
  email text not null,
  -- What a user of a partner may do. Null for an operator.
  role text,
  created_at timestamp with time zone not null,
  last_sign_in_at timestamp with time zone,
  disabled_at timestamp with time zone,
  -- The language in which they last signed in, and in which mails to them are written.
  language text,
  constraint users_check CHECK (((role IS NULL) = (partner_id IS NULL))),
  constraint users_partner_id_email_key UNIQUE NULLS NOT DISTINCT (partner_id, email),
  constraint users_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint users_partner_id_id_key UNIQUE (partner_id, id),
  constraint users_pkey PRIMARY KEY (id),
  constraint users_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'developer'::text, 'viewer'::text])))
);
CREATE INDEX users_email ON public.users USING btree (email);
CREATE INDEX users_partner_states ON public.users USING btree (partner_id, (
CASE
    WHEN (disabled_at IS NULL) THEN 0
    ELSE 1
END), email, id);
CREATE INDEX users_states ON public.users USING btree ((
CASE
    WHEN (disabled_at IS NULL) THEN 0
    ELSE 1
END), email, id);
CREATE INDEX users_words ON public.users USING gin (email gin_trgm_ops);
CREATE TRIGGER user_changes_told AFTER UPDATE OF role, disabled_at ON users FOR EACH ROW WHEN (new.role IS DISTINCT FROM old.role OR new.disabled_at IS DISTINCT FROM old.disabled_at) EXECUTE FUNCTION tell_user_change();
alter table users enable row level security, force row level security;
create policy owner on users for ALL to quittance using (true) with check (true);
create policy scope on users for ALL to quittance_app using ((partner_id = scope_partner())) with check ((partner_id = scope_partner()));
create policy service on users for ALL to quittance_service using (true) with check (true);
grant INSERT, SELECT, UPDATE on users to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on users to quittance_service;

-- Changes of a merchant's wallet, and recoveries of a lost one.
create table wallet_changes (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  account_id uuid not null,
  kind text not null,
  state text not null,
  old_wallet text not null,
  new_wallet text,
  -- The chains on which the code of a new contract wallet was checked. Null: any chain.
  new_chain_ids integer[],
  started_at timestamp with time zone not null,
  -- Until when the new wallet of a recovery may sign.
  link_until timestamp with time zone,
  signed_at timestamp with time zone,
  -- When a recovery takes effect, unless it is vetoed.
  due_at timestamp with time zone,
  ended_at timestamp with time zone,
  -- The same for the old wallet.
  old_chain_ids integer[],
  -- How often carrying it out failed.
  settle_failures integer not null default 0,
  -- When that is tried again.
  settle_after timestamp with time zone,
  constraint wallet_changes_check CHECK (((state <> ALL (ARRAY['signed'::text, 'applied'::text])) OR (num_nulls(new_wallet, signed_at) = 0))),
  constraint wallet_changes_id_key UNIQUE (id),
  constraint wallet_changes_kind_check CHECK ((kind = ANY (ARRAY['change'::text, 'recovery'::text]))),
  constraint wallet_changes_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id),
  constraint wallet_changes_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint wallet_changes_state_check CHECK ((state = ANY (ARRAY['started'::text, 'signed'::text, 'applied'::text, 'vetoed'::text, 'cancelled'::text, 'expired'::text])))
);
CREATE INDEX wallet_changes_due ON public.wallet_changes USING btree (due_at) WHERE (state = 'signed'::text);
CREATE INDEX wallet_changes_links ON public.wallet_changes USING btree (link_until) WHERE (state = 'started'::text);
CREATE UNIQUE INDEX wallet_changes_open ON public.wallet_changes USING btree (partner_id, test_mode, account_id) WHERE (state = ANY (ARRAY['started'::text, 'signed'::text]));
CREATE TRIGGER wallet_changes_tell AFTER INSERT OR UPDATE OF state ON wallet_changes FOR EACH ROW EXECUTE FUNCTION tell_wallet_change();
alter table wallet_changes enable row level security, force row level security;
create policy owner on wallet_changes for ALL to quittance using (true) with check (true);
create policy scope on wallet_changes for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on wallet_changes for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on wallet_changes to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on wallet_changes to quittance_service;

-- Registry over all partners: which merchant has a wallet.
create table wallets (
  address text not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  -- When it was named for the merchant.
  claimed_at timestamp with time zone not null,
  -- When it signed. Null while it is only claimed.
  signed_at timestamp with time zone,
  constraint wallets_address_check CHECK ((address ~ '^0x[0-9a-f]{40}$'::text)),
  constraint wallets_partner_id_test_mode_account_id_fkey FOREIGN KEY (partner_id, test_mode, account_id) REFERENCES merchants(partner_id, test_mode, id) DEFERRABLE INITIALLY DEFERRED,
  constraint wallets_pkey PRIMARY KEY (address)
);
CREATE INDEX wallets_account ON public.wallets USING btree (account_id);
CREATE INDEX wallets_unsigned ON public.wallets USING btree (claimed_at) WHERE (signed_at IS NULL);
CREATE TRIGGER wallets_signed AFTER INSERT OR UPDATE OF signed_at ON wallets FOR EACH ROW WHEN (new.signed_at IS NOT NULL) EXECUTE FUNCTION watch_signed_wallet();
alter table wallets enable row level security, force row level security;
create policy owner on wallets for ALL to quittance using (true) with check (true);
create policy scope on wallets for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on wallets for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on wallets to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on wallets to quittance_service;

-- Registry over all partners: the wallets whose incoming transfers are read from the chains, and for whom.
create table watched_wallets (
  wallet_address text not null,
  partner_id uuid not null,
  test_mode boolean not null,
  account_id uuid not null,
  -- Until when transfers to it are read.
  watch_until timestamp with time zone not null,
  -- When the row was last written. Processes that read chains find new wallets by it.
  changed_at timestamp with time zone not null,
  constraint watched_wallets_pkey PRIMARY KEY (wallet_address, partner_id, test_mode, account_id)
);
CREATE INDEX watched_wallets_changed ON public.watched_wallets USING btree (changed_at);
alter table watched_wallets enable row level security, force row level security;
create policy owner on watched_wallets for ALL to quittance using (true) with check (true);
create policy scope on watched_wallets for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on watched_wallets for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on watched_wallets to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on watched_wallets to quittance_service;

-- Attempts to send an event. Partitioned by month.
create table webhook_attempts (
  partner_id uuid not null,
  test_mode boolean not null,
  delivery_id uuid not null,
  id uuid not null,
  url text not null,
  started_at timestamp with time zone not null,
  -- How long it took, in milliseconds.
  duration_ms integer not null,
  -- The HTTP status of the answer. Null if there was none.
  status_code integer,
  -- The kind of failure, in a word. Null on success.
  error text,
  -- What was sent besides the body. As json, which keeps the order.
  request_headers json not null,
  -- The first 4 KiB of the answer.
  response_body text,
  -- Null on old rows.
  response_headers json,
  constraint webhook_attempts_pkey PRIMARY KEY (partner_id, test_mode, delivery_id, id, started_at)
) partition by RANGE (started_at);
CREATE TRIGGER webhook_attempts_tell AFTER INSERT ON webhook_attempts REFERENCING NEW TABLE AS made FOR EACH STATEMENT EXECUTE FUNCTION tell_attempts();
alter table webhook_attempts enable row level security, force row level security;
create policy owner on webhook_attempts for ALL to quittance using (true) with check (true);
create policy scope on webhook_attempts for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on webhook_attempts for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on webhook_attempts to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on webhook_attempts to quittance_service;

-- Events and their delivery: one for each verified request.
create table webhook_deliveries (
  partner_id uuid not null,
  test_mode boolean not null,
  id uuid not null,
  request_id uuid not null,
  event text not null,
  -- The exact text that every attempt sends.
  body text not null,
  state text not null default 'waiting'::text,
  -- How many attempts were made since the event was created or last replayed.
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone not null,
  -- The claim of the process that is sending it. Null if none is.
  lease uuid,
  -- When another process may claim it.
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  delivered_at timestamp with time zone,
  constraint webhook_deliveries_partner_id_test_mode_request_id_fkey FOREIGN KEY (partner_id, test_mode, request_id) REFERENCES requests(partner_id, test_mode, id),
  constraint webhook_deliveries_pkey PRIMARY KEY (partner_id, test_mode, id),
  constraint webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'delivered'::text, 'exhausted'::text])))
) with (fillfactor=50);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (partner_id, test_mode, next_attempt_at) WHERE (state = 'waiting'::text);
CREATE INDEX webhook_deliveries_exhausted ON public.webhook_deliveries USING btree (partner_id, test_mode, created_at) WHERE (state = 'exhausted'::text);
CREATE INDEX webhook_deliveries_newest ON public.webhook_deliveries USING btree (partner_id, test_mode, created_at, id, state);
CREATE INDEX webhook_deliveries_open ON public.webhook_deliveries USING btree (partner_id, test_mode, state, (
CASE
    WHEN (attempts > 0) THEN 1
    ELSE 0
END), created_at, id) WHERE (state <> 'delivered'::text);
CREATE UNIQUE INDEX webhook_deliveries_request ON public.webhook_deliveries USING btree (partner_id, test_mode, request_id);
CREATE TRIGGER webhook_deliveries_queued AFTER INSERT ON webhook_deliveries FOR EACH STATEMENT EXECUTE FUNCTION tell_queue('deliveries');
CREATE TRIGGER webhook_deliveries_queued_again AFTER UPDATE ON webhook_deliveries FOR EACH ROW WHEN (new.state = 'waiting'::text AND (old.state <> 'waiting'::text OR new.next_attempt_at < old.next_attempt_at OR old.lease IS NOT NULL AND new.lease IS NULL AND new.next_attempt_at = old.next_attempt_at)) EXECUTE FUNCTION tell_queue('deliveries');
alter table webhook_deliveries enable row level security, force row level security;
create policy owner on webhook_deliveries for ALL to quittance using (true) with check (true);
create policy scope on webhook_deliveries for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on webhook_deliveries for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on webhook_deliveries to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on webhook_deliveries to quittance_service;

-- Where each partner's events are sent, for each mode.
create table webhook_endpoints (
  partner_id uuid not null,
  test_mode boolean not null,
  -- Null: events wait.
  url text,
  -- The signing secret, encrypted.
  secret bytea not null,
  -- The next signing secret, encrypted. It replaces secret when it is activated.
  pending_secret bytea,
  pending_since timestamp with time zone,
  disabled_at timestamp with time zone,
  disabled_reason text,
  -- How many attempts failed in a row.
  failures integer not null default 0,
  last_success_at timestamp with time zone,
  failing_since timestamp with time zone,
  -- After ten failures in a row: when the next single attempt is made.
  probe_at timestamp with time zone,
  -- The form that created the latest secret, so that a form that is sent twice creates one.
  secret_form text,
  constraint webhook_endpoints_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  constraint webhook_endpoints_pkey PRIMARY KEY (partner_id, test_mode)
);
CREATE INDEX webhook_endpoints_failing ON public.webhook_endpoints USING btree (failing_since) WHERE ((failing_since IS NOT NULL) AND (disabled_at IS NULL));
CREATE INDEX webhook_endpoints_pending ON public.webhook_endpoints USING btree (pending_since) WHERE (pending_secret IS NOT NULL);
CREATE TRIGGER webhook_endpoints_changed AFTER UPDATE ON webhook_endpoints FOR EACH ROW WHEN (old.url IS DISTINCT FROM new.url OR old.secret <> new.secret OR old.pending_secret IS DISTINCT FROM new.pending_secret OR old.disabled_at IS NULL AND new.disabled_at IS NOT NULL) EXECUTE FUNCTION tell_endpoint();
CREATE TRIGGER webhook_endpoints_opened AFTER INSERT ON webhook_endpoints FOR EACH STATEMENT EXECUTE FUNCTION tell_queue('deliveries');
CREATE TRIGGER webhook_endpoints_opened_again AFTER UPDATE ON webhook_endpoints FOR EACH ROW WHEN (old.url IS DISTINCT FROM new.url OR old.disabled_at IS NOT NULL AND new.disabled_at IS NULL) EXECUTE FUNCTION tell_queue('deliveries');
alter table webhook_endpoints enable row level security, force row level security;
create policy owner on webhook_endpoints for ALL to quittance using (true) with check (true);
create policy scope on webhook_endpoints for ALL to quittance_app using (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode)))) with check (((partner_id = scope_partner()) AND (test_mode = ( SELECT scope_test_mode() AS scope_test_mode))));
create policy service on webhook_endpoints for ALL to quittance_service using (true) with check (true);
grant DELETE, INSERT, SELECT, UPDATE on webhook_endpoints to quittance_app;
grant DELETE, INSERT, SELECT, UPDATE on webhook_endpoints to quittance_service;

CREATE OR REPLACE FUNCTION public.add_attempt_months(ahead integer)
 RETURNS SETOF text
 LANGUAGE plpgsql
AS $function$
declare
  from_month timestamp;
  part text;
begin
  loop
    select max(substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz) at time zone 'UTC'
      into from_month
      from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'webhook_attempts'::regclass;
    exit when from_month >= date_trunc('month', now() at time zone 'UTC') + ahead * interval '1 month';
    part := 'webhook_attempts_' || to_char(from_month, 'YYYY_MM');
    execute format('create table %I (like webhook_attempts including defaults)', part);
    execute format('alter table %I enable row level security, force row level security', part);
    execute format('create policy owner on %I to current_user using (true) with check (true)', part);
    execute format('create policy service on %I to quittance_service using (true) with check (true)', part);
    execute format('alter table webhook_attempts attach partition %I for values from (%L) to (%L)', part,
      from_month at time zone 'UTC', (from_month + interval '1 month') at time zone 'UTC');
    return next part;
  end loop;
end $function$;

CREATE OR REPLACE FUNCTION public.analyze_grown()
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  grown text;
begin
  if not pg_try_advisory_xact_lock(7188255) then return; end if;
  for grown in
    select c.relname from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and pg_relation_size(c.oid) / current_setting('block_size')::int >= 2 * greatest(c.relpages, 4)
    order by c.relpages, c.relname
  loop
    execute format('analyze (skip_locked) %I', grown);
    return next grown;
  end loop;
end $function$;
grant execute on function analyze_grown() to quittance_service;

CREATE OR REPLACE FUNCTION public.begin_scoped()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  perform set_config('role', 'none', false);
  if exists (select from pg_prepared_statements where from_sql) then
    perform pg_terminate_backend(pg_backend_pid());
    raise insufficient_privilege using message = 'this session was left with a statement that is not ours';
  end if;
  perform pg_advisory_unlock_all();
  execute 'unlisten *';
  reset all;
end $function$;
grant execute on function begin_scoped() to quittance_app;

CREATE OR REPLACE FUNCTION public.copy_wallet_chains()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.wallet_chain_ids is null then
    select wallet_chains(m, new.wallet_address) into new.wallet_chain_ids from merchants m
      where m.partner_id = new.partner_id and m.test_mode = new.test_mode and m.id = new.account_id;
  elsif new.wallet_chain_ids = '{}' then
    new.wallet_chain_ids := null;
  end if;
  return new;
end $function$;

-- Not used any more: store_as_assumed replaced it. A later release removes it.
CREATE OR REPLACE FUNCTION public.create_as_assumed(allowed boolean, partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric, rate_used text, rate_at timestamp with time zone, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text, paid_on integer[], ref bytea, chains bigint[], expiry interval)
 RETURNS requests
 LANGUAGE plpgsql
AS $function$
declare
  made timestamptz;
  at timestamptz;
  watched timestamptz;
  blocks jsonb;
  free numeric := exact_micro;
  stored requests;
begin
  if allowed is not true then return null; end if;
  -- As create_request locks, in the same order: it looks for the key before it stores.
  if key is not null then
    perform pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
  end if;
  perform pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));
  -- Held until commit, so that the wallet stays the merchant's.
  perform from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
      left join rates r on r.code = m.display_currency
      left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null and m.wallet_chain_ids is not distinct from paid_on
      and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = create_as_assumed.code
      and coalesce(o.rate, r.rate) = rate_used and (o.rate is not null) = (rate_from = 'override')
      and (o.rate is not null or r.fetched_at = rate_at)
    for key share of w;
  if not found then return null; end if;

  made := real_time();
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    if free is null then return null; end if;
  end loop;

  watched := made + expiry + interval '60 days';
  perform from watched_wallets w where w.wallet_address = wallet and w.partner_id = partner and w.test_mode = test
    and w.account_id = account and w.watch_until >= watched - interval '1 day';
  if not found then
    insert into watched_wallets values (wallet, partner, test, account, watched, made)
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
      coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}')) into blocks
    from chain_cursors c where c.chain_id = any(chains)
      and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds';

  at := take_clock(partner, test);
  made := least(at, real_time());
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, create_as_assumed.code, free, true,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, made, made + expiry)
    on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing
    returning * into stored;
  if not found then
    delete from amount_reservations where wallet_address = wallet and usdc_micro = free;
    return null;
  end if;
  return stored;
end $function$;
grant execute on function create_as_assumed(boolean,uuid,boolean,uuid,uuid,text,bigint,text,numeric,text,timestamp with time zone,text,text,text,text,text,text,json,text,integer[],bytea,bigint[],interval) to quittance_service;

CREATE OR REPLACE FUNCTION public.create_merchant(partner uuid, test boolean, account uuid, fields jsonb)
 RETURNS SETOF merchants
 LANGUAGE plpgsql
AS $function$
declare
  row merchants;
begin
  perform set_config('quittance.order_merchant', 'at commit', true);
  row := jsonb_populate_record(null::merchants, fields || jsonb_build_object('partner_id', partner, 'test_mode', test,
    'id', account, 'created_at', real_time(), 'onboarding_epoch', 0, 'disabled_by_partner', false,
    'disabled_by_operator', false));
  if row.wallet_address is not null then
    insert into wallets values (row.wallet_address, partner, test, account, row.created_at) on conflict do nothing;
    if not found then return; end if;
  end if;
  return query insert into merchants select row.* returning *;
end $function$;
grant execute on function create_merchant(uuid,boolean,uuid,jsonb) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.create_request(partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric, rate_used text, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text, ref bytea, blocks jsonb, expiry interval, at_commit boolean, OUT stored requests, OUT replayed boolean)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  made timestamptz;
  at timestamptz;
  free numeric := exact_micro;
  watched timestamptz;
begin
  if key is not null then
    perform pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
    select * into stored from requests
      where partner_id = partner and test_mode = test and account_id = account and idempotency_key = key;
    replayed := found;
    if replayed then return; end if;
  end if;
  replayed := false;

  perform pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));
  -- Read anew, and held until commit: what the caller knows of the merchant is from before.
  perform from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null
    for key share of w;
  if not found then return; end if;

  made := real_time();
  -- The primary key decides; losing to a row that was not visible tries the next.
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    exit when free is null;
  end loop;

  watched := made + expiry + interval '60 days';
  perform from watched_wallets w where w.wallet_address = wallet and w.partner_id = partner and w.test_mode = test
    and w.account_id = account and w.watch_until >= watched - interval '1 day';
  if not found then
    insert into watched_wallets values (wallet, partner, test, account, watched, made)
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  if at_commit then
    at := '10000-01-01Z'::timestamptz + random() * interval '100000 years'; -- its own, until the commit says which
  else
    at := take_clock(partner, test);
    made := least(at, real_time());
  end if;
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, code, coalesce(free, exact_micro), free is not null,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet, ref, blocks, at, made, made + expiry)
    returning * into stored;
  if at_commit then stored.created_at := made; end if;
end $function$;
grant execute on function create_request(uuid,boolean,uuid,uuid,text,bigint,text,numeric,text,text,text,text,text,text,text,json,text,bytea,jsonb,interval,boolean) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.enter_scope(partner uuid, test boolean, proof text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  entered text;
begin
  entered := set_config('quittance.partner_id', partner::text, true);
  entered := set_config('quittance.test_mode', test::text, true);
  entered := set_config('quittance.proof', proof, true);
  entered := set_config('role', 'quittance_app', true);
  if scope_partner() is null then
    raise insufficient_privilege using message = 'the proof of this scope does not hold';
  end if;
end $function$;
grant execute on function enter_scope(uuid,boolean,text) to quittance_app, quittance_service;

-- Not used any more: find_by_email_in_scope replaced it. A later release removes it.
CREATE OR REPLACE FUNCTION public.find_by_email(wanted text, account uuid, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT r.id
    FROM ( SELECT any_scope.id,
             any_scope.partner_id,
             any_scope.test_mode,
             any_scope.account_id,
             any_scope.created_at,
             count(*) OVER () AS many
            FROM ( SELECT requests.partner_id,
                     requests.test_mode,
                     requests.id,
                     requests.account_id,
                     requests.idempotency_key,
                     requests.fiat_int,
                     requests.fiat_code,
                     requests.usdc_micro,
                     requests.reserved,
                     requests.rate,
                     requests.memo,
                     requests.payment_mode,
                     requests.customer_name,
                     requests.customer_email,
                     requests.customer_phone,
                     requests.metadata,
                     requests.wallet_address,
                     requests.reference,
                     requests.start_blocks,
                     requests.status,
                     requests.proof_status,
                     requests.proof_note,
                     requests.asset_id,
                     requests.tx_hash,
                     requests.payer_address,
                     requests.created_at,
                     requests.expires_at,
                     requests.opened_at,
                     requests.voided_at,
                     requests.proof_verified_at,
                     requests.rate_source,
                     requests.customer_language,
                     requests.wallet_chain_ids,
                     requests.made_at
                    FROM requests
                   WHERE ((requests.customer_email IS NOT NULL) AND (lower(requests.customer_email) = lower(find_by_email.wanted)))
                  LIMIT 5001) any_scope) r
   WHERE ((r.many <= 5000) AND (r.partner_id = scope_partner()) AND (r.test_mode = scope_test_mode()) AND ((find_by_email.account IS NULL) OR (r.account_id = find_by_email.account)))
   ORDER BY r.created_at DESC
  LIMIT find_by_email.most;
END;
grant execute on function find_by_email(text,uuid,integer) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.find_by_email_in_scope(wanted text, account uuid, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  (select r.id from requests r
    where account is not null and r.customer_email is not null and lower(r.customer_email) = lower(wanted)
      and r.partner_id = scope_partner() and r.test_mode = scope_test_mode() and r.account_id = account
    order by r.created_at desc limit most)
  union all
  (select own.id from (
    select found.id, found.created_at, count(*) over () as many from (
      select r.id, r.created_at from requests r
      where account is null and r.customer_email is not null and lower(r.customer_email) = lower(wanted)
        and r.partner_id = scope_partner() and r.test_mode = scope_test_mode()
      limit 5001) found) own
    where own.many <= 5000
    order by own.created_at desc limit most)
$function$;
grant execute on function find_by_email_in_scope(text,uuid,integer) to quittance_app, quittance_service;

-- Not used any more: find_by_value replaced it. A later release removes it.
CREATE OR REPLACE FUNCTION public.find_by_metadata(wanted text, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT r.id
    FROM requests r
   WHERE (((r.metadata)::text <> '{}'::text) AND (r.partner_id = scope_partner()) AND (r.test_mode = scope_test_mode()) AND (metadata_tokens(r.partner_id, r.test_mode, r.metadata) @> ARRAY[metadata_token(scope_partner(), scope_test_mode(), find_by_metadata.wanted)]) AND (EXISTS ( SELECT
            FROM json_each_text(r.metadata) e(key, value)
           WHERE (e.value = find_by_metadata.wanted))))
   ORDER BY r.created_at DESC
  LIMIT find_by_metadata.most;
END;
grant execute on function find_by_metadata(text,integer) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.find_by_value(wanted text, account uuid, most integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
BEGIN ATOMIC
 SELECT r.id
    FROM (metadata_values v
      JOIN requests r ON (((r.partner_id = v.partner_id) AND (r.test_mode = v.test_mode) AND (r.id = v.request_id))))
   WHERE ((v.partner_id = scope_partner()) AND (v.test_mode = scope_test_mode()) AND (v.token = metadata_token(scope_partner(), scope_test_mode(), lower(find_by_value.wanted))) AND (EXISTS ( SELECT
            FROM json_each_text(r.metadata) e(key, value)
           WHERE (lower(e.value) = lower(find_by_value.wanted)))) AND ((find_by_value.account IS NULL) OR (r.account_id = find_by_value.account)))
   ORDER BY r.created_at DESC
  LIMIT find_by_value.most;
END;
grant execute on function find_by_value(text,uuid,integer) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.find_merchants(pattern text, onboarded integer[], by_partner integer[], by_operator integer[], before timestamp with time zone, before_id uuid, most integer)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET enable_bitmapscan TO 'on'
AS $function$
begin
  execute $query$
    select set_config('enable_bitmapscan',
      case when count(*) < 1000 or count(*) filter (where matched) >= $6 then 'off' else 'on' end, true)
    from (
      select lower(coalesce(m.business_name, '') || E'\n' || coalesce(m.display_name, '') || E'\n' || coalesce(m.email, ''))
        like $3 as matched
      from merchants m
      where m.partner_id = $1 and m.test_mode = $2 and ($4 is null or (m.created_at, m.id) < ($4, $5))
      order by m.created_at desc, m.id desc limit 1000) sample $query$
  using scope_partner(), scope_test_mode(), pattern, before, before_id, most;
  return query execute $query$
    select found.id from unnest($4) done cross join unnest($5) partner_off cross join unnest($6) operator_off
      cross join lateral (
        select m.id, m.created_at from merchants m
        where m.partner_id = $1 and m.test_mode = $2 and (case when m.onboarded_at is null then 0 else 1 end) = done
          and m.disabled_by_partner = (partner_off = 1) and m.disabled_by_operator = (operator_off = 1)
          and lower(coalesce(m.business_name, '') || E'\n' || coalesce(m.display_name, '') || E'\n' || coalesce(m.email, ''))
            like $3
          and ($7 is null or (m.created_at, m.id) < ($7, $8))
          and (length($3) > 4 or m.created_at >= coalesce((
            select n.created_at from merchants n where n.partner_id = $1 and n.test_mode = $2
            order by n.created_at desc offset 20000 limit 1), '-infinity'))
        order by m.created_at desc, m.id desc limit $9) found
    order by found.created_at desc, found.id desc limit $9 $query$
  using scope_partner(), scope_test_mode(), pattern, onboarded, by_partner, by_operator, before, before_id, most;
end $function$;
grant execute on function find_merchants(text,integer[],integer[],integer[],timestamp with time zone,uuid,integer) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.free_amount(wallet text, exact_micro numeric)
 RETURNS numeric
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  held constant bigint := (select count(*) from amount_reservations r
    where r.wallet_address = wallet and r.usdc_micro between exact_micro and exact_micro + 9999);
begin
  if not is_of_service() and not exists (select from wallets w where w.address = wallet
    and w.partner_id = (select scope_partner()) and w.test_mode = (select scope_test_mode()))
  then
    raise insufficient_privilege;
  end if;
  return (select exact_micro + surcharge from generate_series(0, least(9999, held)) as surcharge
    where not exists (
      select from amount_reservations r where r.wallet_address = wallet and r.usdc_micro = exact_micro + surcharge)
    order by surcharge limit 1);
end $function$;
grant execute on function free_amount(text,numeric) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.free_rests_later()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update amount_reservations a set reserved_until = new.reserved_until
    from reserved_rests s
    where s.partner_id = new.partner_id and s.test_mode = new.test_mode and s.request_id = new.request_id
      and a.wallet_address = s.wallet_address and a.usdc_micro = s.usdc_micro;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.free_unsigned_wallet(wallet text, claimed_before timestamp with time zone, spared_partner uuid, spared_test boolean, OUT partner_id uuid, OUT test_mode boolean, OUT account_id uuid, OUT address text)
 RETURNS SETOF record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  claim wallets;
  displaced constant boolean := spared_partner is not null;
begin
  if not is_of_service() then raise insufficient_privilege; end if;
  select * into claim from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at < coalesce(claimed_before, 'infinity')
      and (w.partner_id, w.test_mode) is distinct from (spared_partner, spared_test);
  if not found then return; end if;
  -- The merchant first, then its wallet: in the order of the merchant's own signature.
  perform from merchants m
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id) for no key update;
  delete from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at = claim.claimed_at and w.account_id = claim.account_id;
  if not found then return; end if;
  update merchants m set wallet_address = null,
      displaced_wallet = case when displaced then wallet end,
      displaced_at = case when displaced then real_time() end
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id)
      and m.wallet_address = wallet and m.wallet_signed_at is null;
  partner_id := claim.partner_id;
  test_mode := claim.test_mode;
  account_id := claim.account_id;
  address := wallet;
  return next;
end $function$;
grant execute on function free_unsigned_wallet(text,timestamp with time zone,uuid,boolean) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.is_of_service()
 RETURNS boolean
 LANGUAGE sql
 STABLE
RETURN pg_has_role(SESSION_USER, 'quittance_service'::name, 'member'::text);
grant execute on function is_of_service() to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.leave_scope()
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform set_config('role', 'none', true),
          set_config('quittance.partner_id', '', true),
          set_config('quittance.test_mode', '', true),
          set_config('quittance.proof', '', true);
end $function$;
grant execute on function leave_scope() to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.make_attempt_months(ahead integer)
 RETURNS SETOF text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '1s'
AS $function$
begin
  perform pg_advisory_xact_lock(7188256);
  return query select add_attempt_months(ahead);
end $function$;
grant execute on function make_attempt_months(integer) to quittance_service;

CREATE OR REPLACE FUNCTION public.metadata_token(partner uuid, test boolean, value text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashtextextended((((partner)::text || (test)::text) || value), (0)::bigint);
grant execute on function metadata_token(uuid,boolean,text) to quittance_app, quittance_service;

-- Used by find_by_metadata only. A later release removes both.
CREATE OR REPLACE FUNCTION public.metadata_tokens(partner uuid, test boolean, metadata json)
 RETURNS bigint[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT array_agg(metadata_token(metadata_tokens.partner, metadata_tokens.test, e.value)) AS array_agg FROM json_each_text(metadata_tokens.metadata) e(key, value));
grant execute on function metadata_tokens(uuid,boolean,json) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.note_overpaid()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  touched uuid;
  at transfers := coalesce(new, old);
begin
  foreach touched in array array[new.request_id, old.request_id] loop
    continue when touched is null;
    if (select sum(t.value) - case when count(*) > 1 then 9999 else 0 end from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (at.partner_id, at.test_mode, touched) and t.counts)
      > (select r.usdc_micro from requests r where (r.partner_id, r.test_mode, r.id) = (at.partner_id, at.test_mode, touched))
    then
      insert into overpaid_requests values (at.partner_id, at.test_mode, touched) on conflict do nothing;
    else
      delete from overpaid_requests o
        where (o.partner_id, o.test_mode, o.request_id) = (at.partner_id, at.test_mode, touched);
    end if;
  end loop;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.note_underpaid()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  touched uuid;
  at transfers := coalesce(new, old);
begin
  foreach touched in array array[new.request_id, old.request_id] loop
    continue when touched is null;
    if exists (select from requests r
        where (r.partner_id, r.test_mode, r.id) = (at.partner_id, at.test_mode, touched) and r.proof_status = 'none')
      and exists (select from transfers t
        where (t.partner_id, t.test_mode, t.request_id) = (at.partner_id, at.test_mode, touched) and t.counts)
    then
      insert into underpaid_requests values (at.partner_id, at.test_mode, touched) on conflict do nothing;
    else
      delete from underpaid_requests u
        where (u.partner_id, u.test_mode, u.request_id) = (at.partner_id, at.test_mode, touched);
    end if;
  end loop;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.order_merchant()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  update merchants set created_at = take_clock(new.partner_id, new.test_mode)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.order_request()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  at timestamptz;
  made timestamptz;
begin
  at := take_clock(new.partner_id, new.test_mode);
  made := least(at, real_time());
  update requests set created_at = at, made_at = made, expires_at = expires_at + (made - made_at)
    where partner_id = new.partner_id and test_mode = new.test_mode and id = new.id;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.queue_receipts(partner uuid, test boolean, request uuid, channels text[])
 RETURNS text
 LANGUAGE plpgsql
 SET lock_timeout TO '250ms'
AS $function$
begin
  insert into receipts (partner_id, test_mode, request_id, channel)
    select partner, test, request, channel from unnest(channels) as channel on conflict do nothing;
  return null;
exception when others then
  return sqlstate || ': ' || sqlerrm;
end $function$;
grant execute on function queue_receipts(uuid,boolean,uuid,text[]) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.real_time()
 RETURNS timestamp with time zone
 LANGUAGE sql
RETURN date_trunc('milliseconds'::text, clock_timestamp());
grant execute on function real_time() to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.refuse_audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'the audit log is only ever added to' using errcode = 'integrity_constraint_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.request_is_sound(status text, proof_status text, proof_verified_at timestamp with time zone, tx_hash text, payer_address text, voided_at timestamp with time zone, fiat_int bigint, usdc_micro numeric, payment_mode text, reference bytea)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
begin
  return status in ('requested', 'opened', 'expired', 'voided') and proof_status in ('none', 'attached', 'verified')
    and (proof_status = 'verified') = (proof_verified_at is not null)
    and (proof_status <> 'verified' or (tx_hash is not null and payer_address is not null))
    and (status <> 'voided' or voided_at is not null)
    and fiat_int between 1 and 2147483647 and usdc_micro > 0
    and payment_mode in ('pos', 'invoice') and length(reference) = 16;
end $function$;
grant execute on function request_is_sound(text,text,timestamp with time zone,text,text,timestamp with time zone,bigint,numeric,text,bytea) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.reserve_rest(partner uuid, test boolean, request uuid, exact_micro numeric, fresh interval)
 RETURNS numeric
 LANGUAGE plpgsql
AS $function$
declare
  at constant timestamptz := real_time();
  owed requests;
  until timestamptz;
  free numeric;
begin
  select s.usdc_micro into free from reserved_rests s
    where s.partner_id = partner and s.test_mode = test and s.request_id = request and s.rest_micro = exact_micro;
  if found then return free; end if;
  select * into owed from requests r where r.partner_id = partner and r.test_mode = test and r.id = request;
  until := owed.expires_at + interval '24 hours';
  if owed.status = 'voided' or until <= at
    or not exists (select from wallets w
      where w.address = owed.wallet_address and w.partner_id = partner and w.test_mode = test)
    or (select count(*) from reserved_rests s
      where s.partner_id = partner and s.test_mode = test and s.request_id = request) >= 10
  then
    return null;
  end if;
  -- The primary key decides; losing to a row that was not visible tries the next.
  for attempt in 1..5 loop
    free := free_amount(owed.wallet_address, exact_micro);
    exit when free is null;
    insert into amount_reservations values (owed.wallet_address, free, partner, test, null, at, until)
      on conflict do nothing;
    exit when found;
    free := null;
  end loop;
  if free is not null then
    insert into reserved_rests values (partner, test, request, exact_micro, owed.wallet_address, free, (
      select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
        coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}'))
      from chain_cursors c where c.block_time between at - fresh and at + fresh));
  end if;
  return free;
end $function$;
grant execute on function reserve_rest(uuid,boolean,uuid,numeric,interval) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.scope_partner()
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
AS $function$
declare
  partner constant pg_catalog.text := pg_catalog.current_setting('quittance.partner_id', true);
  inside pg_catalog.bytea;
  outside pg_catalog.bytea;
begin
  if partner operator(pg_catalog.<>) '' then
    select k.inner_pad, k.outer_pad into inside, outside from public.scope_keys k
      where k.login operator(pg_catalog.=) session_user;
    -- Hashed once more: how long the comparison takes tells nothing of the proof that is right.
    if pg_catalog.sha256(pg_catalog.sha256(outside operator(pg_catalog.||) pg_catalog.sha256(
        inside operator(pg_catalog.||) pg_catalog.convert_to(partner operator(pg_catalog.||) ' '
          operator(pg_catalog.||) pg_catalog.current_setting('quittance.test_mode', true), 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex'))
    then
      return partner::pg_catalog.uuid;
    end if;
  end if;
  return null;
end $function$;
grant execute on function scope_partner() to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.scope_test_mode()
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
AS $function$
declare
  test constant pg_catalog.text := pg_catalog.current_setting('quittance.test_mode', true);
  inside pg_catalog.bytea;
  outside pg_catalog.bytea;
begin
  if test operator(pg_catalog.<>) '' then
    select k.inner_pad, k.outer_pad into inside, outside from public.scope_keys k
      where k.login operator(pg_catalog.=) session_user;
    if pg_catalog.sha256(pg_catalog.sha256(outside operator(pg_catalog.||) pg_catalog.sha256(
        inside operator(pg_catalog.||) pg_catalog.convert_to(
          pg_catalog.current_setting('quittance.partner_id', true) operator(pg_catalog.||) ' '
            operator(pg_catalog.||) test, 'UTF8'))))
      operator(pg_catalog.=) pg_catalog.sha256(pg_catalog.decode(
        pg_catalog.current_setting('quittance.proof', true), 'hex'))
    then
      return test::boolean;
    end if;
  end if;
  return null;
end $function$;
grant execute on function scope_test_mode() to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.store_as_assumed(allowed boolean, partner uuid, test boolean, request uuid, account uuid, key text, fiat bigint, code text, exact_micro numeric, rate_used text, rate_at timestamp with time zone, rate_from text, memo_text text, mode text, name text, mail text, phone text, meta json, wallet text, paid_on integer[], ref bytea, chains bigint[], expiry interval, OUT id uuid, OUT usdc_micro numeric, OUT created_at timestamp with time zone, OUT expires_at timestamp with time zone)
 RETURNS record
 LANGUAGE plpgsql
AS $function$
declare
  made timestamptz;
  at timestamptz;
  watch_to timestamptz;
  locked text; -- nothing: assigned, since `perform` would cost as much as any statement
  watched boolean;
  blocks jsonb;
  free numeric := exact_micro;
begin
  if allowed is not true then return; end if;
  -- As create_request locks, in the same order: it looks for the key before it stores.
  if key is not null then
    locked := pg_advisory_xact_lock(hashtext('request key'), hashtext(concat(partner, test, account, key)));
  end if;
  locked := pg_advisory_xact_lock(hashtext('request wallet'), hashtext(wallet));

  watch_to := real_time() + expiry + interval '59 days';
  -- Held until commit, so that the wallet stays the merchant's.
  select
      exists (select from watched_wallets s where s.wallet_address = wallet and s.partner_id = partner
        and s.test_mode = test and s.account_id = account and s.watch_until >= watch_to),
      (select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
          coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}'))
        from chain_cursors c where c.chain_id = any(chains)
          and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds')
    into watched, blocks
    from wallets w join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
      left join rates r on r.code = m.display_currency
      left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
    where w.address = wallet and m.partner_id = partner and m.test_mode = test and m.id = account
      and m.wallet_address = wallet and m.onboarded_at is not null and m.wallet_chain_ids is not distinct from paid_on
      and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = store_as_assumed.code
      and coalesce(o.rate, r.rate) = rate_used and (o.rate is not null) = (rate_from = 'override')
      and (o.rate is not null or r.fetched_at = rate_at)
    for key share of w;
  if not found then return; end if;

  made := real_time();
  for attempt in 0..5 loop
    insert into amount_reservations
      values (wallet, free, partner, test, request, made, made + expiry + interval '24 hours')
      on conflict do nothing;
    exit when found;
    free := case when attempt < 5 then free_amount(wallet, exact_micro) end;
    if free is null then return; end if;
  end loop;

  if not watched then
    insert into watched_wallets values (wallet, partner, test, account, made + expiry + interval '60 days', made)
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  insert into partner_clocks as clock (partner_id, test_mode, last_at) values (partner, test, real_time())
    on conflict (partner_id, test_mode) do update set last_at = greatest(clock.last_at + interval '1 ms', real_time())
    returning clock.last_at into at;
  made := least(at, real_time());
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved,
      rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata, wallet_address,
      reference, start_blocks, wallet_chain_ids, created_at, made_at, expires_at)
    values (partner, test, request, account, key, fiat, store_as_assumed.code, free, true,
      rate_used, rate_from, memo_text, mode, name, mail, phone, meta, wallet,
      ref, blocks, coalesce(paid_on, '{}'), at, made, made + expiry)
    on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing;
  if not found then
    delete from amount_reservations a where a.wallet_address = wallet and a.usdc_micro = free;
    return;
  end if;
  id := request;
  usdc_micro := free;
  created_at := at;
  expires_at := made + expiry;
end $function$;
grant execute on function store_as_assumed(boolean,uuid,boolean,uuid,uuid,text,bigint,text,numeric,text,timestamp with time zone,text,text,text,text,text,text,json,text,integer[],bytea,bigint[],interval) to quittance_service;

CREATE OR REPLACE FUNCTION public.store_together(good integer[], test boolean, partners uuid[], ids uuid[], accounts uuid[], keys text[], fiats bigint[], codes text[], exact_micros numeric[], rates_used text[], rates_at timestamp with time zone[], rates_from text[], memos text[], modes text[], names text[], mails text[], phones text[], metas json[], wallets text[], paid_on text[], refs bytea[], chains bigint[], expiries interval[])
 RETURNS TABLE(partner uuid, id uuid, usdc_micro numeric, created_at timestamp with time zone, expires_at timestamp with time zone)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  locked bigint; -- nothing: assigned, since `perform` would cost as much
  free numeric[];
  watch int[];
  blocks jsonb;
  made timestamptz;
  count bigint;
  setting text;
begin
  -- As store_as_assumed locks, in the same order, and each kind of lock in one order over all nodes.
  select count(pg_advisory_xact_lock(hashtext('request key'), k.hash)) into locked from (
    select hashtext(concat(partners[place], test, accounts[place], keys[place])) as hash
    from unnest(good) as place where keys[place] is not null order by 1) k;
  select count(pg_advisory_xact_lock(hashtext('request wallet'), w.hash)) into locked from (
    select hashtext(wallets[place]) as hash from unnest(good) as place order by 1) w;

  made := real_time();
  -- Held until commit, so that each wallet stays its merchant's.
  select array_agg(s.place), array_agg(s.free), array_agg(s.place) filter (
      where s.watch_until is null or s.watch_until < made + expiries[s.place] + interval '59 days')
    into good, free, watch from (
      select i.place, s.watch_until, case when a.wallet_address is null then exact_micros[i.place]
          else free_amount(wallets[i.place], exact_micros[i.place]) end as free
      from unnest(good) as i(place)
        join wallets w on w.address = wallets[i.place]
        join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
        left join rates r on r.code = m.display_currency
        left join rate_overrides o on o.code = m.display_currency and (o.until is null or o.until > now())
        left join watched_wallets s on (s.wallet_address, s.partner_id, s.test_mode, s.account_id)
          = (wallets[i.place], partners[i.place], test, accounts[i.place])
        left join amount_reservations a
          on (a.wallet_address, a.usdc_micro) = (wallets[i.place], exact_micros[i.place])
      where m.partner_id = partners[i.place] and m.test_mode = test and m.id = accounts[i.place]
        and m.wallet_address = wallets[i.place] and m.onboarded_at is not null
        and m.wallet_chain_ids is not distinct from paid_on[i.place]::int[]
        and not m.disabled_by_partner and not m.disabled_by_operator and m.display_currency = codes[i.place]
        and coalesce(o.rate, r.rate) = rates_used[i.place]
        and (o.rate is not null) = (rates_from[i.place] = 'override')
        and (o.rate is not null or r.fetched_at = rates_at[i.place])
      for key share of w) s;
  select coalesce(jsonb_object_agg(c.chain_id, c.number), '{}') || jsonb_build_object('heads',
      coalesce(jsonb_object_agg(c.chain_id, jsonb_build_object('hash', c.hash, 'time', c.block_time)), '{}')) into blocks
    from chain_cursors c where c.chain_id = any(chains)
      and c.block_time between now() - interval '15 seconds' and now() + interval '15 seconds';
  if watch is not null then
    insert into watched_wallets
      select wallets[place], partners[place], test, accounts[place], made + expiries[place] + interval '60 days', made
      from unnest(watch) as place order by 1, 2, 4
      on conflict (wallet_address, partner_id, test_mode, account_id) do update
        set watch_until = excluded.watch_until, changed_at = excluded.changed_at
        where watched_wallets.watch_until < excluded.watch_until - interval '1 day';
  end if;

  return query with reserved as (
      insert into amount_reservations
        select wallets[i.place], i.free, partners[i.place], test, ids[i.place], made,
          made + expiries[i.place] + interval '24 hours'
        from unnest(good, free) as i(place, free) where i.free is not null
        order by 1, 2
        on conflict do nothing returning partner_id
    ), clocks as (
      insert into partner_clocks as clock (partner_id, test_mode, last_at)
        select partner_id, test, real_time() from reserved order by 1
        on conflict (partner_id, test_mode) do update set last_at = greatest(clock.last_at + interval '1 ms', real_time())
        returning clock.partner_id, clock.last_at
    ), stored as (
      insert into requests as q (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro,
          reserved, rate, rate_source, memo, payment_mode, customer_name, customer_email, customer_phone, metadata,
          wallet_address, reference, start_blocks, wallet_chain_ids, created_at, made_at, expires_at)
        select c.partner_id, test, ids[c.place], accounts[c.place], keys[c.place], fiats[c.place], codes[c.place],
          free[array_position(good, c.place)], true, rates_used[c.place], rates_from[c.place], memos[c.place],
          modes[c.place], names[c.place], mails[c.place], phones[c.place], metas[c.place],
          wallets[c.place], refs[c.place], blocks, coalesce(paid_on[c.place]::int[], '{}'),
          c.at, c.made, c.made + expiries[c.place]
        from (select partner_id, array_position(partners, partner_id) as place, last_at as at,
          least(last_at, real_time()) as made from clocks) c
        on conflict (partner_id, test_mode, account_id, idempotency_key) do nothing
        returning q.partner_id, q.id, q.usdc_micro, q.created_at, q.expires_at
    )
    select * from stored;
  get diagnostics count = row_count;
  if count = 0 then
    -- Nothing that must survive a power failure.
    setting := set_config('synchronous_commit', 'off', true);
  end if;
  if count < cardinality(good) then
    -- Its own alone: the same amount may be somebody else's by now.
    delete from amount_reservations a using unnest(good, free) as i(place, free)
      where a.wallet_address = wallets[i.place] and a.usdc_micro = i.free and a.request_id = ids[i.place] and not exists (
        select from requests r where r.partner_id = partners[i.place] and r.test_mode = test and r.id = ids[i.place]);
  end if;
end $function$;
grant execute on function store_together(integer[],boolean,uuid[],uuid[],uuid[],text[],bigint[],text[],numeric[],text[],timestamp with time zone[],text[],text[],text[],text[],text[],text[],json[],text[],text[],bytea[],bigint[],interval[]) to quittance_service;

CREATE OR REPLACE FUNCTION public.take_clock(partner uuid, test boolean)
 RETURNS timestamp with time zone
 LANGUAGE sql
BEGIN ATOMIC
 INSERT INTO partner_clocks AS clock (partner_id, test_mode, last_at)
   VALUES (take_clock.partner, take_clock.test, date_trunc('milliseconds'::text, clock_timestamp())) ON CONFLICT(partner_id, test_mode) DO UPDATE SET last_at = GREATEST((clock.last_at + '00:00:00.001'::interval), date_trunc('milliseconds'::text, clock_timestamp()))
   RETURNING clock.last_at;
END;
grant execute on function take_clock(uuid,boolean) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.tell_attempts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', case when told.events > 1 then format('attempts %s %s', told.partner_id, told.test_mode)
      else (
        select format('request %s %s %s %s', r.id, r.account_id, r.partner_id, r.test_mode)
        from webhook_deliveries d
          join requests r on (r.partner_id, r.test_mode, r.id) = (d.partner_id, d.test_mode, d.request_id)
        where (d.partner_id, d.test_mode, d.id) = (told.partner_id, told.test_mode, told.delivery_id))
    end)
  from (
    select partner_id, test_mode, count(distinct delivery_id) as events, min(delivery_id::text)::uuid as delivery_id
    from made group by partner_id, test_mode) told;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_chain()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('chain %s', new.chain_id));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_collection()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_endpoint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('endpoint %s %s', new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_hint()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.request_id, r.account_id, new.partner_id, new.test_mode))
    from requests r
    where (r.partner_id, r.test_mode, r.id) = (new.partner_id, new.test_mode, new.request_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_log()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', 'log ' || new.partner_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_mandate()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_merchant()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_plan()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('plan %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_queue()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', tg_argv[0]);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_rates()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', 'rates');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_request()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.id, new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_return()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  told uuid := coalesce(new.request_id, (select t.candidate_request_id from transfers t
    where (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
      = (new.partner_id, new.test_mode, new.chain_id, new.tx_hash, new.ordinal)));
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.account_id, new.partner_id, new.test_mode));
  if told is not null then
    perform pg_notify('changes', format('request %s %s %s %s', told, new.account_id, new.partner_id, new.test_mode));
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_session_end()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', 'session ' || new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_transfer()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  told uuid;
  at transfers := coalesce(new, old);
begin
  foreach told in array array[new.request_id, new.candidate_request_id, old.request_id, old.candidate_request_id] loop
    if told is not null then
      perform pg_notify('changes', format('request %s %s %s %s', told, at.account_id, at.partner_id, at.test_mode));
    end if;
  end loop;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_user_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', 'user ' || new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_wallet_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.account_id, new.partner_id, new.test_mode));
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.wallet_chains(m merchants, wallet text)
 RETURNS integer[]
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT
         CASE
             WHEN (wallet = (m).wallet_address) THEN (m).wallet_chain_ids
             ELSE ( SELECT c.old_chain_ids
                FROM wallet_changes c
               WHERE ((c.partner_id = (wallet_chains.m).partner_id) AND (c.test_mode = (wallet_chains.m).test_mode) AND (c.account_id = (wallet_chains.m).id) AND (c.state = 'applied'::text) AND (c.old_wallet = wallet_chains.wallet))
               ORDER BY c.ended_at DESC
              LIMIT 1)
         END AS old_chain_ids;
END;
grant execute on function wallet_chains(merchants,text) to quittance_app, quittance_service;

CREATE OR REPLACE FUNCTION public.watch_signed_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  -- Other merchants may belong to other partners. Only the latest time until which one of them watches is taken from there.
  insert into watched_wallets as w
    select new.address, new.partner_id, new.test_mode, new.account_id, max(o.watch_until), real_time()
    from watched_wallets o where o.wallet_address = new.address and o.test_mode = new.test_mode
    group by o.wallet_address
    on conflict (wallet_address, partner_id, test_mode, account_id) do update
      set watch_until = excluded.watch_until, changed_at = excluded.changed_at;
  return null;
end $function$;
