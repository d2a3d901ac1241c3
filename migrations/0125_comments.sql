-- Without a transaction.
-- Says of each table, and of each column whose name does not tell it, what it holds. `\d+` shows it in psql, and `schema.sql` above
-- each column. No comment waits for readers or writers of its table.

comment on table alarms is
  'What an operator has to look at. An alarm that has ended keeps its row.';
comment on column alarms.cleared_at is 'When it ended. Null while it lasts.';
comment on column alarms.kind is 'The kind of alarm, as src/db/alarm-kinds.ts lists them.';
comment on column alarms.subject is 'What it concerns, such as a chain or an endpoint. Empty for a kind that can only occur once.';
comment on column alarms.details is 'The facts from which its sentence is made, by kind.';

comment on table amount_reservations is
  'Registry over all partners: which amounts are reserved at a wallet, so that a transfer is recognised by its value.';
comment on column amount_reservations.usdc_micro is 'The reserved amount in micro units: the amount due, or with a surcharge below one cent.';
comment on column amount_reservations.request_id is 'The request whose whole amount this is. Null for the rest of a request: reserved_rests names it.';
comment on column amount_reservations.reserved_until is 'From then on the amount can be reserved again.';

comment on table api_keys is
  'API keys of partners. The key itself is not stored.';
comment on column api_keys.hash is 'The keyed hash of the key.';
comment on column api_keys.hint is 'The prefix and the last four characters of the key, by which people recognise it.';
comment on column api_keys.created_by is 'The e-mail address of the user who created it. Null if no user did.';
comment on column api_keys.ends_at is 'When it expires. Null: never.';
comment on column api_keys.form_key is 'The form that created it, so that a form that is sent twice creates one key.';

comment on table audit_chains is
  'The end of each audit log. Each partner has one. The nil UUID stands for what belongs to no partner.';
comment on column audit_chains.last_number is 'The number of the last entry.';
comment on column audit_chains.last_hash is 'The hash of the last entry.';

comment on table audit_log is
  'Who did what. Each entry holds a hash over the entry before it, so a change or a gap is found.';
comment on column audit_log.partner_id is 'The partner whose log it is. The nil UUID for what belongs to no partner.';
comment on column audit_log.number is 'Its place in the log of its partner: 1, 2, 3 and so on.';
comment on column audit_log.test_mode is 'Null if it concerns no mode, or both.';
comment on column audit_log.details is 'What was changed, by action. As json, which keeps the order of keys.';
comment on column audit_log.hash is 'SHA-256 over the hash of the entry before it, the number and the content.';

comment on table authorizations is
  'EIP-3009 authorizations that were submitted for a request before they were sent. Each belongs to the request that had it first.';
comment on column authorizations.authorizer is 'The address of the wallet that signed it.';
comment on column authorizations.nonce is 'The 32 bytes by which the token recognises it.';
comment on column authorizations.value is 'What it pays, in micro units.';
comment on column authorizations.valid_before is 'No chain executes it later.';
comment on column authorizations.relay_id is 'The transaction of the relayer that executes it. Null while there is none.';
comment on column authorizations.failures is 'How many earlier transactions for it were reverted or lost.';
comment on column authorizations.handed_in_at is 'When it was last submitted.';

comment on table base_urls is
  'The addresses (BASE_URL) under which nodes may run on this database. A node with another one does not start.';

comment on table chain_blocks is
  'The last 512 blocks of each chain that were read, to find where a reorganisation began.';
comment on column chain_blocks.number is 'The number of the block.';

comment on table chain_checkpoints is
  'Sparse older blocks of each chain, for reorganisations that are longer than what chain_blocks holds.';
comment on column chain_checkpoints.number is 'The number of the block.';

comment on table chain_cursors is
  'How far each chain was read.';
comment on column chain_cursors.fence is 'The fence of the lease under which it was written last. A process with a lower one cannot write any more.';
comment on column chain_cursors.number is 'Every block up to this one was read.';
comment on column chain_cursors.hash is 'The hash of that block.';
comment on column chain_cursors.block_time is 'The time of that block.';
comment on column chain_cursors.head_number is 'The newest block, as the endpoint last reported it.';
comment on column chain_cursors.final_number is 'The newest block that is final for any amount.';
comment on column chain_cursors.safe_number is 'The block with the endpoint''s tag safe. Null where finality is a number of blocks.';
comment on column chain_cursors.finalized_number is 'The block with the endpoint''s tag finalized. Null where finality is a number of blocks.';

