import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { commandLine } from '../../src/cli/actor.ts';
import type { Tx } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { makeOnboardingToken, onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { readMerchant } from '../../src/merchants/read.ts';
import { enterEmailCode, passedEmail } from '../../src/onboarding/code.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { releaseStaleWallets, releaseWallet } from '../../src/wallets/release.ts';
import { withinOneMinute } from '../support/api/client.ts';
import { startApp } from '../support/app.ts';
import { makePartner, makeRequest, makeTransfer, testSecrets } from '../support/fixtures.ts';
import { submit, type Visit, visit } from '../support/people/forms.ts';
import { startVisitor, type Visitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
const day = 24 * 3_600_000;
let offsetMs = 0;
const clock = { now: () => new Date(Date.now() + offsetMs) };
let app: Awaited<ReturnType<typeof startApp>>;
let fixtures: Awaited<ReturnType<typeof makePartner>>;

before(async () => {
  app = await startApp({ clock });
  fixtures = await makePartner(app.db);
});
after(() => app.stop());

const newAccount = () => privateKeyToAccount(generatePrivateKey());
const newEmail = () => `ada-${randomBytes(5).toString('hex')}@example.com`;

async function shell(fields: Record<string, string> = {}, scope = fixtures.test) {
  const merchant = await createShell(app.ctx, theService, scope, { display_currency: 'EUR', ...fields });
  const url = new URL(onboardingUrl(app.ctx.config, merchant, clock.now()));
  return { id: merchant.id, link: app.url + url.pathname };
}

const read = async (id: string) => {
  const row = await readMerchant(app.ctx, fixtures.test, id);
  assert.ok(row);
  return row;
};

const messageOn = (page: Visit) =>
  page.forms.find(({ action }) => action.endsWith('/complete'))?.fields.message?.replaceAll('\r\n', '\n') ?? '';

/** Goes from the link to the message in its own browser, entering details and an address. */
async function toMessage(link: string, address: string, typed: Record<string, string> = {}): Promise<Reached> {
  const visitor = startVisitor(app.url);
  const next = await visitor.send(await visitor.open(`${link}?step=details`), '/details', typed);
  if (next.status !== 200) return { ...next, visitor };
  const wallet = await visitor.open(`${link}?step=wallet`);
  return { ...(await visitor.send(wallet, '/wallet', { wallet_address: address })), visitor };
}

/** The page that a visitor has reached, and the visitor. */
type Reached = Visit & { visitor: Visitor };

async function sign(page: Reached, account: PrivateKeyAccount, typed: Record<string, string> = {}): Promise<Reached> {
  const signature = await account.signMessage({ message: messageOn(page) });
  const next = await page.visitor.send(page, '/complete', { signature, accept_terms: '1', ...typed });
  return { ...next, visitor: page.visitor };
}

async function mailedCode(recipient: string): Promise<string> {
  const [mail] = await app.db.sql`
    select subject from mails where recipient = ${recipient} order by created_at desc limit 1`;
  return mail?.subject.slice(0, 6);
}

test('A merchant signs with a wallet, accepts the terms, and is complete', async () => {
  const { id, link } = await shell({ business_name: 'Ada’s Bakery' });
  const account = newAccount();
  const page = await toMessage(link, account.address, {
    display_name: 'Ada',
    business_name: 'Ada’s Bread',
    country: 'de',
  });
  assert.equal(page.status, 200);
  const message = messageOn(page);
  assert.match(message, /^localhost:3000 wants you to sign in with your Ethereum account:\n0x/);
  assert.match(message, new RegExp(`as merchant ${id} and accept the terms in version 1\\.`));
  assert.ok(message.includes(account.address), 'the message shows the address with its checksum');

  const done = await sign(page, account);
  assert.equal(done.status, 200);
  assert.match(done.html, /You are ready to receive payments/, 'signed in to the dashboard');
  const row = await read(id);
  assert.equal(row.wallet_address, account.address.toLowerCase());
  assert.ok(row.onboarded_at);
  assert.deepEqual([row.display_name, row.business_name, row.country], ['Ada', 'Ada’s Bread', 'DE']);
  const [kept] = await app.db.sql`
    select terms_version, terms_accepted_at, terms_accepted_from, wallet_signed_at, wallet_chain_ids
    from merchants where id = ${id}`;
  assert.equal(kept?.terms_version, '1');
  assert.equal(kept?.terms_accepted_from, '127.0.0.1');
  assert.ok(kept?.terms_accepted_at && kept?.wallet_signed_at);
  assert.equal(kept?.wallet_chain_ids, null);
});

test('A merchant without a wallet reads what USDC and a wallet are, how to get one, and what does not serve as one', async () => {
  const { link } = await shell();
  const visitor = startVisitor(app.url);
  const details = await visitor.open(link);
  assert.match(details.html, /one USDC is designed to be worth one US dollar/);
  const page = await visitor.send(details, '/details', {});
  assert.match(page.html, /I don’t have a wallet yet/);
  assert.match(page.html, /Install a wallet app[^<]*MetaMask, Base app, or Trust Wallet/);
  assert.match(page.html, /show it to nobody/);
  assert.match(page.html, /An exchange account does not work here/);
  const named = await shell({ wallet_address: newAccount().address.toLowerCase() });
  const another = startVisitor(app.url);
  const toConnect = await another.send(await another.open(named.link), '/details', {});
  assert.doesNotMatch(toConnect.html, /I don’t have a wallet yet/, 'the partner named a wallet');
});

test('A link that was used, has run out, was forged or was replaced opens nothing and says what to do', async () => {
  const used = await shell();
  const account = newAccount();
  await sign(await toMessage(used.link, account.address), account);
  const again = await visit(used.link);
  assert.equal(again.status, 410);
  assert.match(again.html, /Already set up/);

  const late = await shell();
  offsetMs = 7 * day + 1000;
  const expired = await visit(late.link).finally(() => {
    offsetMs = 0;
  });
  assert.equal(expired.status, 410);
  assert.match(expired.html, /This link has expired/);

  const token = late.link.slice(late.link.lastIndexOf('/') + 1);
  const bytes = Buffer.from(token, 'base64url');
  bytes[20] = (bytes[20] ?? 0) ^ 1;
  for (const forged of [bytes.toString('base64url'), `${token}A`, token.slice(0, -1), 'x', token.toUpperCase()]) {
    const page = await visit(`${app.url}/onboard/${forged}`);
    assert.equal(page.status, 404, forged);
    assert.match(page.html, /This link is not valid/);
  }
  const other = makeOnboardingToken(
    [{ id: 'other', key: Buffer.alloc(32, 9) }],
    { id: late.id, onboarding_epoch: 0 },
    clock.now(),
  );
  assert.equal((await visit(`${app.url}/onboard/${other}`)).status, 404);
  const rotated = makeOnboardingToken(testSecrets, { id: late.id, onboarding_epoch: 1 }, clock.now());
  assert.equal((await visit(`${app.url}/onboard/${rotated}`)).status, 410);
});

test('A wallet that another merchant has, in either mode, is refused in plain words', async () => {
  const owner = await shell();
  const account = newAccount();
  await sign(await toMessage(owner.link, account.address), account);
  for (const scope of [fixtures.test, fixtures.live]) {
    const second = await shell({}, scope);
    const page = await sign(await toMessage(second.link, account.address), account);
    assert.equal(page.status, 409);
    assert.match(page.html, /This wallet already belongs to another merchant/);
  }
});

test('A wallet given at create must be the one that signs, in any casing', async () => {
  const account = newAccount();
  const { id, link } = await shell({ wallet_address: account.address.toLowerCase() });
  const other = await toMessage(link, newAccount().address);
  assert.equal(other.status, 409);
  assert.match(other.html, /This is not the expected wallet/);
  const page = await toMessage(link, `0x${account.address.slice(2).toUpperCase()}`);
  assert.equal((await sign(page, account)).status, 200);
  assert.equal((await read(id)).wallet_address, account.address.toLowerCase());
});

test('While the network cannot be asked about a wallet, the page says so and the message can be signed again', async () => {
  const { id, link } = await shell();
  const account = newAccount();
  const page = await toMessage(link, account.address);
  const refused = await sign(page, newAccount());
  assert.equal(refused.status, 503);
  assert.match(refused.html, /We could not reach the network to check this wallet/);
  assert.equal((await read(id)).onboarded_at, null);
  assert.equal((await sign(refused, account)).status, 200, 'a key proves itself without the network');
});

test('More than 20 forms a minute on one link are refused', async () => {
  await withinOneMinute(app.db, async () => {
    const { link } = await shell();
    const page = await visit(link);
    for (let i = 0; i < 20; i++) await submit(app.url, page, '/details', { wallet_address: '' });
    assert.equal((await submit(app.url, page, '/details', { wallet_address: '' })).status, 429);
  });
});

test('More than 300 forms a minute from one client are refused, on however many links', async () => {
  const now = new Date();
  const other = await startApp({ clock: { now: () => now } });
  try {
    const send = async (link: number) =>
      (await visit(`${other.url}/onboard/made-up-${link}/details`, { method: 'POST', body: new URLSearchParams() }))
        .status;
    const statuses = await Promise.all(Array.from({ length: 300 }, (_, link) => send(link)));
    assert.deepEqual([...new Set(statuses), await send(300)], [404, 429]);
  } finally {
    await other.stop();
  }
});

test('finishing without accepting the terms → refused', async () => {
  const { id, link } = await shell();
  const account = newAccount();
  const page = await toMessage(link, account.address);
  for (const accept_terms of ['', '0']) {
    const refused = await sign(page, account, { accept_terms });
    assert.equal(refused.status, 400);
    assert.match(refused.html, /The terms were not accepted/);
  }
  assert.equal((await read(id)).onboarded_at, null);
});

test('a message signed for another merchant, or changed after signing → refused', async () => {
  const [mine, theirs] = [await shell(), await shell()];
  const account = newAccount();
  const page = await toMessage(mine.link, account.address);
  const victim = await toMessage(theirs.link, account.address);
  const replayed = await sign(victim, account, {
    message: messageOn(page),
    signature: await account.signMessage({ message: messageOn(page) }),
  });
  assert.equal(replayed.status, 400, 'the message names the other merchant');
  assert.match(replayed.html, /The signed message is not the one shown/);

  const changes: [RegExp, string][] = [
    [/localhost:3000 wants/, 'evil.example wants'],
    [/version 1\./, 'version 2.'],
    [/Chain ID: 31337/, 'Chain ID: 1'],
    [/Expiration Time: 20/, 'Expiration Time: 21'],
    [/Version: 1/, 'Version: 1\nExtra: 1'],
    [new RegExp(`merchant ${mine.id}`), `merchant ${theirs.id}`],
  ];
  for (const [from, to] of changes) {
    const message = messageOn(page).replace(from, to);
    assert.notEqual(message, messageOn(page));
    const signature = await account.signMessage({ message });
    const refused = await page.visitor.send(page, '/complete', { message, signature, accept_terms: '1' });
    assert.equal(refused.status, 400, String(from));
  }
  assert.equal((await read(mine.id)).onboarded_at, null);
});

test('a signed message used twice, or after 15 minutes → refused', async () => {
  const { id, link } = await shell();
  const account = newAccount();
  const page = await toMessage(link, account.address);
  offsetMs = 15 * 60_000 + 1000;
  const late = await sign(page, account).finally(() => {
    offsetMs = 0;
  });
  assert.equal(late.status, 409);
  assert.match(late.html, /This message was already used or has expired/);

  assert.equal((await sign(page, account)).status, 200);
  // After the reset, the link is new, and the old message is still worth nothing.
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);
  const fresh = await read(id);
  const link2 = app.url + new URL(onboardingUrl(app.ctx.config, fresh, clock.now())).pathname;
  const page2 = await toMessage(link2, account.address);
  const signature = await account.signMessage({ message: messageOn(page) });
  const old = { message: messageOn(page), signature, accept_terms: '1' };
  const replayed = await page2.visitor.send(page2, '/complete', old);
  assert.equal(replayed.status, 409);
  const dead = await visit(link);
  assert.equal(dead.status, 410, 'the link from before the reset is dead');
  assert.match(dead.html, /This link was replaced/);
  assert.doesNotMatch(dead.html, /is saved/, 'the reset has discarded what was entered');
  assert.equal((await sign(page2, account)).status, 200);
});

test('Two merchants racing for one wallet: one wins', async () => {
  const account = newAccount();
  const pages = await Promise.all(
    Array.from({ length: 6 }, async () => toMessage((await shell()).link, account.address)),
  );
  const outcomes = await Promise.all(pages.map((page) => sign(page, account)));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
  const [count] = await app.db.sql`
    select count(*)::int as n from merchants where wallet_address = ${account.address.toLowerCase()}`;
  assert.equal(count?.n, 1);
});

test('Two devices finishing the same merchant: one wins', async () => {
  const { id, link } = await shell();
  const accounts = [newAccount(), newAccount()];
  const pages: Reached[] = [];
  for (const { address } of accounts) pages.push(await toMessage(link, address));
  const outcomes = await Promise.all(accounts.map((account, i) => sign(pages[i] as Reached, account)));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), [200, 410]);
  const winner = accounts[outcomes.findIndex(({ status }) => status === 200)];
  assert.equal((await read(id)).wallet_address, winner?.address.toLowerCase());
  const claimed = await app.db.sql`select address from wallets where account_id = ${id}`;
  assert.equal(claimed.length, 1);
});

