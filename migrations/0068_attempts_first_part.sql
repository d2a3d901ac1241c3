-- Without a transaction.
-- All attempts until now become the first part of the table that the next migration divides by time. What takes long is done
-- before: the key that such a table must have, and the proof that no row belongs to a later part.
drop index concurrently if exists webhook_attempts_first_pkey;
create unique index concurrently webhook_attempts_first_pkey on webhook_attempts (partner_id, test_mode, delivery_id, id, started_at);
alter table webhook_attempts drop constraint if exists webhook_attempts_first_until;
-- At least ten days from now, so that what nodes write meanwhile is in it.
do $$ begin execute format('alter table webhook_attempts add constraint webhook_attempts_first_until check (started_at < %L) not valid', date_trunc('month', now() at time zone 'UTC' + interval '41 days') at time zone 'UTC'); end $$;
alter table webhook_attempts validate constraint webhook_attempts_first_until;