comment on table chain_modes is
  'In which modes each chain was read, so that what was read in the other mode is read again once it is back.';
comment on column chain_modes.left_at is 'The last block that was read in this mode. Null while it is read in it.';

comment on table collections is
  'Charges under a mandate: one for each request of a plan that charges automatically.';
comment on column collections.number is 'The number of the charge in its plan: 1, 2, 3 and so on.';
comment on column collections.mandate_id is 'The mandate that it was last tried with.';
comment on column collections.chain_id is 'The chain of that mandate.';
comment on column collections.due_at is 'When it is tried. Null while a transaction is under way, and at the end.';
comment on column collections.attempts is 'How many tries failed. Delays do not count.';
comment on column collections.failing_since is 'When the first of them failed.';
comment on column collections.waits is 'How often in a row it was delayed.';
comment on column collections.reason is 'Why it last failed, was delayed or ended. Null when nothing is wrong.';
comment on column collections.relay_id is 'The last transaction of the relayer for it.';
comment on column collections.reverted is 'Whether that transaction was reverted and the reason is not known yet.';

comment on table day_counters is
  'How often something was done on a day (UTC), for what is limited per day.';
comment on column day_counters.partner_id is 'The partner in both modes, because a mailbox receives what is limited from both.';
comment on column day_counters.action is 'What is counted.';
comment on column day_counters.subject is 'The merchant, request or address for which it is counted.';
comment on column day_counters.calls is 'The count.';

comment on table differing_replays is
  'Creates that repeated an idempotency key with other values. Partners see them as mistakes of their software.';
comment on column differing_replays.times is 'How often.';
comment on column differing_replays.last_fields is 'The names of the fields that differed last. Their values are not stored.';

comment on table erased_customers is
  'How far the removal of old personal data has come.';
comment on column erased_customers.up_to is 'The creation time of the last request that was looked at.';

comment on table kept_bindings is
  'Transfers that a reorganisation removed although their sender had signed for them or their merchant had attached them. Mined again, they are bound again.';
comment on column kept_bindings.ordinal is 'The place of the log among those of its transaction, from 0.';
comment on column kept_bindings.rule is 'What had bound it: claim (a signature) or merchant (attached by hand).';
comment on column kept_bindings.value is 'What it moved, in micro units.';

comment on table leases is
  'Work that only one process may do at a time, such as reading a chain.';
comment on column leases.name is 'The work.';
comment on column leases.holder is 'The process that has the lease.';
comment on column leases.fence is 'Grows with each new holder, so that an earlier one can be told apart and refused.';
comment on column leases.wanted_at is 'Since when processes have wanted the lease. A chain can be paid from then on, even before its first block is read.';

comment on table mails is
  'The outbox. Mails are deleted after a time.';
comment on column mails.subject is 'With its numbers masked while the mail is stored encrypted.';
comment on column mails.body is 'The plain text. Stored only in the sandbox, where mails are shown.';
comment on column mails.attempts is 'How often sending it was tried.';
comment on column mails.next_attempt_at is 'When it is tried next. infinity: given up.';
comment on column mails.body_html is 'The same for programs that show HTML. Stored only in the sandbox.';
comment on column mails.partner_id is 'Set for mails to a customer about a request or plan, which are deleted with the customer''s data.';
comment on column mails.request_id is 'The request of a mail to a customer. Each has at most one mail for each purpose.';
comment on column mails.purpose is 'ask: requests a payment. plan: is about plan_id. receipt: is a receipt, or any mail without a request.';
comment on column mails.urgent is 'Whether somebody is waiting for it, as for a code. Urgent mails are sent first.';
comment on column mails.unsubscribe_url is 'Where a POST stops mails like this one (RFC 8058).';
comment on column mails.sealed is 'Subject, bodies and link of a mail, encrypted. Null once it was sent.';
comment on column mails.plan_id is 'The plan of a mail to a customer.';
comment on column mails.for_partner_id is 'The partner for whom a mail is sent that is not to a customer. Partners take turns at the mail server.';
comment on column mails.about_plan_id is 'The plan whose customer a mail to its merchant names, so that it is deleted with the customer''s data.';

comment on table mandates is
  'What a customer agreed to for a plan that charges automatically. A plan has at most one that is active.';