test('A merchant continues where it left off, after a reload and on another device, and can change its answers', async () => {
  const { id, link } = await shell({ business_name: 'Ada’s Bakery' });
  const [account, second] = [newAccount(), newAccount()];
  const email = newEmail();
  const phone = startVisitor(app.url);
  const wallet = await phone.send(await phone.open(link), '/details', { business_name: 'Ada’s Bread', email });
  assert.match(wallet.html, /Which wallet receives the payments\?/);

  const desk = startVisitor(app.url);
  const chosen = await desk.send(await desk.open(link), '/wallet', { wallet_address: account.address });
  const reloaded = await phone.open(link);
  assert.match(reloaded.html, /Sign in with your wallet/);
  assert.notEqual(messageOn(reloaded), messageOn(chosen), 'each visit has a message of its own');

  const details = await phone.open(`${link}?step=details`);
  const form = details.forms.find(({ action }) => action.endsWith('/details'));
  assert.deepEqual(
    [form?.fields.business_name, form?.fields.email],
    ['Ada’s Bread', email],
    'what was submitted stays',
  );
  await phone.send(details, '/details', { country: 'DE' });
  const other = await phone.send(await phone.open(`${link}?step=wallet`), '/wallet', {
    wallet_address: second.address,
  });
  assert.equal((await sign({ ...other, visitor: phone }, second)).status, 200);
  const row = await read(id);
  assert.deepEqual(
    [row.wallet_address, row.business_name, row.country, row.email],
    [second.address.toLowerCase(), 'Ada’s Bread', 'DE', email],
  );
  const left = await app.db.sql`select from onboarding_progress where account_id = ${id}`;
  assert.equal(left.length, 0);
});

