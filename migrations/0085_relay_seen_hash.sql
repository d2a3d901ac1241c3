-- Two blocks of a reorganisation can have one number, so it is the hash that tells whether the reader has read on since
-- the chain was last asked. `seen_number` is no longer used; a later release drops it.
alter table relay_accounts add column seen_hash text;