comment on column mandates.contract_address is 'The contract that charges.';
comment on column mandates.payer is 'The wallet that is charged.';
comment on column mandates.payee is 'The wallet that is paid.';
comment on column mandates.executor is 'The address of the relayer that may charge.';
comment on column mandates.cap_micro is 'The most that one charge may take, in micro units.';
comment on column mandates.min_interval_s is 'The shortest time between two charges, in seconds.';
comment on column mandates.plan_ref is 'A keyed hash that stands for the plan in what the customer signs.';
comment on column mandates.salt is 'Random bytes that make each mandate unique.';
comment on column mandates.hash is 'The EIP-712 hash that was signed. The contract knows the mandate by it.';
comment on column mandates.signature is 'The payer''s signature under hash.';
comment on column mandates.cap_fiat_int is 'The most that one charge may take, in minor units of fiat_code. cap_micro was computed from it.';
comment on column mandates.reserve_percent is 'By how many percent cap_micro exceeds cap_fiat_int at the rate of agreed_at, for changes of the rate.';
comment on column mandates.allowed_charges is 'For how many charges the payer has allowed the token to be taken. Null: without limit.';
comment on column mandates.stop_signature is 'The payer''s signature under the revocation. Null if the link alone stopped it, or nothing did.';
comment on column mandates.revoke_due_at is 'When its revocation on the chain is tried or checked next. Null: nothing to do.';
comment on column mandates.revoke_failures is 'How many tries failed in a row.';
comment on column mandates.revoke_relay_id is 'The transaction of the relayer that revokes it.';
comment on column mandates.revoked_at is 'When it was known to be revoked on the chain.';

comment on table merchants is
  'The merchants of partners. The API and other tables call the id account_id.';
comment on column merchants.display_currency is 'The currency of its requests (ISO 4217).';
comment on column merchants.wallet_signed_at is 'When its wallet signed. Null while the wallet is only claimed.';
comment on column merchants.wallet_chain_ids is 'The chains on which the code of a contract wallet was checked. Null: any chain.';
comment on column merchants.onboarding_epoch is 'Raised by a reset, so that earlier onboarding links end.';
comment on column merchants.email_checked_at is 'When a code that was sent to the e-mail address was entered.';
comment on column merchants.terms_accepted_from is 'The IP address from which the terms were accepted.';
comment on column merchants.language is 'The language in which mails to it are written.';
comment on column merchants.displaced_wallet is 'A claimed wallet that it lost to a merchant who signed for it. Null once it has another one.';
comment on column merchants.displaced_at is 'When it lost that wallet.';

comment on table metadata_indexed is
  'How far values of metadata are in metadata_values.';
comment on column metadata_indexed.up_to is 'The creation time of the last request that was indexed.';

comment on table metadata_values is
  'Values of requests'' metadata in lower case, for searches. A loop writes them soon after the create.';
comment on column metadata_values.token is 'A hash of partner, mode and value (metadata_token).';

comment on table onboarding_codes is
  'Codes that were sent to a merchant''s e-mail address.';
comment on column onboarding_codes.code_hash is 'The keyed hash of the code.';
comment on column onboarding_codes.attempts is 'How many wrong codes were entered.';

comment on table onboarding_progress is
  'How far a merchant has come before its signature. Deleted once it has signed.';
comment on column onboarding_progress.details_at is 'When the first form was sent.';
comment on column onboarding_progress.email is 'The address that the merchant gave where the partner gave none.';

comment on table overpaid_requests is
  'Requests that were paid more than their amount. The function note_overpaid writes them.';

comment on table partner_clocks is
  'The clock of each partner and mode: each request gets the next millisecond, so created_at increases in the order of commits.';
comment on column partner_clocks.last_at is 'The created_at that was given last.';

comment on table partners is
  'The partners, who create merchants and requests through the API.';
comment on column partners.slug is 'The short name in addresses and commands.';
comment on column partners.currency is 'The currency of merchants that name none (ISO 4217).';
comment on column partners.allowed_expiry_minutes is 'The lifetimes that its requests may have.';
comment on column partners.default_expiry_minutes is 'The lifetime of requests that name none.';
comment on column partners.email is 'Where the partner is told of what needs its attention.';
comment on column partners.accent is 'The colour of its pages, as #rrggbb.';
comment on column partners.logo is 'The image, at most 64 KiB.';
comment on column partners.logo_type is 'The media type of the logo.';
comment on column partners.logo_hash is 'Part of the logo''s address, so that a new logo has a new address.';

comment on table passkeys is
  'Passkeys of users. Who has one cannot sign in with a link alone.';
comment on column passkeys.partner_id is 'Null for an operator.';
comment on column passkeys.credential_id is 'The identifier that the authenticator gave it.';
comment on column passkeys.public_key is 'The public key in COSE format.';
comment on column passkeys.counter is 'The signature counter that the authenticator last reported. 0 for those that do not count.';