test('If the partner gave an e-mail address, every browser needs a code that is sent to it', async () => {
  const email = newEmail();
  const { id, link } = await shell({ email });
  const account = newAccount();
  const visitor = startVisitor(app.url);
  const start = await visitor.open(link);
  assert.ok(!start.html.includes(email), 'the link alone does not tell the address');
  assert.ok(start.html.includes(`a••••@example.com`));
  for (const step of ['details', 'wallet', 'complete']) {
    const body = new URLSearchParams({ wallet_address: account.address, accept_terms: '1' });
    const bare = await visit(`${link}/${step}`, { method: 'POST', body });
    assert.equal(bare.status, 403);
    assert.match(bare.html, /Enter the code from the e-mail/);
  }

  const codePage = await visitor.send(start, '/code');
  const code = await mailedCode(email);
  assert.match(code, /^\d{6}$/);
  const wrong = await visitor.send(codePage, '/email', { code: code === '123456' ? '123457' : '123456' });
  assert.equal(wrong.status, 403);
  assert.match(wrong.html, /This code is not correct/);
  const details = await visitor.send(wrong, '/email', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
  assert.equal(details.status, 200);
  const wallet = await visitor.send(details, '/details');
  const signing = { ...(await visitor.send(wallet, '/wallet', { wallet_address: account.address })), visitor };

  const other = startVisitor(app.url);
  assert.match((await other.open(link)).html, /Enter the code/, 'another browser has not entered it');
  const dodged = await sign({ ...signing, visitor: other }, account);
  assert.equal(dodged.status, 403);
  const forged = startVisitor(app.url);
  const pass = visitor.cookies.get('onboarding') ?? '';
  forged.cookies.set(
    'onboarding',
    pass.replace(/^\d+/, (until) => String(Number(until) + 1)),
  );
  assert.equal((await sign({ ...signing, visitor: forged }, account)).status, 403);

  assert.equal((await sign(signing, account)).status, 200);
  const [kept] = await app.db.sql`select email, email_checked_at from merchants where id = ${id}`;
  assert.equal(kept?.email, email);
  assert.ok(kept?.email_checked_at);
});

test('a browser that entered the code → need not enter it again for an hour, for that merchant only', async () => {
  const [email, another] = [newEmail(), newEmail()];
  const [{ link }, other] = await Promise.all([shell({ email }), shell({ email: another })]);
  const visitor = startVisitor(app.url);
  const codePage = await visitor.send(await visitor.open(link), '/code');
  await visitor.send(codePage, '/email', { code: await mailedCode(email) });
  assert.match((await visitor.open(link)).html, /Who receives the payments\?/);
  assert.match((await visitor.open(other.link)).html, /Send me a code/);
  offsetMs = 3_600_000 + 1000;
  const late = await visitor.open(link).finally(() => {
    offsetMs = 0;
  });
  assert.match(late.html, /Send me a code/);
});

test('a pass whose time was extended by the beginning of the address → refused, for the rest of that address too', async () => {
  const [first, rest] = ['ada', newEmail()];
  const { id, link } = await shell({ email: `${first}/${rest}` });
  await startVisitor(app.url).send(await visit(link), '/code');
  const token = new URL(link).pathname.split('/').at(-1) ?? '';
  const pass = await enterEmailCode(app.ctx, token, await mailedCode(`${first}/${rest}`));
  const row = { id, email: `${first}/${rest}`, onboarding_epoch: 0 };
  assert.ok(passedEmail(app.ctx, row, pass));
  assert.ok(!passedEmail(app.ctx, { ...row, email: rest }, pass.replace('.', `/${first}.`)));
});

test('five wrong codes → blocked; requesting new codes gives no more attempts until the first has expired', async () => {
  const email = newEmail();
  const { link } = await shell({ email });
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(link), '/code');
  const enterWrong = async (code: string) => {
    const wrong = code === '000000' ? '000001' : '000000';
    assert.match((await visitor.send(page, '/email', { code: wrong })).html, /is not correct/);
  };
  const first = await mailedCode(email);
  for (let i = 0; i < 4; i++) await enterWrong(first);
  offsetMs = 2 * 60_000;
  try {
    assert.equal((await visitor.send(page, '/code')).status, 200);
    const code = await mailedCode(email);
    await enterWrong(code);
    const exhausted = await visitor.send(page, '/email', { code });
    assert.equal(exhausted.status, 429, 'four wrong codes before the new one was requested count');
    assert.match(exhausted.html, /Too many wrong codes/);
    offsetMs = 4 * 60_000;
    assert.match((await visitor.send(page, '/code')).html, /Too many wrong codes/);
    offsetMs = 17 * 60_000 + 1000;
    assert.match((await visitor.send(page, '/email', { code })).html, /This code has expired/);
    assert.equal((await visitor.send(page, '/code')).status, 200);
    assert.equal((await visitor.send(page, '/email', { code: await mailedCode(email) })).status, 200);
  } finally {
    offsetMs = 0;
  }
});

