-- Without a transaction.
-- A partner's list of plans, over all its merchants and by state. An index whose building failed is left invalid.
drop index concurrently if exists plans_of_partner;
create index concurrently plans_of_partner on plans (partner_id, test_mode, created_at, id);
drop index concurrently if exists plans_of_partner_states;
create index concurrently plans_of_partner_states on plans (partner_id, test_mode, state, created_at, id);
