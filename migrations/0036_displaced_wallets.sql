-- Who only claimed a wallet loses it to who signs for it: kept for the merchant's partner to see, until the merchant has
-- another one.
alter table merchants
  add column displaced_wallet text,
  add column displaced_at timestamptz,
  add constraint merchants_displaced_check check ((displaced_wallet is null) = (displaced_at is null));

-- Frees a wallet that was claimed and never signed for, whoever claimed it. Where it is freed for somebody who signs, claims
-- of the signer's own partner and mode are spared, and the merchant that loses it is told.
create function free_unsigned_wallet(
  wallet text, claimed_before timestamptz, spared_partner uuid, spared_test boolean,
  out partner_id uuid, out test_mode boolean, out account_id uuid, out address text
) returns setof record
  security definer set search_path = public, pg_temp language plpgsql as $$
declare
  claim wallets;
  displaced constant boolean := spared_partner is not null;
begin
  select * into claim from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at < coalesce(claimed_before, 'infinity')
      and (w.partner_id, w.test_mode) is distinct from (spared_partner, spared_test);
  if not found then return; end if;
  -- The merchant first, then its wallet: in the order of the merchant's own signature.
  perform from merchants m
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id) for no key update;
  delete from wallets w
    where w.address = wallet and w.signed_at is null and w.claimed_at = claim.claimed_at and w.account_id = claim.account_id;
  if not found then return; end if;
  update merchants m set wallet_address = null,
      displaced_wallet = case when displaced then wallet end,
      displaced_at = case when displaced then real_time() end
    where (m.partner_id, m.test_mode, m.id) = (claim.partner_id, claim.test_mode, claim.account_id)
      and m.wallet_address = wallet and m.wallet_signed_at is null;
  partner_id := claim.partner_id;
  test_mode := claim.test_mode;
  account_id := claim.account_id;
  address := wallet;
  return next;
end $$;
