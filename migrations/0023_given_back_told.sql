-- Giving back an unmatched payment is told to the page of the request that it seems meant for, too.
create or replace function tell_return() returns trigger language plpgsql as $$
declare
  told uuid := coalesce(new.request_id, (select t.candidate_request_id from transfers t
    where (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
      = (new.partner_id, new.test_mode, new.chain_id, new.tx_hash, new.ordinal)));
begin
  perform pg_notify('changes', format('merchant %s %s %s', new.account_id, new.partner_id, new.test_mode));
  if told is not null then
    perform pg_notify('changes', format('request %s %s %s %s', told, new.account_id, new.partner_id, new.test_mode));
  end if;
  return null;
end $$;
