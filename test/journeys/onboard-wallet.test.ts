import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Command } from '../../src/cli/command.ts';
import { recoveryCommands } from '../../src/cli/recovery.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import type { MerchantRefusal } from '../../src/merchants/refusal.ts';
import { setPartnerEmail } from '../../src/partners/contact.ts';
import { changeWallet } from '../../src/wallets/change.ts';
import {
  cancelRecovery,
  openRecovery,
  type Recovery,
  readOpenRecovery,
  recoveryMessage,
  signRecovery,
  startRecovery,
  vetoRecovery,
} from '../../src/wallets/recovery.ts';
import { settleRecoveries } from '../../src/wallets/settle-recoveries.ts';
import { updateRecovered } from '../../src/wallets/store.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { startApp } from '../support/app.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import type { Visit } from '../support/people/forms.ts';
import {
  makeOnboarded,
  messageOn,
  newAccount,
  type Onboarded,
  signInMerchant,
  signOn,
} from '../support/people/merchants.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

const hour = 3_600_000;
/** Found on every page of a signed-in merchant. */
const signedIn = /action="\/dashboard\/sign-out"/;
let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;
const partnerEmail = 'owner@corner.example';

before(async () => {
  app = await startApp({ clock });
  fixtures = await makePartner(app.db);
  await setPartnerEmail(app.ctx, theService, fixtures.partner.slug, partnerEmail);
});
after(() => app.stop());

const newEmail = () => `ada-${randomBytes(5).toString('hex')}@example.com`;
const walletOf = async (id: string) => (await readMerchant(app.ctx, fixtures.test, id))?.wallet_address;

/** The subjects of the mails to one mailbox about one merchant, oldest first. */
async function subjectsTo(recipient: string, id: string): Promise<string[]> {
  const rows = await app.db.sql`
    select subject from mails where recipient = ${recipient} and body like ${`%${id}%`} order by created_at`;
  return rows.map(({ subject }) => subject.replace('Ada’s Bakery: ', ''));
}

/** The partner's audit entries about a merchant, except its sign-ins, oldest first. */
async function actsOn(id: string): Promise<{ action: string; by: string }[]> {
  const rows = await app.db.sql<{ action: string; by: string }[]>`
    select action, actor_name as by from audit_log
    where partner_id = ${fixtures.partner.id} and test_mode and object_kind = 'merchant' and object_id = ${id}
      and action <> 'session.started'
    order by number`;
  return rows.map(({ action, by }) => ({ action, by }));
}

/** Whether somebody else can onboard with a wallet now. */
async function canClaim(account: ReturnType<typeof newAccount>): Promise<boolean> {
  const merchant = await createShell(app.ctx, theService, fixtures.live, { display_currency: 'EUR' });
  const visitor = startVisitor(app.url);
  const wallet = await visitor.send(
    await visitor.open(onboardingUrl(app.ctx.config, merchant, clock.now())),
    '/details',
  );
  const page = await visitor.send(wallet, '/wallet', { wallet_address: account.address });
  const done = await signOn(visitor, page, account, { accept_terms: '1' });
  assert.ok([200, 409].includes(done.status));
  return done.status === 200;
}

/** Opens, from the dashboard, the page on which the new wallet signs. */
async function toTakeOver(visitor: Visitor, merchant: Onboarded, next: { address: string }): Promise<Visit> {
  const start = await visitor.open('/dashboard/wallet');
  const first = await visitor.send(start, '/hand-over', { wallet_address: next.address });
  return signOn(visitor, first, merchant.account);
}

