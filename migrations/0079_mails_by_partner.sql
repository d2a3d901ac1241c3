-- Without a transaction.
-- Partners take turns at the mail server; mails of ours, about no partner's request, take turns as one partner would.
drop index concurrently if exists mails_turn;
create index concurrently mails_turn on mails
  (urgent, (coalesce(partner_id, '00000000-0000-0000-0000-000000000000')), next_attempt_at)
  where sent_at is null and next_attempt_at < 'infinity';
