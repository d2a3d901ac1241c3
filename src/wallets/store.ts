import type { Database, Scope, Tx } from '../db/connection.ts';
import { shownName } from '../db/shown-name.ts';
import type { Fragment } from '../db/sql.ts';
import { moveWallet } from '../merchants/onboarding-state.ts';

export type ChangeState = 'started' | 'signed' | 'applied' | 'vetoed' | 'cancelled' | 'expired';

/** A change of a merchant's wallet. */
export type WalletChange = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  kind: 'change' | 'recovery';
  state: ChangeState;
  old_wallet: string;
  new_wallet: string | null;
  link_until: Date | null;
  due_at: Date | null;
};

/** A merchant whose wallet will change, locked until the transaction ends. */
export type WalletOwner = { wallet_address: string | null; onboarded_at: Date | null };

export async function lockWalletOwner(tx: Tx, scope: Scope, accountId: string): Promise<WalletOwner | null> {
  const [row] = await tx<WalletOwner[]>`
    select wallet_address, onboarded_at from merchants where partner_id = ${scope.partnerId}
      and test_mode = ${scope.testMode} and id = ${accountId} for no key update`;
  return row ?? null;
}

export async function selectChange(tx: Tx, scope: Scope, id: string): Promise<WalletChange | null> {
  const [row] = await tx<WalletChange[]>`
    select * from wallet_changes
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id}`;
  return row ?? null;
}

/** The merchant's recovery in progress. */
export async function selectOpenChange(tx: Tx, scope: Scope, accountId: string): Promise<WalletChange | null> {
  const [row] = await tx<WalletChange[]>`
    select * from wallet_changes where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
      and account_id = ${accountId} and state in ('started', 'signed')`;
  return row ?? null;
}

export async function insertRecovery(
  tx: Tx,
  scope: Scope,
  recovery: { id: string; accountId: string; oldWallet: string; now: Date; linkUntil: Date },
): Promise<void> {
  await tx`
    insert into wallet_changes (partner_id, test_mode, id, account_id, kind, state, old_wallet, started_at, link_until)
    values (${scope.partnerId}, ${scope.testMode}, ${recovery.id}, ${recovery.accountId}, 'recovery', 'started',
      ${recovery.oldWallet}, ${recovery.now}, ${recovery.linkUntil})`;
}

export type NewWallet = { address: string; chainIds: number[] | null };

/** Records that the new wallet of a recovery has signed; false if its link is no longer valid. */
export async function updateSigned(
  tx: Tx,
  scope: Scope,
  id: string,
  wallet: NewWallet,
  times: { now: Date; dueAt: Date },
): Promise<boolean> {
  const { count } = await tx`
    update wallet_changes set state = 'signed', new_wallet = ${wallet.address}, new_chain_ids = ${wallet.chainIds},
      signed_at = ${times.now}, due_at = ${times.dueAt}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${id} and state = 'started'
      and link_until > ${times.now}`;
  return count === 1;
}

/**
 * Ends a recovery in progress, and frees the wallet that it claimed; null if it had already ended. It expires only
 * while no wallet has signed: one may have signed in time, after the loop had looked.
 */
export async function updateStopped(
  tx: Tx,
  scope: Scope,
  id: string,
  state: 'vetoed' | 'cancelled' | 'expired',
  now: Date,
): Promise<WalletChange | null> {
  const { partnerId, testMode } = scope;
  const from: ChangeState[] = state === 'expired' ? ['started'] : ['started', 'signed'];
  const [stopped] = await tx<WalletChange[]>`
    update wallet_changes set state = ${state}, ended_at = ${now} where partner_id = ${partnerId}
      and test_mode = ${testMode} and id = ${id} and state = any(${from}) returning *`;
  if (!stopped) return null;
  if (stopped.new_wallet !== null) {
    // The merchant keeps a wallet that it had before, and the one that it has now.
    await tx`
      delete from wallets w where partner_id = ${partnerId} and test_mode = ${testMode}
        and account_id = ${stopped.account_id} and address = ${stopped.new_wallet}
        and not exists (select from merchants m where m.partner_id = ${partnerId} and m.test_mode = ${testMode}
          and m.id = w.account_id and m.wallet_address = w.address)
        and not exists (select from wallet_changes c where c.partner_id = ${partnerId} and c.test_mode = ${testMode}
          and c.account_id = w.account_id and c.state = 'applied' and w.address in (c.old_wallet, c.new_wallet))`;
  }
  return stopped;
}