test('The signatures of both wallets change the wallet at once; open requests keep the old one, and all are mailed', async () => {
  const email = newEmail();
  const merchant = await makeOnboarded(app.ctx, fixtures.test, { email });
  const open = await makeRequest(app.db, fixtures.test, { id: merchant.id, wallet: merchant.wallet });
  const next = newAccount();
  const { visitor } = await signInMerchant(app.url, merchant.account);
  const elsewhere = await signInMerchant(app.url, merchant.account);

  const start = await visitor.open('/dashboard/wallet');
  const first = await visitor.send(start, '/hand-over', { wallet_address: next.address });
  assert.match(
    messageOn(first),
    new RegExp(`hand over .* merchant ${merchant.id} .* to ${next.address.toLowerCase()}`),
  );
  const second = await signOn(visitor, first, merchant.account);
  const unused = await visitor.send(start, '/hand-over', { wallet_address: newAccount().address });
  assert.match(messageOn(second), new RegExp(`at this wallet, in place of ${merchant.wallet}`));
  assert.equal(await walletOf(merchant.id), merchant.wallet, 'one signature changes nothing');
  const done = await signOn(visitor, second, next);
  assert.match(done.html, /Your wallet was changed/);
  assert.equal(await walletOf(merchant.id), next.address.toLowerCase());

  const [request] = await app.db.sql`select wallet_address from requests where id = ${open.id}`;
  assert.equal(request?.wallet_address, merchant.wallet);
  assert.equal(await canClaim(merchant.account), false, 'open requests are still paid to the earlier wallet');
  assert.match((await visitor.open('/dashboard')).html, signedIn, 'this browser stays signed in');
  assert.match((await elsewhere.visitor.open('/dashboard')).html, /Sign in to your dashboard/, 'others do not');
  assert.match((await signInMerchant(app.url, merchant.account)).dashboard.html, /No merchant uses this wallet/);
  assert.match((await signInMerchant(app.url, next)).dashboard.html, signedIn);
  for (const mailbox of [email, partnerEmail]) {
    assert.deepEqual(await subjectsTo(mailbox, merchant.id), ['your wallet was changed']);
  }
  assert.deepEqual((await actsOn(merchant.id)).slice(2), [{ action: 'wallet.changed', by: merchant.wallet }]);

  const late = await signOn(visitor, unused, merchant.account);
  assert.equal(late.status, 400, 'the earlier wallet hands nothing over any more');
  assert.doesNotMatch(late.html, /2 of 2/);
  const back = await toTakeOver(visitor, { ...merchant, account: next }, merchant.account);
  assert.match((await signOn(visitor, back, merchant.account)).html, /Your wallet was changed/, 'and back again');
  assert.match(
    (await elsewhere.visitor.open('/dashboard')).html,
    /Sign in to your dashboard/,
    'a session from before the change stays over',
  );
  assert.notEqual((await signOn(visitor, second, next)).status, 200, 'the first two signatures count once');
  assert.equal(await walletOf(merchant.id), merchant.wallet);
});

test('Neither signature alone, nor one for another wallet, changes anything', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const other = await makeOnboarded(app.ctx, fixtures.test);
  const [next, third] = [newAccount(), newAccount()];
  const { visitor } = await signInMerchant(app.url, merchant.account);
  const start = await visitor.open('/dashboard/wallet');
  const first = await visitor.send(start, '/hand-over', { wallet_address: next.address });

  const early = await signOn(visitor, first, next);
  assert.equal(early.status, 403, 'the present wallet must sign first');
  assert.match(early.html, /The signature is not from this wallet/);
  const second = await signOn(visitor, first, merchant.account);
  const wrong = await signOn(visitor, second, merchant.account);
  assert.notEqual(wrong.status, 200, 'the new wallet must sign second');
  assert.match(wrong.html, /2 of 2: sign with the new wallet/);
  const swapped = await signOn(visitor, second, next, { wallet_address: third.address });
  assert.equal(swapped.status, 400, 'both name each other');
  const thirds = await toTakeOver(visitor, merchant, third);
  const form = second.forms.find(({ fields }) => fields.old_message);
  const mixed = await signOn(visitor, thirds, third, {
    old_message: form?.fields.old_message ?? '',
    old_signature: form?.fields.old_signature ?? '',
  });
  assert.equal(mixed.status, 400, 'the hand-over was to another wallet');

  const crossed = await signOn(visitor, second, third, {
    message: messageOn(thirds),
    signature: await third.signMessage({ message: messageOn(thirds) }),
  });
  assert.equal(crossed.status, 400, 'another wallet than the one named signs second');

  const foreign = (await signInMerchant(app.url, other.account)).visitor;
  const stolen = await foreign.send(second, '/apply', {
    signature: await next.signMessage({ message: messageOn(second) }),
  });
  assert.equal(stolen.status, 400, 'signed for another merchant');
  assert.equal(await walletOf(merchant.id), merchant.wallet);
  assert.equal(await walletOf(other.id), other.wallet);

  assert.equal((await signOn(visitor, second, next)).status, 200);
  const replayed = await signOn(visitor, second, next);
  assert.notEqual(replayed.status, 200, 'each message counts once');
});

