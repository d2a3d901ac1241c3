-- Mails that somebody waits for, receipts that come later, and the languages in which people are written to.

-- Somebody waits for this one: a link to sign in with, an invitation, a code. These have places of their own when mails
-- are sent.
alter table mails add column urgent boolean not null default false;
drop index mails_due;
create index mails_due on mails (urgent, next_attempt_at) where sent_at is null;

-- Up to where verified requests were looked at for receipts that could not be written down when they were verified.
create table receipt_sweep (
  sole boolean primary key default true check (sole),
  verified_at timestamptz not null, -- of the last request that was looked at
  request_id uuid not null
);
insert into receipt_sweep (verified_at, request_id) values (now(), '00000000-0000-0000-0000-000000000000');
create index requests_receipted on requests (proof_verified_at, id)
  where proof_status = 'verified' and (customer_email is not null or customer_phone is not null);

-- In which people are written to: the language a merchant onboarded in, and the one in which a user last signed in.
alter table merchants add column language text;
alter table users add column language text;
