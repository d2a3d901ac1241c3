-- The host of the endpoint that reports a transaction which no other has confirmed yet. One endpoint can make up any number of
-- them, so those of each are counted. Null where a merchant or a customer named the transaction, or this service did.
alter table unread_transactions add column told_by text;
