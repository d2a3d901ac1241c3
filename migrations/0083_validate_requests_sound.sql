-- Reads all requests once, without holding up creates.
alter table requests validate constraint requests_sound;
