-- Merchants with notes to be looked for are found one by one: what is read does not grow with how many each has.
create index returns_turns on returns (partner_id, account_id, next_look_at)
  where state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null;
