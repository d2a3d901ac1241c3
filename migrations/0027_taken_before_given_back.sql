-- A payment is taken before the transfer that gives it back is offered; one transaction may give several back.

-- `returning`: taken by the merchant, nothing is noted yet. `missing`: no endpoint has known the transaction for a day; it
-- is looked for all the same. `kept`: put back by the merchant; what was noted and could still be mined is looked for on.
-- In every other state nothing binds the payment.
alter table returns
  alter column return_tx_hash drop not null,
  drop constraint returns_state_check,
  add constraint returns_state_check
    check (state in ('returning', 'sent', 'confirmed', 'failed', 'missing', 'other', 'kept')),
  drop constraint returns_check,
  add constraint returns_sought check (state not in ('returning', 'sent') or num_nulls(from_address, token_address) = 0),
  add constraint returns_noted check (state in ('returning', 'kept') or return_tx_hash is not null),
  add constraint returns_not_noted check (state <> 'returning' or return_tx_hash is null);
-- Where a transaction failed or was not found, the payment was free; what was bound since stays bound.
update returns b set state = 'kept' from transfers t
  where (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
      = (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
    and b.state in ('failed', 'missing') and t.request_id is distinct from b.request_id;

drop index returns_transaction;
create index returns_transaction on returns (partner_id, test_mode, chain_id, return_tx_hash);
drop index returns_due;
create index returns_due on returns (next_look_at)
  where state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null;