comment on table payment_hints is
  'Transactions that a customer''s wallet or form named before they were mined. They are shown and prove nothing.';
comment on column payment_hints.nonce is 'The nonce of the transaction. With from_address it finds what replaced it.';
comment on column payment_hints.seen_block is 'The newest block when it was first seen.';
comment on column payment_hints.replaced_by is 'The transaction that was mined in its place, if known.';
comment on column payment_hints.checked_at is 'When the chain was last asked about it.';
comment on column payment_hints.value is 'What it would move to the request''s wallet, in micro units. Null where only its being mined can tell.';
comment on column payment_hints.heard_at is 'When the first hint of its request arrived.';

comment on table permits is
  'The latest EIP-2612 permit of each payer. It allows the contract to take a token, for all mandates of the payer.';
comment on column permits.contract_address is 'The contract that may take the token.';
comment on column permits.value is 'How much it may take, in micro units.';
comment on column permits.nonce is 'The nonce of the payer at the token.';
comment on column permits.deadline is 'Until when the token accepts it, in Unix seconds.';
comment on column permits.signature is 'The payer''s signature.';

comment on table plan_charges is
  'The charges of plans: each is an ordinary request.';
comment on column plan_charges.number is 'The number of the charge in its plan: 1, 2, 3 and so on.';
comment on column plan_charges.due_on is 'The date for which it is.';

comment on table plans is
  'Plans request the same amount from one customer on one date after the other.';
comment on column plans.form_key is 'The form that created it, so that a form that is sent twice creates one plan.';
comment on column plans.name is 'The memo of each charge. Null once erased.';
comment on column plans.fiat_int is 'The amount of each charge, in minor units of fiat_code.';
comment on column plans.customer_name is 'Null once erased.';
comment on column plans.language is 'The language in which the customer is written to.';
comment on column plans.metadata is 'Copied to each request. As json, which keeps the order of keys.';
comment on column plans.period is 'The unit of every.';
comment on column plans.every is 'How many periods lie between two dates.';
comment on column plans.first_on is 'The first date, in UTC.';
comment on column plans.max_charges is 'How many charges there are. Null: until somebody ends it.';
comment on column plans.charges is 'How many charges were made.';
comment on column plans.slot is 'How many times every periods after first_on the next charge is. A pause skips some.';
comment on column plans.next_on is 'The date of the next charge. Null once the plan has ended.';
comment on column plans.due_at is 'When the next charge is tried. Null while none is.';
comment on column plans.failure is 'Why the charge of next_on could not be made. Null when nothing is wrong.';
comment on column plans.failures is 'How many tries of that charge failed in a row.';
comment on column plans.failed_at is 'When the first of them failed.';
comment on column plans.mails_stopped_at is 'When the customer stopped the mails of the plan. Null: each new request is mailed.';
comment on column plans.collect is 'link: the customer pays each request. automatic: the wallet of the customer is charged under a mandate.';
comment on column plans.cap_fiat_int is 'The most that a customer agrees to for one charge, in minor units of fiat_code.';
comment on column plans.reserve_percent is 'By how many percent a mandate exceeds that, for changes of the rate.';
comment on column plans.after_past_due is 'What follows a charge that failed for good: link (requests payment by link) or end (ends the plan).';
comment on column plans.foreseen_on is 'The date for which the wallet was last looked at ahead, so that the customer is warned once of each.';
comment on column plans.charge_key is 'The key of the ids and references of its requests, so that they stay the same when SECRET_KEYS changes.';

comment on table rate_counters is
  'How many calls were made in a minute. Each subject and action has one row, which is used again.';
comment on column rate_counters.subject is 'The API key, or the partner itself.';
comment on column rate_counters.minute is 'The minute for which calls is the count.';
comment on column rate_counters.calls is 'The count.';

comment on table rate_overrides is
  'Exchange rates that an operator has set. They come before those of rates.';
comment on column rate_overrides.rate is 'Units of the currency for one stablecoin, as a decimal number in text.';
comment on column rate_overrides.set_at is 'When it was set. No statement reads it.';
comment on column rate_overrides.until is 'When it ends. Null: until it is removed.';

comment on table rates is
  'The exchange rates that were fetched last.';
comment on column rates.code is 'The currency (ISO 4217).';
comment on column rates.rate is 'Units of the currency for one stablecoin, as a decimal number in text.';
comment on column rates.sources is 'The sources and their rates, of which rate is the median: [{source, rate}].';

