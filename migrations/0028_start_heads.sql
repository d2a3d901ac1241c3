-- The block that a request knows as the newest before it counts only while it is on its chain.

-- `requests.start_blocks` has {"<chain id>": number, "heads": {"<chain id>": {"hash", "time"}}} from here on; without a
-- hash, the time of a transfer's block decides.
grant select on chain_blocks to quittance_app;