test('Many wrong codes at once → no more are tried than one after the other', async () => {
  const email = newEmail();
  const { id, link } = await shell({ email });
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(link), '/code');
  const code = await mailedCode(email);
  const wrong = code === '000000' ? '000001' : '000000';
  const { tries } = await app.db.transaction(async (tx) => {
    await tx`select from onboarding_codes where account_id = ${id} for update`;
    const tries = Array.from({ length: 8 }, () => visitor.send(page, '/email', { code: wrong }));
    await until(async () => {
      const rows = await app.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length > 1;
    }, 'several are under way');
    return { tries };
  });
  const answers = (await Promise.all(tries)).map(({ html }) => html);
  assert.equal(answers.filter((html) => /is not correct/.test(html)).length, 5);
  assert.match((await visitor.send(page, '/email', { code })).html, /Too many wrong codes/);
});

test('Several requests for a code at once → one is sent', async () => {
  const email = newEmail();
  const { link } = await shell({ email });
  const visitor = startVisitor(app.url);
  const page = await visitor.open(link);
  const asked = await Promise.all(Array.from({ length: 6 }, () => visitor.send(page, '/code')));
  const sent = await app.db.sql`select from mails where recipient = ${email}`;
  assert.equal(sent.length, 1);
  assert.equal(asked.filter(({ html }) => /We just sent you a code/.test(html)).length, 5);
});