comment on table receipt_sweep is
  'How far verified requests were searched for receipts that could not be queued when they were verified. One row.';
comment on column receipt_sweep.sole is 'Allows only one row. No statement reads it.';
comment on column receipt_sweep.verified_at is 'When the last request that was looked at was verified.';
comment on column receipt_sweep.request_id is 'That request.';

comment on table receipts is
  'Receipts to be sent, as a mail or as a message to a phone.';
comment on column receipts.attempts is 'How often sending it was tried.';
comment on column receipts.next_attempt_at is 'When it is tried next. infinity: given up.';
comment on column receipts.done_at is 'When it was passed on, or nobody was left to send it to.';
comment on column receipts.error is 'Why the last attempt failed, for operators.';

comment on table relay_accounts is
  'The addresses from which the relayer sends, on each chain, as they were when the chain was last asked.';
comment on column relay_accounts.next_nonce is 'The nonce that the next transaction gets.';
comment on column relay_accounts.chain_nonce is 'How many of its transactions are mined, as all endpoints agree.';
comment on column relay_accounts.balance_wei is 'Its balance, in wei.';
comment on column relay_accounts.base_fee_wei is 'The base fee of the next block, in wei per gas.';
comment on column relay_accounts.priority_fee_wei is 'The priority fee that a transaction offers, in wei per gas.';
comment on column relay_accounts.head_number is 'The newest block.';
comment on column relay_accounts.seen_number is 'Not used any more: seen_hash replaced it. A later release removes it.';
comment on column relay_accounts.counted_at is 'When the chain was last asked how many transactions are mined.';
comment on column relay_accounts.checked_at is 'When the chain was last asked for the balance, too.';
comment on column relay_accounts.look_at is 'When the loop looks at it next.';
comment on column relay_accounts.gap_nonce is 'A nonce without a transaction, below others that have one. A transfer of nothing fills it.';
comment on column relay_accounts.gap_at is 'When that was last tried.';
comment on column relay_accounts.gap_fee_wei is 'The most that this transfer pays, in wei per gas.';
comment on column relay_accounts.gap_priority_fee_wei is 'The priority fee of this transfer, in wei per gas.';
comment on column relay_accounts.seen_hash is 'The newest block that the reader had read.';

comment on table relay_spending is
  'What the relayer spent for a partner on a day (UTC). What is under way counts with its maximum.';
comment on column relay_spending.wei is 'The sum, in wei.';

comment on table relay_transactions is
  'Transactions that the service signs, sends and follows until the chain has decided.';
comment on column relay_transactions.from_address is 'The address of the relayer that sends it.';
comment on column relay_transactions.nonce is 'Its nonce. Of all transactions with one nonce, the chain includes one.';
comment on column relay_transactions.data is 'The calldata.';
comment on column relay_transactions.gas is 'The gas limit.';
comment on column relay_transactions.purpose is 'What it does: a charge, the end of a mandate, or an EIP-3009 authorization.';
comment on column relay_transactions.subject_id is 'The request, or the mandate that it ends.';
comment on column relay_transactions.state is 'allotted: has a nonce, is not signed. sent: signed. mined: in a block. final and reverted: its block is final. lost: another one used the nonce.';
comment on column relay_transactions.hash is 'The variant that was signed last, or that was mined.';
comment on column relay_transactions.day is 'The day whose budget it is counted in (UTC).';
comment on column relay_transactions.fee_wei is 'The most that it can cost, in wei. Once it is mined, what it cost.';
comment on column relay_transactions.sent_at is 'When the last variant was signed.';
comment on column relay_transactions.sent_head is 'The newest block at that time.';
comment on column relay_transactions.reached is 'Whether an endpoint has accepted the last variant.';
comment on column relay_transactions.tried_at is 'When the last variant was last sent to an endpoint.';
comment on column relay_transactions.trouble is 'Why it is not signed, or why no endpoint accepted it.';
comment on column relay_transactions.refused_at is 'Since when every endpoint refuses it.';
comment on column relay_transactions.block_number is 'The block that includes it.';
comment on column relay_transactions.succeeded is 'Whether the mined variant succeeded. Null while that is not known.';
comment on column relay_transactions.passed_block is 'The newest block when its nonce was first found used without a known variant being mined.';
comment on column relay_transactions.account_id is 'The merchant of a charge. Null for other calls.';

comment on table relay_variants is
  'Every variant of a transaction that was ever signed, as with a higher fee. The chain may include any of them.';
