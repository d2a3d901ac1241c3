-- A partner's list of plans, over all its merchants and by state.
create index plans_of_partner on plans (partner_id, test_mode, created_at, id);
create index plans_of_partner_states on plans (partner_id, test_mode, state, created_at, id);
