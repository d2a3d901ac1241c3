-- The newest block that a provider told of a chain, and when it was asked; reading on from there makes it no fresher.
alter table chain_cursors
  add head_hash text,
  add head_time timestamptz,
  add head_seen_at timestamptz;