test('A wallet hands over to two others at once → to the first; it has nothing left to hand over to the second', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const addresses = [newAccount(), newAccount()].map(({ address }) => address.toLowerCase());
  const ended = await Promise.allSettled(
    addresses.map((address) =>
      changeWallet(app.ctx, theService, fixtures.test, merchant.id, {
        oldWallet: merchant.wallet,
        newWallet: { address, chainIds: null },
        messages: [],
      }),
    ),
  );
  const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason.reason] : []));
  assert.deepEqual(refused, ['message_used']);
  const first = addresses[ended.findIndex(({ status }) => status === 'fulfilled')];
  assert.equal(await walletOf(merchant.id), first);
});

test('A change to no address, to the same wallet, or to one of another merchant is refused in plain words', async () => {
  const merchant = await makeOnboarded(app.ctx, fixtures.test);
  const other = await makeOnboarded(app.ctx, fixtures.live);
  const { visitor } = await signInMerchant(app.url, merchant.account);
  const start = await visitor.open('/dashboard/wallet');
  const refused = async (wallet_address: string) => visitor.send(start, '/hand-over', { wallet_address });
  assert.match((await refused('0x12')).html, /This is not a wallet address/);
  assert.match((await refused(merchant.account.address)).html, /This is already your wallet/);
  const taken = await signOn(visitor, await toTakeOver(visitor, merchant, other.account), other.account);
  assert.equal(taken.status, 409);
  assert.match(taken.html, /already belongs to another merchant/);
  assert.equal(await walletOf(merchant.id), merchant.wallet);
});

/** A recovery whose new wallet has signed, unless said otherwise. */
async function recovering(options: { sign?: boolean } = {}) {
  const email = newEmail();
  const merchant = await makeOnboarded(app.ctx, fixtures.test, { email });
  const next = newAccount();
  const { url } = await startRecovery(app.ctx, theService, fixtures.test, merchant.id);
  const visitor = startVisitor(app.url);
  const sign = async () => {
    const page = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: next.address });
    return signOn(visitor, page, next);
  };
  const signed = options.sign === false ? null : await sign();
  const [mail] = await app.db.sql`
    select body from mails where recipient = ${email} and body like '%/veto/%' order by created_at desc limit 1`;
  const vetoUrl = /\S+\/veto\/\S+/.exec(mail?.body ?? '')?.[0] ?? '';
  return { email, merchant, next, url, visitor, sign, signed, vetoUrl };
}

const after48Hours = async <T>(work: () => Promise<T>, ms = 48 * hour + 1000): Promise<T> => {
  offsetMs = ms;
  return work().finally(() => {
    offsetMs = 0;
  });
};

