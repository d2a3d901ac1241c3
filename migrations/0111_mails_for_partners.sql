-- Without a transaction.
-- The partner for whose sake a mail is sent that is about no request or plan of a customer: a code for a merchant, an
-- invitation, a notice. Such mails take turns at the mail server with those of this partner; mails of ours have none. Until
-- the older nodes are replaced, theirs are queued as ours, and their claims use the index `mails_turn`.
alter table mails add column if not exists for_partner_id uuid;
alter policy queue on mails with check (partner_id is null
  and (for_partner_id is null or for_partner_id = scope_partner()));
drop index concurrently if exists mails_sender;
create index concurrently mails_sender on mails
  (urgent, (coalesce(partner_id, for_partner_id, '00000000-0000-0000-0000-000000000000')), next_attempt_at)
  where sent_at is null and next_attempt_at < 'infinity';
