-- Without a transaction.
-- The plan whose customer a mail to its merchant names, so that the mail can be deleted with that customer's data. Null for
-- mails of before, which are deleted within a month.
alter table mails add column if not exists about_plan_id uuid;
drop index concurrently if exists mails_about_plan;
create index concurrently mails_about_plan on mails (about_plan_id) where about_plan_id is not null;
