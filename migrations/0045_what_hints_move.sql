-- What a transaction would move to the request's wallet, in micro units; null where only its being mined can tell. And when
-- the first hint of its request was heard of: anybody can send transactions that look like a payment, one after the other.
alter table payment_hints
  add column value numeric(78,0),
  add column heard_at timestamptz not null default now();
update payment_hints set heard_at = first_seen_at;