/** Changes a merchant's wallet after both wallets have signed. */
export async function updateWallet(
  tx: Tx,
  scope: Scope,
  change: { id: string; accountId: string; wallet: NewWallet; now: Date },
): Promise<void> {
  const { partnerId, testMode } = scope;
  const { accountId, wallet, now } = change;
  await tx`
    insert into wallet_changes (partner_id, test_mode, id, account_id, kind, state, old_wallet, old_chain_ids, new_wallet,
      new_chain_ids, started_at, signed_at, ended_at)
    select partner_id, test_mode, ${change.id}, id, 'change', 'applied', wallet_address, wallet_chain_ids,
      ${wallet.address}, ${wallet.chainIds}, ${now}, ${now}, ${now}
    from merchants where partner_id = ${partnerId} and test_mode = ${testMode} and id = ${accountId}`;
  await moveWallet(tx, scope, accountId, { ...wallet, signedAt: now });
}

/** Applies a due recovery, in one guarded statement; null if it was stopped, or is not due. */
export async function updateRecovered(tx: Tx, scope: Scope, id: string, now: Date): Promise<WalletChange | null> {
  const [applied] = await tx<(WalletChange & { new_chain_ids: number[] | null; signed_at: Date | null })[]>`
    update wallet_changes c set state = 'applied', ended_at = ${now}, old_chain_ids = m.wallet_chain_ids
    from merchants m where c.partner_id = ${scope.partnerId} and c.test_mode = ${scope.testMode} and c.id = ${id}
      and c.state = 'signed' and c.due_at <= ${now}
      and (m.partner_id, m.test_mode, m.id) = (c.partner_id, c.test_mode, c.account_id)
    returning c.*`;
  if (!applied) return null;
  const { account_id: accountId, new_wallet: address, new_chain_ids: chainIds, signed_at: signedAt } = applied;
  await moveWallet(tx, scope, accountId, { address, chainIds, signedAt });
  return applied;
}

/** A recovery that is due: if the new wallet has signed, the wallet changes; otherwise its link has expired. */
export type DueChange = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  state: 'started' | 'signed';
  settle_failures: number;
};

/**
 * The loop's lookup over all partners: due recoveries, longest due first. Alternates between partners, and gives half
 * the places to either kind. So one partner's many expiring links, or many changes, do not delay those of another.
 */
export async function selectDueChanges({ sql }: Database, now: Date, limit: number): Promise<DueChange[]> {
  const each = Math.ceil(limit / 2);
  const columns = sql`partner_id, test_mode, id, account_id, state, settle_failures`;
  const isTurn = sql`(settle_after is null or settle_after <= ${now})`;
  const inTurns = (ofState: Fragment, at: Fragment) => sql<DueChange[]>`
    select ${columns} from (
      select ${columns}, ${at} as at, row_number() over (partition by partner_id order by ${at}) as turn
      from wallet_changes where ${ofState} and ${at} <= ${now} and ${isTurn}) due
    order by turn, at limit ${each}`;
  const kinds = await Promise.all([
    inTurns(sql`state = 'signed'`, sql`due_at`),
    inTurns(sql`state = 'started'`, sql`link_until`),
  ]);
  return kinds.flat();
}

/** Postpones a recovery that could not be settled. */
export async function updatePostponed(db: Database, due: DueChange, until: Date): Promise<void> {
  await db.sql`
    update wallet_changes set settle_failures = settle_failures + 1, settle_after = ${until}
    where partner_id = ${due.partner_id} and test_mode = ${due.test_mode} and id = ${due.id}`;
}

/** Recoveries in progress, of all partners, that have failed at least this often. */
export function selectStuckChanges(db: Database, failures: number, limit: number) {
  return db.sql<{ account_id: string }[]>`
    select account_id from wallet_changes where state in ('started', 'signed') and settle_failures >= ${failures}
    order by settle_after desc limit ${limit}`;
}

/**
 * The parties that are notified of a change: names, mailboxes and languages, null if unknown; and the branding of the
 * partner's mails.
 */
export type NoticeRecipients = {
  merchant_name: string | null;
  merchant_email: string | null;
  merchant_language: string | null;
  partner_name: string;
  partner_email: string | null;
  partner_language: string | null;
  slug: string;
  accent: string | null;
  logo_hash: string | null;
};

export async function selectNoticeRecipients(
  tx: Tx,
  scope: Scope,
  accountId: string,
): Promise<NoticeRecipients | null> {
  const [row] = await tx<NoticeRecipients[]>`
    select ${shownName(tx)} as merchant_name, m.email as merchant_email,
      m.language as merchant_language, p.name as partner_name, p.email as partner_email, p.slug, p.accent, p.logo_hash, (
        select u.language from users u where u.partner_id = p.id and u.email = lower(p.email)) as partner_language
    from merchants m join partners p on p.id = m.partner_id
    where m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode} and m.id = ${accountId}`;
  return row ?? null;
}
