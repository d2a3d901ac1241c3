-- Without a transaction.

-- Pages read the largest transfers that name a request and do not count. Anybody can send any number of tiny ones, so the
-- largest must not be found by sorting all.
drop index concurrently if exists transfers_candidate_largest;
create index concurrently transfers_candidate_largest on transfers
  (partner_id, test_mode, candidate_request_id, ((reason = 'wrong_token') is true), value desc, block_time desc)
  where request_id is null and candidate_request_id is not null and judged_at is not null;
