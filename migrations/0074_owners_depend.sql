-- A merchant belongs to one partner. Plans made for any merchant multiplied the shares of both, took every index that
-- begins with them for exact, and read all rows of the merchant to find one by its key.
create statistics plans_owners (dependencies) on partner_id, test_mode, account_id from plans;
create statistics transfers_owners (dependencies) on partner_id, test_mode, account_id from transfers;
create statistics mandates_owners (dependencies) on partner_id, test_mode, account_id from mandates;
create statistics sessions_owners (dependencies) on partner_id, test_mode, account_id from sessions;
analyze plans, transfers, mandates, sessions;
