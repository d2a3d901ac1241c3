-- Mails are kept for a while only: they hold links, codes and addresses.
create index mails_sent on mails (sent_at) where sent_at is not null;
