-- What a receiver answered, whole: its headers too. Attempts from before have none.
alter table webhook_attempts add column response_headers json;
