-- How a partner's pages look: an accent colour, and a logo that is small enough to live in its row.
alter table partners
  add column accent text check (accent ~ '^#[0-9a-f]{6}$'),
  add column logo bytea check (octet_length(logo) between 1 and 65536),
  add column logo_type text check (logo_type in ('image/png', 'image/jpeg', 'image/webp')),
  add column logo_hash text check (logo_hash ~ '^[0-9a-f]{16}$'), -- stands in the logo's address: a new logo, a new address
  add constraint partners_logo_whole check (num_nulls(logo, logo_type, logo_hash) in (0, 3));