test('A recovery: the new wallet signs, 48 hours pass, the wallet is changed, and each step is mailed to all', async () => {
  const { email, merchant, next, signed, visitor, url } = await recovering();
  const open = await makeRequest(app.db, fixtures.test, { id: merchant.id, wallet: merchant.wallet });
  assert.match(signed?.html ?? '', /Your new wallet has signed/);
  assert.equal(await canClaim(next), false, 'nobody else takes the new wallet meanwhile');
  await after48Hours(() => settleRecoveries(app.ctx), 48 * hour - 60_000);
  assert.equal(await walletOf(merchant.id), merchant.wallet, 'not before 48 hours');
  const { visitor: thief } = await signInMerchant(app.url, merchant.account);

  await after48Hours(() => settleRecoveries(app.ctx));
  assert.equal(await walletOf(merchant.id), next.address.toLowerCase());
  await after48Hours(() => settleRecoveries(app.ctx));
  for (const mailbox of [email, partnerEmail]) {
    assert.deepEqual(await subjectsTo(mailbox, merchant.id), [
      'a wallet recovery was started',
      'payments move to another wallet in 48 hours',
      'your wallet was recovered',
    ]);
  }
  const signedFor = await app.db.sql`
    select urgent from mails where recipient = ${email} and subject ilike '%payments move to another wallet%'`;
  assert.deepEqual([...signedFor], [{ urgent: true }], 'the notice that begins the 48 hours waits for no receipts');
  assert.match((await visitor.open(url)).html, /Your payments go to the new wallet/);
  assert.match((await thief.open('/dashboard')).html, /Sign in to your dashboard/, 'the lost wallet is signed out');
  assert.match((await signInMerchant(app.url, next)).dashboard.html, signedIn);
  const [request] = await app.db.sql`select wallet_address from requests where id = ${open.id}`;
  assert.equal(request?.wallet_address, merchant.wallet);
  assert.deepEqual(await actsOn(merchant.id), [
    { action: 'merchant.created', by: 'the service' },
    { action: 'merchant.onboarded', by: merchant.wallet },
    { action: 'recovery.started', by: 'the service' },
    { action: 'recovery.signed', by: next.address.toLowerCase() },
    { action: 'wallet.changed', by: 'the service' },
  ]);
  const [change] = await app.db.sql`
    select details from audit_log where object_id = ${merchant.id} and action = 'wallet.changed'`;
  assert.deepEqual(JSON.parse(change?.details), { from: merchant.wallet, to: next.address.toLowerCase() });
});

test('The present wallet objects by signing on the page of the notice, without a session', async () => {
  const { email, merchant, next, vetoUrl, visitor, url } = await recovering();
  const owner = startVisitor(app.url);
  const page = await owner.open(vetoUrl);
  assert.equal((await signOn(owner, page, next)).status, 403, 'the new wallet cannot');
  const stopped = await signOn(owner, page, merchant.account);
  assert.match(stopped.html, /The recovery was stopped/);
  await after48Hours(() => settleRecoveries(app.ctx));
  assert.equal(await walletOf(merchant.id), merchant.wallet);
  assert.equal(await canClaim(next), true, 'the new wallet is free again');
  assert.equal((await subjectsTo(email, merchant.id)).at(-1), 'the wallet recovery was stopped');
  assert.match((await visitor.open(url)).html, /The recovery was stopped/);
  const again = await signOn(owner, page, merchant.account);
  assert.doesNotMatch(again.html, /went wrong|internal/i);
  assert.deepEqual(await actsOn(merchant.id), [
    { action: 'merchant.created', by: 'the service' },
    { action: 'merchant.onboarded', by: merchant.wallet },
    { action: 'recovery.started', by: 'the service' },
    { action: 'recovery.signed', by: next.address.toLowerCase() },
    { action: 'recovery.vetoed', by: merchant.wallet },
  ]);
});

test('A merchant signed in with the current wallet sees the recovery, and stops it with one button', async () => {
  for (const sign of [true, false]) {
    const { merchant, next, sign: signNow } = await recovering({ sign });
    const { visitor, dashboard } = await signInMerchant(app.url, merchant.account);
    assert.match(dashboard.html, sign ? /Your wallet is being recovered/ : /A recovery of your wallet was started/);
    const stopped = await visitor.send(dashboard, '/veto');
    assert.match(stopped.html, /The recovery was stopped/);
    assert.deepEqual((await actsOn(merchant.id)).at(-1), { action: 'recovery.vetoed', by: merchant.wallet });
    await after48Hours(() => settleRecoveries(app.ctx));
    assert.equal(await walletOf(merchant.id), merchant.wallet);
    if (!sign) await assert.rejects(signNow(), /no form/, 'the link takes no wallet any more');
    assert.equal(await canClaim(next), true);
  }
});

