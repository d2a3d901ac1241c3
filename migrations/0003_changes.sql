-- Tells listening processes what changed, so that open pages need not ask again and again. Creates tell nothing: they must
-- not wait for each other at commit, and nobody looks at a request that does not exist yet.

create function tell_request() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('request %s %s %s %s', new.id, new.account_id, new.partner_id, new.test_mode));
  return null;
end $$;
create trigger requests_tell after update on requests for each row
  when ((old.status, old.proof_status, old.proof_note) is distinct from (new.status, new.proof_status, new.proof_note))
  execute function tell_request();

-- A transfer tells of each request it stood or stands for.
create function tell_transfer() returns trigger language plpgsql as $$
declare
  told uuid;
  at transfers := coalesce(new, old);
begin
  foreach told in array array[new.request_id, new.candidate_request_id, old.request_id, old.candidate_request_id] loop
    if told is not null then
      perform pg_notify('changes', format('request %s %s %s %s', told, at.account_id, at.partner_id, at.test_mode));
    end if;
  end loop;
  return null;
end $$;
create trigger transfers_tell after insert or update or delete on transfers for each row execute function tell_transfer();

-- How far a chain was read moves the confirmations of whatever is paid on it.
create function tell_chain() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', format('chain %s', new.chain_id));
  return null;
end $$;
create trigger chain_cursors_tell after update on chain_cursors for each row
  when (old.number is distinct from new.number) execute function tell_chain();
