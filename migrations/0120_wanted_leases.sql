-- Since when processes have wanted a lease: a chain can be paid from then on, also before its first block is read.
alter table leases add column wanted_at timestamptz not null default now();
