-- Alarms are told by their kind, what they concern and what is kept of them; words are for whoever shows them.
alter table alarms add column kind text, add column subject text, add column details jsonb;

create function pg_temp.said(message text) returns text language sql as
  $$ select trim(substring(message from ': (.*)$')) $$;

-- What earlier versions have told in a name and a sentence. A name that is of no known kind keeps its sentence.
update alarms set
  kind = case
    when name in ('mail_transport', 'mail_failing', 'phone_gateway', 'receipts_missing', 'recoveries_stuck', 'plans_failing',
      'order_ahead') then name
    when name ~ '^chain-\d+-(unconfirmed|unread|deep-reorg|final-reorged)(:0x[0-9a-f]+)?$'
      then regexp_replace(name, '^chain-\d+-([a-z-]+).*$', 'chain-\1')
    when name ~ '^(verified-reorged|returned-bound)-[0-9a-f-]{36}$' then left(name, -37)
    when name ~ '^returned-twice:.' then 'returned-twice'
    when name ~ '^webhook_disabled:[0-9a-f-]{36}:(test|live)$' then 'webhook_disabled'
    else 'other' end;
update alarms set
  subject = case
    when kind like 'chain-%' then regexp_replace(name, '^chain-(\d+)-[a-z-]+', '\1')
    when kind in ('verified-reorged', 'returned-bound') then right(name, 36)
    when kind = 'returned-twice' or kind = 'webhook_disabled' then split_part(name, ':', 2)
      || case when kind = 'webhook_disabled' then ':' || split_part(name, ':', 3) else '' end
    when kind = 'other' then name
    else '' end;
update alarms set
  details = case
    when kind = 'mail_transport' then jsonb_build_object('waiting', coalesce(substring(message from '^\d+')::int, 1))
    when kind in ('mail_failing', 'receipts_missing') then jsonb_build_object('fault', pg_temp.said(message))
    when kind = 'phone_gateway' then jsonb_build_object('fault', rtrim(pg_temp.said(message), '.'))
    when kind = 'recoveries_stuck' then jsonb_build_object(
      'accountIds', (select jsonb_agg(id[1]) from regexp_matches(message, '[0-9a-f]{8}-[0-9a-f-]{27}', 'g') id),
      'count', coalesce(substring(message from '^\d+')::int, 1))
    when kind = 'plans_failing' then jsonb_build_object('count', substring(message from '\d+$')::int)
    when kind = 'order_ahead' then jsonb_build_object(
      'scopes', (
        select jsonb_agg(jsonb_build_object('slug', one[1], 'mode', one[2], 'until', one[3]))
        from regexp_matches(message, '([^ ]+) \((test|live)\) until ([^ ,]+)', 'g') one),
      'more', message like '% …')
    when kind = 'chain-unconfirmed' then jsonb_build_object(
      'chain', coalesce(substring(message from '^Payments on (.*) wait to be verified'), split_part(subject, ':', 1)),
      'since', rtrim(substring(message from 'since ([^ ]+)$'), '.'))
    when kind = 'chain-unread' then jsonb_build_object(
      'chain', coalesce(substring(message from '^Transactions on (.*) cannot be read'), split_part(subject, ':', 1)),
      'transactions', to_jsonb(string_to_array(substring(message from 'may be missing: (.*)$'), ', ')))
    when kind = 'chain-final-reorged' then
      jsonb_build_object('transactions', to_jsonb(string_to_array(pg_temp.said(message), ', ')))
    when kind = 'chain-deep-reorg' then
      jsonb_build_object('blocks', substring(message from 'more than (\d+) blocks')::int)
    when kind in ('verified-reorged', 'returned-bound') then jsonb_build_object('requestId', subject)
    when kind = 'returned-twice' then jsonb_build_object('payment', subject)
    when kind = 'webhook_disabled' then jsonb_build_object(
      'partnerId', split_part(subject, ':', 1), 'mode', split_part(subject, ':', 2),
      'why', case when message ~ ' 410\.$' then 'gone' else 'dead' end)
    else jsonb_build_object('message', message) end;
update alarms set details = details || jsonb_build_object('chainId', split_part(subject, ':', 1)::bigint)
where kind like 'chain-%';
-- A sentence that was not as it is known.
update alarms set kind = 'other', subject = name, details = jsonb_build_object('message', message)
where jsonb_path_exists(details, '$.* ? (@ == null)');

alter table alarms drop constraint alarms_pkey, drop column name, drop column message,
  alter column kind set not null, alter column subject set not null, alter column details set not null,
  add primary key (kind, subject);
drop function pg_temp.said(text);