test('A second code within a minute is not sent', async () => {
  const email = newEmail();
  const { link } = await shell({ email });
  const visitor = startVisitor(app.url);
  const page = await visitor.send(await visitor.open(link), '/code');
  const again = await visitor.send(page, '/code');
  assert.equal(again.status, 429);
  assert.match(again.html, /We just sent you a code/);
  const [count] = await app.db.sql`select count(*)::int as n from mails where recipient = ${email}`;
  assert.equal(count?.n, 1);
});

test('Faults in the details are named beside their fields, and what was typed stays, escaped', async () => {
  const { link } = await shell();
  const typed = { country: 'Germany', display_name: '"><script>alert(1)</script>', email: 'nobody' };
  const page = await toMessage(link, newAccount().address, typed);
  assert.equal(page.status, 400);
  assert.match(page.html, /id="country-fault">Choose a country/);
  assert.match(page.html, /id="email-fault">/);
  assert.ok(!page.html.includes('<script>'));
  assert.equal(page.forms[0]?.fields.display_name, typed.display_name);
  const malformed = await toMessage(link, '0x123', { business_name: 'Ada’s' });
  assert.equal(malformed.status, 400);
  assert.match(malformed.html, /id="wallet_address-fault">/);
});

test('a form sent from another site → refused', async () => {
  const { link } = await shell();
  const page = await visit(link);
  const foreign: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
  for (const headers of foreign) {
    const refused = await submit(app.url, page, '/details', { wallet_address: newAccount().address }, headers);
    assert.equal(refused.status, 403);
    assert.match(refused.html, /came from another site/);
  }
});

