-- Without a transaction.
-- Nothing looks for values of metadata here any more: written at every create, it cost more than all other indexes.
drop index concurrently if exists requests_metadata;