test('a recovery link used as a veto link, or the other way round, or forged → opens nothing', async () => {
  const { url, vetoUrl, visitor } = await recovering({ sign: false });
  const [token, veto] = [url, vetoUrl].map((link) => link.slice(link.lastIndexOf('/') + 1));
  for (const path of [`/veto/${token}`, `/recover/${veto}`, '/recover/x', `/recover/${token}A`]) {
    const page = await visitor.open(path);
    assert.equal(page.status, 404, path);
    assert.match(page.html, /This link is not valid/);
  }
});

test('A link that nobody signed on lives seven days; a cancelled recovery and an expired one free the wallet', async () => {
  const late = await recovering({ sign: false });
  const expired = await after48Hours(() => late.visitor.open(late.url), 7 * 24 * hour + 1000);
  assert.equal(expired.status, 410);
  assert.match(expired.html, /This recovery has expired/);
  assert.doesNotMatch(expired.html, /saved/);
  await after48Hours(() => settleRecoveries(app.ctx), 7 * 24 * hour + 1000);
  assert.equal((await subjectsTo(late.email, late.merchant.id)).at(-1), 'the wallet recovery was stopped');
  assert.deepEqual((await actsOn(late.merchant.id)).at(-1), { action: 'recovery.expired', by: 'the service' });
  assert.match((await late.visitor.open(late.vetoUrl)).html, /nothing was changed/);

  const { merchant, next, url, visitor } = await recovering();
  assert.equal(await cancelRecovery(app.ctx, theService, fixtures.test, merchant.id), true);
  assert.equal(await cancelRecovery(app.ctx, theService, fixtures.test, merchant.id), false);
  assert.equal(await cancelRecovery(app.ctx, theService, fixtures.live, merchant.id), false);
  assert.equal(await canClaim(next), true);
  assert.match((await visitor.open(url)).html, /Nothing to do here/);
});

test('A wallet signs just before its link expires, and the loop already ends the recovery → the recovery goes on', async () => {
  const { merchant } = await recovering({ sign: false });
  const next = newAccount();
  let settling = Promise.resolve(0);
  await app.db.transaction(async (tx) => {
    await tx`
      update wallet_changes set state = 'signed', new_wallet = ${next.address.toLowerCase()}, signed_at = now(),
        due_at = now() + interval '48 hours' where account_id = ${merchant.id}`;
    settling = after48Hours(() => settleRecoveries(app.ctx), 7 * 24 * hour + 1000);
    await until(async () => {
      const waiting = await app.db.sql`
        select from pg_locks w join pg_locks h using (transactionid)
          join pg_locks t on t.pid = w.pid and t.database = (select oid from pg_database where datname = current_database())
        where not w.granted and h.granted and t.relation = 'wallet_changes'::regclass`;
      return waiting.length > 0;
    }, 'the loop waits for the signature');
  });
  await settling;
  const [change] = await app.db.sql`select state from wallet_changes where account_id = ${merchant.id}`;
  assert.equal(change?.state, 'signed');
});

test('A recovery that ends frees no wallet that its merchant has, or had before', async () => {
  const moveTo = (merchant: Onboarded, address: string) =>
    changeWallet(app.ctx, theService, fixtures.test, merchant.id, {
      oldWallet: merchant.wallet,
      newWallet: { address: address.toLowerCase(), chainIds: null },
      messages: [],
    });
  const earlier = await makeOnboarded(app.ctx, fixtures.test);
  await moveTo(earlier, newAccount().address);
  const { url } = await startRecovery(app.ctx, theService, fixtures.test, earlier.id);
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: earlier.wallet });
  await signOn(visitor, page, earlier.account);
  assert.equal(await cancelRecovery(app.ctx, theService, fixtures.test, earlier.id), true);
  assert.equal(await canClaim(earlier.account), false, 'open requests are still paid to it');

  const { merchant, next } = await recovering();
  assert.equal(await moveTo(merchant, next.address), true, 'the recovery ends');
  assert.equal(await canClaim(next), false);
});

