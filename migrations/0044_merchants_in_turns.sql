-- Merchants with notes to be looked for are found one by one: what is read does not grow with how many each has.
create index returns_turns on returns (partner_id, account_id, next_look_at)
  where state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null;

-- The same for transfers that are not settled.
drop index transfers_unsettled;
create index transfers_unsettled on transfers (chain_id, partner_id, account_id, look_at, block_number, ordinal)
  where counts and final_at is null;
