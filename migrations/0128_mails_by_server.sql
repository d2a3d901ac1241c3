-- Without a transaction.
-- Finds a sender's waiting mails to other mail servers than the busy ones, and those of other keys than the missing ones,
-- without reading past the mails that cannot be sent now.
drop index concurrently if exists mails_server;
create index concurrently mails_server on mails
  (urgent, (coalesce(for_partner_id, partner_id, '00000000-0000-0000-0000-000000000000')),
    (lower(split_part(recipient, '@', -1))),
    (coalesce(encode(substring(sealed from 2 for get_byte(substring(sealed from 1 for 1), 0)), 'escape'), '')),
    next_attempt_at)
  where sent_at is null and next_attempt_at < 'infinity';