test('A recovery takes one signature, and none after its link has ended, however long its page was open', async () => {
  const open = async () => {
    const { url } = await recovering({ sign: false });
    return openRecovery(app.ctx, 'sign', url.slice(url.lastIndexOf('/') + 1), null);
  };
  const signOnce = async (recovery: Recovery) => {
    const account = newAccount();
    const message = recoveryMessage(app.ctx, recovery, { address: account.address, chainId: null, host: null });
    const signature = await account.signMessage({ message });
    await signRecovery(
      app.ctx,
      recovery,
      { message, signature, host: null },
      { ip: '192.0.2.7', userAgent: undefined },
    );
  };
  const isOver = (error: MerchantRefusal) => error.reason === 'change_over';
  const recovery = await open();
  await signOnce(recovery);
  await assert.rejects(signOnce(recovery), isOver);
  const late = await open();
  await assert.rejects(
    after48Hours(() => signOnce(late), 7 * 24 * hour + 1000),
    isOver,
  );
});

test('What a wallet signed for a recovery that was cancelled → counts for no later one of the same merchant', async () => {
  const { merchant, url } = await recovering({ sign: false });
  const opened = (link: string) => openRecovery(app.ctx, 'sign', link.slice(link.lastIndexOf('/') + 1), null);
  const client = { ip: '192.0.2.7', userAgent: undefined };
  const recovery = await opened(url);
  const account = newAccount();
  const message = recoveryMessage(app.ctx, recovery, { address: account.address, chainId: null, host: null });
  const signed = { message, signature: await account.signMessage({ message }), host: null };
  await signRecovery(app.ctx, recovery, signed, client);
  assert.equal(await cancelRecovery(app.ctx, theService, fixtures.test, merchant.id), true);
  const { url: next } = await startRecovery(app.ctx, theService, fixtures.test, merchant.id);
  await assert.rejects(signRecovery(app.ctx, await opened(next), signed, client), { reason: 'message_used' });
});