comment on column relay_variants.signed is 'The signed transaction.';
comment on column relay_variants.max_fee_wei is 'The most that it pays, in wei per gas.';
comment on column relay_variants.priority_fee_wei is 'Its priority fee, in wei per gas.';
comment on column relay_variants.cancels is 'Whether it is a transfer of nothing in place of a call that every endpoint refuses.';
comment on column relay_variants.fee_wei is 'What it cost, in wei. Null until its receipt was read.';

comment on table requests is
  'Payment requests.';
comment on column requests.account_id is 'The merchant who is paid.';
comment on column requests.idempotency_key is 'Null: a repeated create makes another request.';
comment on column requests.fiat_int is 'The amount in minor units of fiat_code.';
comment on column requests.usdc_micro is 'The amount due in micro units, which are millionths of a stablecoin. It can include a surcharge below one cent.';
comment on column requests.reserved is 'Whether usdc_micro is reserved in amount_reservations. Otherwise no transfer is matched by its value.';
comment on column requests.rate is 'Units of fiat_code for one stablecoin at the create, as a decimal number.';
comment on column requests.metadata is 'As json, which keeps the order of keys.';
comment on column requests.wallet_address is 'The merchant''s wallet at the create. A later change does not move open requests.';
comment on column requests.reference is '16 bytes at the end of a payment''s calldata that name the request: a keyed hash of its id.';
comment on column requests.start_blocks is 'The newest block of each chain at the create: {"<chain id>": number, "heads": {"<chain id>": {"hash", "time"}}}.';
comment on column requests.proof_note is 'Why a proof was withdrawn: reorged.';
comment on column requests.asset_id is 'What it was paid with (CAIP-19). Null until a payment is known.';
comment on column requests.tx_hash is 'The transfer that completed the amount.';
comment on column requests.payer_address is 'The sender of that transfer.';
comment on column requests.created_at is 'From the partner''s clock, so it increases in the order of commits. It can differ from the real time.';
comment on column requests.rate_source is 'override, or the sources of the rate. Null if they were not stored.';
comment on column requests.customer_language is 'The language in which the customer last read the pay page.';
comment on column requests.wallet_chain_ids is 'The chains on which that wallet can be paid. Null: any chain.';
comment on column requests.made_at is 'The real time of the create. Null on old requests.';

comment on table reserved_rests is
  'Amounts that are reserved for the rest of a request after a partial payment.';
comment on column reserved_rests.rest_micro is 'The rest that is due, in micro units.';
comment on column reserved_rests.usdc_micro is 'The amount that is reserved for it, in micro units: the rest, or with a surcharge below one cent.';
comment on column reserved_rests.start_blocks is 'The newest block of each chain when it was reserved, as in requests.';

comment on table returns is
  'Refunds: payments that a merchant sends back, each in whole or in part. The key is that of the transfer that came in.';
comment on column returns.tx_hash is 'The transaction of the payment.';
comment on column returns.ordinal is 'The place of its log among those of its transaction, from 0.';
comment on column returns.request_id is 'The request that was overpaid. Null for an unmatched payment.';
comment on column returns.to_address is 'The wallet that the refund goes to.';
comment on column returns.usdc_micro is 'What is to be sent back, in micro units.';
comment on column returns.return_tx_hash is 'The transaction that sends it back. Null until the merchant has named it.';
comment on column returns.noted_at is 'When the refund was begun, or its transaction was named. One that replaces a transaction still awaited keeps it.';
comment on column returns.state is 'returning: begun. sent: named and not final. confirmed, failed, other: final. missing: not found for a day. kept: withdrawn by the merchant.';
comment on column returns.given_micro is 'What return_tx_hash moves to the payer, in micro units. Null while no block shows it.';
comment on column returns.from_address is 'The merchant''s wallet that was paid, from which the refund comes.';
comment on column returns.next_look_at is 'When the chain is asked next.';
comment on column returns.replaced_at is 'When return_tx_hash replaced a transaction that was still awaited. Null otherwise.';

comment on table returns_replaced is
  'Transactions of refunds that were not found and were replaced. They could still be mined, so they are watched.';
comment on column returns_replaced.ordinal is 'The place of the payment''s log among those of its transaction, from 0.';
comment on column returns_replaced.return_tx_hash is 'The transaction that was replaced.';
comment on column returns_replaced.usdc_micro is 'What it was to send back, in micro units.';
comment on column returns_replaced.noted_at is 'When it was named.';
comment on column returns_replaced.next_look_at is 'When the chain is asked next.';

comment on table schema_migrations is
  'The migrations that were applied.';

