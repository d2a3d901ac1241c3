-- When a running node last had the key in front: `secrets forget` refuses to give up such a key.
alter table secret_key_marks add column in_front_at timestamptz;
