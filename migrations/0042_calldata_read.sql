-- False where nobody told what the transaction carries: the transfer was matched without it, and is confirmed without it.
alter table transfers add column calldata_read boolean not null default true;
