-- Customers who stop the mails of a plan, charges that go round the partners, and plans that wait for an operator.

alter table plans add column mails_stopped_at timestamptz; -- by the customer; null: each new request is mailed

-- For the loop: what is due of each partner in each mode, the longest first.
drop index plans_due;
create index plans_due on plans (partner_id, test_mode, due_at) where due_at is not null;
-- For operators: charges that fail for what no merchant and no partner did, by since when.
create index plans_stuck on plans (failed_at) where failure in ('rate_unavailable', 'other');

drop trigger plans_tell on plans;
create trigger plans_tell after update on plans for each row
  when ((old.state, old.failure, old.failures, old.name, old.mails_stopped_at) is distinct from
    (new.state, new.failure, new.failures, new.name, new.mails_stopped_at))
  execute function tell_plan();

-- Where a POST stops mails of this kind (RFC 8058); null for mails that somebody asked for.
alter table mails add column unsubscribe_url text;