comment on table scope_keys is
  'The key with which each login proves its scopes (HMAC-SHA256). Only the owner reads it.';
comment on column scope_keys.inner_pad is 'The key with the inner padding.';
comment on column scope_keys.outer_pad is 'The key with the outer padding.';

comment on table secret_key_marks is
  'The keys of SECRET_KEYS that this database was written with, so that a lost or changed one is noticed.';
comment on column secret_key_marks.mark is 'A keyed hash. Null if the key was given up before it left one.';
comment on column secret_key_marks.forgotten_at is 'When an operator gave the key up as lost.';
comment on column secret_key_marks.in_front_at is 'When a running node last had the key first in SECRET_KEYS, which is the one that encrypts.';

comment on table sessions is
  'Who is signed in. The browser''s cookie has the token.';
comment on column sessions.token_hash is 'The keyed hash of the token.';
comment on column sessions.account_id is 'The merchant of a session of that kind.';
comment on column sessions.user_id is 'The user of any other session.';
comment on column sessions.wallet_address is 'The merchant''s wallet. The session ends when the merchant has another one.';
comment on column sessions.confirmed_at is 'When the user last confirmed with a passkey.';

comment on table sign_in_links is
  'Links that were mailed to sign in with. One is recorded for unknown addresses, too.';
comment on column sign_in_links.token_hash is 'The keyed hash of the token in the link.';
comment on column sign_in_links.partner_id is 'Set for a link that was requested on a partner''s own host, and for an invitation.';
comment on column sign_in_links.user_id is 'The user of an invitation.';
comment on column sign_in_links.browser_hash is 'The browser that requested the link. Null for an invitation, which any browser may use.';
comment on column sign_in_links.asker_hash is 'The network that requested the link, or the browser if it is known. Limits are counted by it.';
comment on column sign_in_links.known_browser is 'Whether that browser has signed in with this address before.';

comment on table tokens_read is
  'With which tokens each chain was read, so that blocks without one are read again once it is back.';
comment on column tokens_read.left_at is 'The last block that was read with the token, or searched for it since. Null if none was read without it.';
comment on column tokens_read.back_at is 'The last block that was read without it. Null while it is missing, and if none was.';

comment on table transfers is
  'Registry over all partners: the transfers to watched wallets. Each is bound to at most one request.';
comment on column transfers.ordinal is 'The place of the log among those of its transaction, from 0. Unlike log_index it survives a reorganisation.';
comment on column transfers.block_number is 'The block that includes it.';
comment on column transfers.value is 'What it moves, in micro units.';
comment on column transfers.account_id is 'The merchant of the wallet.';
comment on column transfers.calldata_reference is 'The 16 bytes in the calldata that name a request. Null if there are none, or they are ambiguous.';
comment on column transfers.request_id is 'The request to which it is bound. Null: unmatched.';
comment on column transfers.candidate_request_id is 'The request for which an unmatched transfer seems meant.';
comment on column transfers.rule is 'What bound it: see Rule in src/payments/rules.ts.';
comment on column transfers.reason is 'Why it is unmatched, or bound and not counted: see Reason in src/payments/rules.ts.';
comment on column transfers.counts is 'Whether it adds to what pays request_id.';
comment on column transfers.judged_at is 'When it was matched, or found to match nothing. Null: not looked at yet.';
comment on column transfers.final_at is 'When its block was final and all endpoints had confirmed it.';
comment on column transfers.look_at is 'When a loop looks at it next.';
comment on column transfers.looks is 'How often in a row a loop could not judge or confirm it.';
comment on column transfers.log_index is 'The place of the log in its block. Null on old rows.';
comment on column transfers.calldata_read is 'Whether the calldata was known. If not, it is matched and confirmed without it.';
comment on column transfers.denials is 'How often in a row all endpoints denied it alike.';
comment on column transfers.denied_at is 'Since when they have.';
comment on column transfers.authorization_nonce is 'The nonce of the EIP-3009 authorization that it executes.';
comment on column transfers.charged_reference is 'The reference that the contract for automatic charges named.';
comment on column transfers.logs_read is 'Whether the other logs of the transaction were looked at.';

comment on table underpaid_requests is
  'Requests that were paid in part. The function note_underpaid writes them.';

comment on table unread_transactions is
  'Transactions with transfers to watched wallets that could not be read with their block. They are tried again.';