test('A step opened by itself leads back to the link, and a HEAD shows without a body', async () => {
  const { link } = await shell();
  const step = await visit(`${link}/details`);
  assert.equal(step.status, 303);
  assert.equal(step.headers.get('location'), new URL(link).pathname);
  const head = await visit(link, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.html, '');
});

test('A reset voids open requests; a merchant that has received payments cannot be reset', async () => {
  const { id, link } = await shell();
  const account = newAccount();
  await sign(await toMessage(link, account.address), account);
  const merchant = { id, wallet: account.address.toLowerCase() };
  const open = await makeRequest(app.db, fixtures.test, merchant);
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);
  const [voided] = await app.db.sql`select status from requests where id = ${open.id}`;
  assert.equal(voided?.status, 'voided');
  const [kept] = await app.db.sql`
    select reserved_until > now() + interval '23 hours' as kept from amount_reservations where request_id = ${open.id}`;
  assert.equal(kept?.kept, true, 'its amount names nobody else’s request for a day');
  const row = await read(id);
  assert.equal(row.wallet_address, null);
  assert.equal(row.onboarded_at, null);

  const link2 = app.url + new URL(onboardingUrl(app.ctx.config, row, clock.now())).pathname;
  await sign(await toMessage(link2, account.address), account);
  const paid = await makeRequest(app.db, fixtures.test, merchant);
  await app.db.sql`update requests set proof_status = 'attached' where id = ${paid.id}`;
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), false);
  assert.equal((await read(id)).wallet_address, merchant.wallet);
});

