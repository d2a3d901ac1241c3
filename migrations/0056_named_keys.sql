-- API keys have a name, who created them, and an optional end. A form that creates a secret does so once: sent again, by
-- reloading its page, it is recognised.
alter table api_keys
  add column name text check (name <> '' and char_length(name) <= 60),
  add column created_by text, -- a user's e-mail address, or null where no user did
  add column ends_at timestamptz,
  add column form_key text;
create unique index api_keys_form on api_keys (partner_id, test_mode, form_key) where form_key is not null;
alter table webhook_endpoints add column secret_form text; -- the form that created its latest secret