const untilOneWaits = () =>
  until(async () => {
    const waiting = await app.db.sql`
      select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    return waiting.length > 0;
  }, 'it waits for the other transaction');

test('A wallet signs for a recovery while its merchant is reset → it waits, the recovery is over, and the wallet is free', async () => {
  const { merchant, url } = await recovering({ sign: false });
  const recovery = await openRecovery(app.ctx, 'sign', url.slice(url.lastIndexOf('/') + 1), null);
  const account = newAccount();
  const message = recoveryMessage(app.ctx, recovery, { address: account.address, chainId: null, host: null });
  const signed = { message, signature: await account.signMessage({ message }), host: null };
  const { signing } = await app.owner.begin(async (tx) => {
    // What a reset locks and writes, in its order. It frees the wallets that it finds.
    await tx`select from merchants where id = ${merchant.id} for no key update`;
    const signing = signRecovery(app.ctx, recovery, signed, { ip: '192.0.2.7', userAgent: undefined });
    signing.catch(() => {}); // it is awaited below
    await untilOneWaits();
    await tx`delete from wallets where account_id = ${merchant.id}`;
    await tx`
      update wallet_changes set state = 'cancelled', ended_at = now()
      where account_id = ${merchant.id} and state in ('started', 'signed')`;
    return { signing };
  });
  await assert.rejects(signing, { reason: 'change_over' });
  assert.equal(await canClaim(account), true);
});

test('A recovery is cancelled or vetoed while a change by signatures ends it → the other waits, and neither fails', async () => {
  const stops = {
    cancelled: (id: string) => cancelRecovery(app.ctx, theService, fixtures.test, id),
    vetoed: async (id: string) => {
      const open = await readOpenRecovery(app.ctx, fixtures.test, id);
      const veto = vetoRecovery(app.ctx, theService, fixtures.test, open?.id ?? '');
      return veto.then(() => true).catch((error) => error.reason !== 'change_over' && Promise.reject(error));
    },
  };
  for (const [name, stop] of Object.entries(stops)) {
    const { merchant, next } = await recovering();
    const { stopping } = await app.owner.begin(async (tx) => {
      // The rows that a change to the same wallet locks, in its order.
      await tx`select from merchants where id = ${merchant.id} for no key update`;
      await tx`update wallets set signed_at = now() where address = ${next.address.toLowerCase()}`;
      const stopping = stop(merchant.id);
      stopping.catch(() => {}); // it is awaited below
      await untilOneWaits();
      await tx`
        update wallet_changes set state = 'cancelled', ended_at = now()
        where account_id = ${merchant.id} and state in ('started', 'signed')`;
      return { stopping };
    });
    assert.equal(await stopping, false, name);
    assert.equal((await actsOn(merchant.id)).at(-1)?.action, 'recovery.signed', name);
  }
});

test('A recovery is started for merchants that have a wallet; a new one replaces one that nobody signed for', async () => {
  const shell = await createShell(app.ctx, theService, fixtures.test, { display_currency: 'EUR' });
  await assert.rejects(startRecovery(app.ctx, theService, fixtures.test, shell.id), /has not finished onboarding/);
  const first = await recovering({ sign: false });
  await assert.rejects(
    startRecovery(app.ctx, theService, fixtures.live, first.merchant.id),
    /This merchant does not exist/,
  );
  const { url } = await startRecovery(app.ctx, theService, fixtures.test, first.merchant.id);
  assert.match((await first.visitor.open(first.url)).html, /Nothing to do here/);
  assert.match((await first.visitor.open(url)).html, /started a recovery of your wallet/);
  const signed = await recovering();
  await assert.rejects(
    startRecovery(app.ctx, theService, fixtures.test, signed.merchant.id),
    /A new wallet has already signed/,
  );
});

test('The command starts and cancels a recovery, and refuses in a sentence what it cannot do', async () => {
  const [{ run }] = recoveryCommands as [Command];
  const { id } = await makeOnboarded(app.ctx, fixtures.test);
  const started = await run(app.ctx, { words: [id.toUpperCase()], options: {} });
  const page = await startVisitor(app.url).open(String(started.recovery_url));
  assert.match(page.html, /started a recovery of your wallet/);
  const cancel = () => run(app.ctx, { words: [id], options: { cancel: true } });
  assert.deepEqual(await cancel(), { account_id: id, cancelled: true });
  await assert.rejects(cancel(), /No recovery of merchant .* is in progress\./);
  for (const words of [[], ['x'], [fixtures.partner.id]]) {
    await assert.rejects(run(app.ctx, { words, options: {} }), /is missing\.|There is no merchant/);
  }
});

test('A wallet of another merchant cannot be recovered to; the present one need not be', async () => {
  const { merchant, url, visitor } = await recovering({ sign: false });
  const other = await makeOnboarded(app.ctx, fixtures.live);
  const page = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: other.wallet });
  const taken = await signOn(visitor, page, other.account);
  assert.equal(taken.status, 409);
  assert.match(taken.html, /already belongs to another merchant/);
  const same = await visitor.send(await visitor.open(url), '/wallet', { wallet_address: merchant.wallet });
  assert.match(same.html, /This is already your wallet/);
});

test('A change by both signatures ends a recovery in progress and frees its wallet', async () => {
  const { merchant, next } = await recovering();
  const chosen = newAccount();
  const { visitor } = await signInMerchant(app.url, merchant.account);
  await signOn(visitor, await toTakeOver(visitor, merchant, chosen), chosen);
  await after48Hours(() => settleRecoveries(app.ctx));
  assert.equal(await walletOf(merchant.id), chosen.address.toLowerCase());
  assert.equal(await canClaim(next), true);
  const [change] = await app.db.sql`
    select details from audit_log where object_id = ${merchant.id} and action = 'wallet.changed'`;
  const [from, to] = [merchant.wallet, chosen.address.toLowerCase()];
  assert.deepEqual(JSON.parse(change?.details), { from, to, recovery: 'ended' });
});

test('a veto at the moment the 48 hours end → exactly one of them takes effect', async () => {
  for (let i = 0; i < 4; i++) {
    const { merchant, next } = await recovering();
    const { visitor, dashboard } = await signInMerchant(app.url, merchant.account);
    await after48Hours(
      () => Promise.all([settleRecoveries(app.ctx), visitor.send(dashboard, '/veto')]),
      48 * hour + 1000,
    );
    const [change] = await app.db.sql`
      select state from wallet_changes where account_id = ${merchant.id} and kind = 'recovery'`;
    const expected = change?.state === 'applied' ? next.address.toLowerCase() : merchant.wallet;
    assert.ok(['applied', 'vetoed'].includes(change?.state), change?.state);
    assert.equal(await walletOf(merchant.id), expected);
    const claimed = await app.db.sql`select address from wallets where address = ${next.address.toLowerCase()}`;
    assert.equal(claimed.length, change?.state === 'applied' ? 1 : 0);
  }
});

test('A recovery is vetoed after the loop has found it due, or is not due → the wallet stays', async () => {
  const { merchant } = await recovering();
  const change = await readOpenRecovery(app.ctx, fixtures.test, merchant.id);
  assert.ok(change?.due_at);
  const { id, due_at: dueAt } = change;
  const recover = (at: Date) => app.db.scoped(fixtures.test, (tx) => updateRecovered(tx, fixtures.test, id, at));
  assert.equal(await recover(new Date(dueAt.getTime() - 1)), null, 'the wallet can object for 48 hours');
  await vetoRecovery(app.ctx, theService, fixtures.test, id);
  assert.equal(await recover(dueAt), null, 'the wallet has objected');
  assert.equal(await walletOf(merchant.id), merchant.wallet);
});

test('A recovery that fails delays no other, is retried later, and raises an alarm if it keeps failing', async () => {
  const start = 7 * 24 * hour + 1000;
  const settleAt = (ms: number) => after48Hours(() => settleRecoveries(app.ctx), ms);
  await settleAt(start); // what earlier tests left behind
  const [broken, late, next] = [await recovering(), await recovering({ sign: false }), await recovering()];
  const sql = app.owner;
  await sql`create function refuse_move() returns trigger language plpgsql as $$
    begin raise exception 'this merchant cannot be written'; end $$`;
  await sql`create trigger refuse_move before update on merchants for each row
    when (old.id = ${sql.unsafe(`'${broken.merchant.id}'`)}) execute function refuse_move()`;
  const alarm = async () => (await raisedAlarms(sql)).get('recoveries_stuck') ?? null;
  assert.equal(await settleAt(start), 2);
  assert.equal(await walletOf(next.merchant.id), next.next.address.toLowerCase());
  assert.equal((await actsOn(late.merchant.id)).at(-1)?.action, 'recovery.expired');
  assert.equal(await walletOf(broken.merchant.id), broken.merchant.wallet, 'neither half done');
  const failures = async () => {
    const [row] = await sql`select settle_failures from wallet_changes where account_id = ${broken.merchant.id}`;
    return row?.settle_failures;
  };
  assert.equal(await settleAt(start + 30_000), 0);
  assert.equal(await failures(), 1, 'not tried again at once');
  await settleAt(start + 61_000);
  assert.equal(await alarm(), null, 'twice may pass by itself');
  await settleAt(start + 4 * 60_000);
  assert.equal(await failures(), 3);
  assert.match((await alarm()) ?? '', new RegExp(`cannot be completed.*${broken.merchant.id}`));

  await sql`drop trigger refuse_move on merchants`;
  assert.equal(await settleAt(start + 20 * 60_000), 1);
  assert.equal(await walletOf(broken.merchant.id), broken.next.address.toLowerCase());
  assert.equal(await alarm(), null);
  assert.equal((await actsOn(broken.merchant.id)).filter(({ action }) => action === 'wallet.changed').length, 1);
});

test('A recovery conflicts with another transaction, such as a reset → no failure, and the next pass settles it', async () => {
  const { merchant, next } = await recovering();
  await app.owner`create function lose_deadlock() returns trigger language plpgsql as $$
    begin raise exception using errcode = 'deadlock_detected'; end $$`;
  await app.owner`create trigger lose_deadlock before update on merchants for each row
    when (old.id = ${app.owner.unsafe(`'${merchant.id}'`)}) execute function lose_deadlock()`;
  await after48Hours(() => settleRecoveries(app.ctx));
  await app.owner`drop function lose_deadlock cascade`;
  await after48Hours(() => settleRecoveries(app.ctx));
  assert.equal(await walletOf(merchant.id), next.address.toLowerCase());
});