const beginnings: Record<string, (tx: Tx, merchant: { id: string; wallet: string }) => Promise<unknown>> = {
  stored: (tx, merchant) => makeTransfer(tx, fixtures.test, merchant),
  sent: async (tx, merchant) => {
    const { partnerId, testMode } = fixtures.test;
    const [request] = await tx<{ id: string }[]>`
      select id from requests where account_id = ${merchant.id} and status = 'requested' for update`;
    const id = request?.id ?? '';
    await tx`
      insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
        purpose, subject_id, account_id, day, fee_wei)
      values (${partnerId}, ${testMode}, ${id}, 31337, ${merchant.wallet}, 0, ${merchant.wallet}, '', 1, 'authorization',
        ${id}, ${merchant.id}, now(), 1)`;
  },
};
for (const [what, begin] of Object.entries(beginnings)) {
  test(`A merchant is reset while its first payment is being ${what} → the reset waits for that, and is refused`, async () => {
    const { id, link } = await shell();
    const account = newAccount();
    await sign(await toMessage(link, account.address), account);
    const merchant = { id, wallet: account.address.toLowerCase() };
    await makeRequest(app.db, fixtures.test, merchant);
    const { resetting } = await app.db.transaction(async (tx) => {
      await begin(tx, merchant);
      let isOver = false;
      const resetting = resetOnboarding(app.ctx, theService, fixtures.test, id).finally(() => {
        isOver = true;
      });
      const isWaiting = async () => {
        const rows = await app.owner`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return rows.length > 0;
      };
      await until(async () => isOver || (await isWaiting()), 'the reset waits, or is done');
      return { resetting };
    });
    assert.equal(await resetting, false);
    assert.equal((await read(id)).wallet_address, merchant.wallet);
  });
}

test('What somebody with an older link has handed in › a reset discards it: the merchant is asked for no code of theirs', async () => {
  const { id, link } = await shell();
  const [thief, account] = [newAccount(), newAccount()];
  const email = newEmail();
  const next = async () => app.url + new URL(onboardingUrl(app.ctx.config, await read(id), clock.now())).pathname;
  await sign(await toMessage(link, thief.address, { email }), thief);
  assert.equal((await read(id)).email, email);
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);

  const second = await next();
  const start = await startVisitor(app.url).open(second);
  assert.ok(
    start.forms.some(({ action }) => action.endsWith('/details')),
    'no code is asked for',
  );
  await toMessage(second, thief.address, { email });
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);

  const third = await next();
  const again = await startVisitor(app.url).open(third);
  const details = again.forms.find(({ action }) => action.endsWith('/details'));
  assert.equal(details?.fields.email, '', 'it begins anew');
  assert.equal((await sign(await toMessage(third, account.address), account)).status, 200);
  assert.equal((await read(id)).email, null);
});

test('Details that are handed in while the merchant is reset › are refused, and nothing of them is kept', async () => {
  const { id, link } = await shell();
  const visitor = startVisitor(app.url);
  const details = await visitor.open(link);
  let sent: Promise<Visit> | undefined;
  await app.db.transaction(async (tx) => {
    await tx`update merchants set onboarding_epoch = onboarding_epoch + 1 where id = ${id}`;
    sent = visitor.send(details, '/details', { email: newEmail(), business_name: 'Mallory’s' });
    await until(async () => {
      const rows = await app.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length > 0;
    }, 'the details wait');
  });
  assert.match((await sent)?.html ?? '', /This link was replaced/);
  assert.equal((await read(id)).business_name, null);
  assert.equal((await app.db.sql`select from onboarding_progress where account_id = ${id}`).length, 0);
});

test('A reset of a merchant whose partner gave an e-mail address › a code is asked for again', async () => {
  const email = newEmail();
  const { id, link } = await shell({ email });
  const visitor = startVisitor(app.url);
  await visitor.send(await visitor.open(link), '/code');
  const code = await mailedCode(email);
  await visitor.send(await visitor.open(link), '/email', { code });
  const account = newAccount();
  const wallet = await visitor.send(await visitor.open(link), '/details');
  const page = await visitor.send(wallet, '/wallet', { wallet_address: account.address });
  assert.equal((await sign({ ...page, visitor }, account)).status, 200);
  assert.equal(await resetOnboarding(app.ctx, theService, fixtures.test, id), true);
  const url = new URL(onboardingUrl(app.ctx.config, await read(id), clock.now()));
  const start = await visitor.open(app.url + url.pathname);
  assert.ok(start.forms.some(({ action }) => action.endsWith('/code')));
});

test('A wallet that was claimed and never signed for is freed by the operator, or after 30 days', async () => {
  const [claimed, signed] = [newAccount(), newAccount()];
  const { id } = await shell({ wallet_address: claimed.address.toLowerCase() });
  const owner = await shell();
  await sign(await toMessage(owner.link, signed.address), signed);
  assert.equal((await releaseWallet(app.ctx, commandLine, claimed.address))?.account_id, id);
  assert.equal((await read(id)).wallet_address, null);
  assert.equal(await releaseWallet(app.ctx, commandLine, claimed.address), null);
  assert.equal(await releaseWallet(app.ctx, commandLine, signed.address), null);

  const stale = await shell({ wallet_address: claimed.address.toLowerCase() });
  offsetMs = 30 * day - 60_000;
  try {
    await releaseStaleWallets(app.ctx, running);
    assert.ok((await read(stale.id)).wallet_address, 'not yet');
    offsetMs = 30 * day + 60_000;
    const counts = await Promise.all([releaseStaleWallets(app.ctx, running), releaseStaleWallets(app.ctx, running)]);
    assert.ok(counts[0] + counts[1] >= 1);
  } finally {
    offsetMs = 0;
  }
  const acts = await app.db.sql`
    select actor_kind, actor_name, details from audit_log where partner_id = ${fixtures.partner.id}
      and action = 'wallet.released' and object_id = ${claimed.address.toLowerCase()} order by number`;
  assert.deepEqual(
    acts.map(({ actor_kind, actor_name, details }) => [actor_kind, actor_name, JSON.parse(details)]),
    [
      ['command_line', 'command line', { merchant: id }],
      ['service', 'the service', { merchant: stale.id }],
    ],
  );
  assert.equal((await read(stale.id)).wallet_address, null);
  assert.equal((await read(owner.id)).wallet_address, signed.address.toLowerCase());
});

test('A wallet that somebody else claims while stale ones are freed stays theirs', async () => {
  const address = newAccount().address.toLowerCase();
  const stale = await shell({ wallet_address: address });
  await app.db.sql`update wallets set claimed_at = now() - interval '31 days' where address = ${address}`;
  let next: Awaited<ReturnType<typeof shell>> | undefined;
  const transaction: typeof app.db.transaction = async (work) => {
    if (!next) {
      await releaseWallet(app.ctx, theService, address);
      next = await shell({ wallet_address: address });
    }
    return app.db.transaction(work);
  };
  assert.equal(await releaseStaleWallets({ ...app.ctx, db: { ...app.db, transaction } }, running), 0);
  assert.ok(next, 'it was looked up as stale');
  assert.equal((await read(next.id)).wallet_address, address);
  assert.equal((await read(stale.id)).wallet_address, null);
});

test('Hundreds of a partner’s wallets are stale and cannot be freed → one of another partner is freed in the same run', async () => {
  const other = await makePartner(app.db);
  const [held, free] = [await shell({}, other.test), newAccount().address.toLowerCase()];
  const { id } = await shell({ wallet_address: free });
  await app.db.sql`
    insert into wallets (address, partner_id, test_mode, account_id, claimed_at)
    select '0x' || lpad(to_hex(n), 40, '0'), ${other.partner.id}, true, ${held.id}, now() - interval '40 days'
    from generate_series(1, 600) n`;
  await app.db.sql`update wallets set claimed_at = now() - interval '31 days' where address = ${free}`;
  await app.owner`
    create function hold_wallet() returns trigger language plpgsql as $$ begin raise 'this wallet is held'; end $$`;
  await app.owner.unsafe(`
    create trigger hold_wallet before delete on wallets for each row
      when (old.account_id = '${held.id}') execute function hold_wallet()`);
  try {
    assert.equal(await releaseStaleWallets(app.ctx, running), 1);
  } finally {
    await app.owner`drop function hold_wallet() cascade`;
  }
  assert.equal((await read(id)).wallet_address, null);
  assert.equal(await releaseStaleWallets(app.ctx, running), 600, 'more than one batch');
});

test('The sandbox onboards with a key, the e-mail code included', async () => {
  const { id } = await shell({ email: newEmail() });
  const privateKey = generatePrivateKey();
  const done = await onboardWithKey(app.ctx, id, privateKey);
  assert.deepEqual(done, { account_id: id, wallet_address: privateKeyToAccount(privateKey).address.toLowerCase() });
  assert.ok((await read(id)).onboarded_at);
});
