-- Without a transaction.

-- Once a minute every node looks for what waits for a chain that is missing in its mode. For a chain that is not missing,
-- nothing does, and that must not be found by reading all of its mandates and refunds.
drop index concurrently if exists mandates_of_chain;
create index concurrently mandates_of_chain on mandates (chain_id, test_mode, id) where state = 'active';
drop index concurrently if exists returns_of_chain;
create index concurrently returns_of_chain on returns (chain_id, test_mode, tx_hash)
  where state in ('returning', 'sent');

-- A payment in a token that was missing in CHAINS_FILE is judged again once the token is back. There are few.
drop index concurrently if exists transfers_wrong_token;
create index concurrently transfers_wrong_token on transfers (chain_id, token_address)
  where reason = 'wrong_token' and request_id is null;
