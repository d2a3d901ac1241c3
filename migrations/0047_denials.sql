-- How often in a row all endpoints of its chain have denied a transfer alike, and since when. Looks count doubts of any kind.
alter table transfers
  add column denials int not null default 0,
  add column denied_at timestamptz;
