-- Without a transaction.

-- Before a charge is made or sent, its request's payments are looked for among the transfers that are not matched yet.
-- Anybody can send any number of those, so they must not be found by reading all of a wallet's.
drop index concurrently if exists transfers_arriving;
create index concurrently transfers_arriving on transfers (partner_id, test_mode, to_address, value)
  where judged_at is null;
drop index concurrently if exists transfers_arriving_reference;
create index concurrently transfers_arriving_reference on transfers (partner_id, test_mode, calldata_reference)
  where judged_at is null and calldata_reference is not null;
drop index concurrently if exists transfers_arriving_charge;
create index concurrently transfers_arriving_charge on transfers (partner_id, test_mode, charged_reference)
  where judged_at is null and charged_reference is not null;
drop index concurrently if exists transfers_arriving_authorization;
create index concurrently transfers_arriving_authorization on transfers (partner_id, test_mode, authorization_nonce)
  where judged_at is null and authorization_nonce is not null;
drop index concurrently if exists kept_bindings_request;
create index concurrently kept_bindings_request on kept_bindings (partner_id, test_mode, request_id);