comment on column unread_transactions.block_number is 'The block that includes it.';
comment on column unread_transactions.tx_hash is 'Empty: the logs of the whole block.';
comment on column unread_transactions.logs is 'The transfers to watched wallets, as the block''s logs had them.';
comment on column unread_transactions.owners is 'For whom each of these wallets was watched.';
comment on column unread_transactions.tries is 'How often reading it failed.';
comment on column unread_transactions.look_at is 'When it is tried next.';
comment on column unread_transactions.stored_at is 'When its transfers were stored without what could not be read.';
comment on column unread_transactions.told_by is 'The host of the endpoint that alone reports it. Null if a merchant, a customer or this service named it.';

comment on table used_passkey_challenges is
  'Challenges that a passkey has answered. None can be used again.';
comment on column used_passkey_challenges.challenge is 'The random bytes that the passkey signed.';

comment on table used_wallet_messages is
  'Messages that a wallet has signed, as to sign in. None can be used again.';
comment on column used_wallet_messages.nonce is 'The nonce in the message, which proves that the service wrote it.';

comment on table users is
  'People who sign in by e-mail: users of partners, and operators.';
comment on column users.partner_id is 'Null for an operator.';
comment on column users.email is 'In lower case.';
comment on column users.role is 'What a user of a partner may do. Null for an operator.';
comment on column users.language is 'The language in which they last signed in, and in which mails to them are written.';

comment on table wallet_changes is
  'Changes of a merchant''s wallet, and recoveries of a lost one.';
comment on column wallet_changes.new_chain_ids is 'The chains on which the code of a new contract wallet was checked. Null: any chain.';
comment on column wallet_changes.link_until is 'Until when the new wallet of a recovery may sign.';
comment on column wallet_changes.due_at is 'When a recovery takes effect, unless it is vetoed.';
comment on column wallet_changes.old_chain_ids is 'The same for the old wallet.';
comment on column wallet_changes.settle_failures is 'How often carrying it out failed.';
comment on column wallet_changes.settle_after is 'When that is tried again.';

comment on table wallets is
  'Registry over all partners: which merchant has a wallet.';
comment on column wallets.claimed_at is 'When it was named for the merchant.';
comment on column wallets.signed_at is 'When it signed. Null while it is only claimed.';

comment on table watched_wallets is
  'Registry over all partners: the wallets whose incoming transfers are read from the chains, and for whom.';
comment on column watched_wallets.watch_until is 'Until when transfers to it are read.';
comment on column watched_wallets.changed_at is 'When the row was last written. Processes that read chains find new wallets by it.';

comment on table webhook_attempts is
  'Attempts to send an event. Partitioned by month.';
comment on column webhook_attempts.duration_ms is 'How long it took, in milliseconds.';
comment on column webhook_attempts.status_code is 'The HTTP status of the answer. Null if there was none.';
comment on column webhook_attempts.error is 'The kind of failure, in a word. Null on success.';
comment on column webhook_attempts.request_headers is 'What was sent besides the body. As json, which keeps the order.';
comment on column webhook_attempts.response_body is 'The first 4 KiB of the answer.';
comment on column webhook_attempts.response_headers is 'Null on old rows.';

comment on table webhook_deliveries is
  'Events and their delivery: one for each verified request.';
comment on column webhook_deliveries.body is 'The exact text that every attempt sends.';
comment on column webhook_deliveries.attempts is 'How many attempts were made since the event was created or last replayed.';
comment on column webhook_deliveries.lease is 'The claim of the process that is sending it. Null if none is.';
comment on column webhook_deliveries.lease_until is 'When another process may claim it.';

comment on table webhook_endpoints is
  'Where each partner''s events are sent, for each mode.';
comment on column webhook_endpoints.url is 'Null: events wait.';
comment on column webhook_endpoints.secret is 'The signing secret, encrypted.';
comment on column webhook_endpoints.pending_secret is 'The next signing secret, encrypted. It replaces secret when it is activated.';
comment on column webhook_endpoints.failures is 'How many attempts failed in a row.';
comment on column webhook_endpoints.probe_at is 'After ten failures in a row: when the next single attempt is made.';
comment on column webhook_endpoints.secret_form is 'The form that created the latest secret, so that a form that is sent twice creates one.';

-- What nothing uses any more. Nodes of earlier versions may, so a later release removes it.
comment on function create_as_assumed is 'Not used any more: store_as_assumed replaced it. A later release removes it.';
comment on function find_by_email is 'Not used any more: find_by_email_in_scope replaced it. A later release removes it.';
comment on function find_by_metadata is 'Not used any more: find_by_value replaced it. A later release removes it.';
comment on function metadata_tokens is 'Used by find_by_metadata only. A later release removes both.';
