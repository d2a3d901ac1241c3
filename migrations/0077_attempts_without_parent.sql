-- The foreign key of an attempt was a tenth of what a delivery cost the database: a look-up and a lock of the delivery, whose row
-- the same statement changes. Attempts are written for deliveries that their writer has claimed, by the key that the claim
-- returned, and no delivery is ever removed.
alter table webhook_attempts drop constraint if exists webhook_attempts_delivery;
