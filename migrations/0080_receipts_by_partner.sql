-- Without a transaction.
-- Partners take turns at receipts: each partner's next is found without reading what waits of another.
drop index concurrently if exists receipts_turn;
create index concurrently receipts_turn on receipts (channel, partner_id, next_attempt_at)
  where done_at is null and next_attempt_at < 'infinity';
