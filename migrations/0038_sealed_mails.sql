-- What a mail says is kept sealed until it was sent, and not at all from then on. Only the sandbox keeps it readable.
alter table mails
  alter column body drop not null,
  add column sealed bytea;
update mails set body = null, body_html = null, unsubscribe_url = null where sent_at is not null;
create index mails_readable on mails (created_at) where body is not null;
