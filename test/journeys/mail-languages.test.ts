import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { identifiers } from '../../src/db/sql.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { setPartnerEmail } from '../../src/partners/contact.ts';
import { mailTexts } from '../../src/texts/mails.ts';
import { signInTexts } from '../../src/texts/sign-in.ts';
import { fill, type Language, wordsOf } from '../../src/ui/language.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { queueDisabledNotice } from '../../src/webhooks/disabled.ts';
import { startApp } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { newAccount, signOn } from '../support/people/merchants.ts';
import { acceptInvitation, invitePartnerUser, newEmail } from '../support/people/people.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app.stop());

const reading = (language: Language) => startVisitor(app.url, { 'accept-language': language });
const languageOf = async (table: 'users' | 'merchants', id: string) =>
  (await app.db.sql`select language from ${identifiers(table)} where id = ${id}`)[0]?.language;

async function mailTo(recipient: string) {
  const mail = await latestMail(app.db.sql, recipient);
  assert.ok(mail?.html, recipient);
  return { ...mail, html: mail.html };
}

/** A partner with the email address of one of its users, who last signed in in this language. */
async function partnerReading(language: Language) {
  const fixtures = await makePartner(app.db);
  const { user, link } = await invitePartnerUser(app.ctx, fixtures);
  await acceptInvitation(reading(language), link);
  await setPartnerEmail(app.ctx, theService, fixtures.partner.slug, user.email.toUpperCase());
  return { ...fixtures, user, email: user.email.toUpperCase() };
}

test('A merchant is written to in the language it onboarded in, its partner in that of the last sign-in', async () => {
  const { test: scope, email: partnerEmail } = await partnerReading('de');
  const email = newEmail();
  const merchant = await createShell(app.ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: 'Ada',
    email,
  });
  const visitor = reading('ar');
  const start = await visitor.open(onboardingUrl(app.ctx.config, merchant, app.ctx.clock.now()));
  const asked = await visitor.send(start, '/code');
  const mail = await mailTo(email);
  const code = /^\d{6}/.exec(mail.subject)?.[0] ?? '';

  assert.equal(mail.subject, fill(mailTexts(wordsOf('ar')).code.subject, { code }));
  assert.match(mail.html, /<html lang="ar" dir="rtl">/);
  const [row] = await app.db.sql`select urgent from mails where id = ${mail.id}`;
  assert.equal(row?.urgent, true);

  const details = await visitor.send(asked, '/email', { code });
  const wallet = await visitor.send(details, '/details');
  const account = newAccount();
  const sign = await visitor.send(wallet, '/wallet', { wallet_address: account.address });
  await signOn(visitor, sign, account, { accept_terms: '1' });
  assert.equal(await languageOf('merchants', merchant.id), 'ar');

  await startRecovery(app.ctx, theService, scope, merchant.id);
  const told = await mailTo(email);
  assert.equal(told.subject, fill(mailTexts(wordsOf('ar')).wallet.recovery_started.subject, { merchant: 'Ada' }));
  assert.ok(told.html.includes(mailTexts(wordsOf('ar')).wallet.stop));
  assert.ok(told.body.includes(account.address));
  const de = mailTexts(wordsOf('de'));
  const toPartner = await mailTo(partnerEmail);
  assert.equal(toPartner.subject, fill(de.wallet.recovery_started.subject, { merchant: 'Ada' }));

  const gone = { partner_id: scope.partnerId, test_mode: true, url: 'https://hook.example/', disabled_reason: 'gone' };
  await app.db.transaction((tx) => queueDisabledNotice(app.ctx, tx, gone));
  const disabled = await mailTo(partnerEmail);
  assert.equal(disabled.subject, de.endpoint.testSubject);
  assert.ok(disabled.body.includes(de.endpoint.gone));
});

test('the recipient’s language is unknown → the mail is in English', async () => {
  const { test: scope, partner } = await makePartner(app.db);
  await setPartnerEmail(app.ctx, theService, partner.slug, 'nobody@partner.example');
  const gone = { partner_id: scope.partnerId, test_mode: true, url: 'https://hook.example/', disabled_reason: 'gone' };
  await app.db.transaction((tx) => queueDisabledNotice(app.ctx, tx, gone));
  const mail = await mailTo('nobody@partner.example');
  assert.equal(mail.subject, mailTexts(wordsOf('en')).endpoint.testSubject);
  assert.match(mail.html, /<html lang="en" dir="ltr">/);
});

test('A sign-in link is mailed in the language of the page that requested it; the next invitation in that of the last sign-in', async () => {
  const { partner, test: scope, live, user } = await partnerReading('ja');
  assert.equal(await languageOf('users', user.id), 'ja');
  const visitor = reading('fr');
  const start = await visitor.open('/portal/sign-in');
  await visitor.send(start, '/portal/sign-in', { email: user.email });
  const asked = await mailTo(user.email);
  assert.equal(asked.subject, fill(signInTexts(wordsOf('fr')).signInUser.mailSubject, { place: 'Quittance' }));
  assert.match(asked.html, /<html lang="fr"/);
  const [row] = await app.db.sql`select urgent from mails where id = ${asked.id}`;
  assert.equal(row?.urgent, true);
  const link = /http\S+\/link\/\S+/.exec(asked.body)?.[0] ?? '';
  await visitor.send(await visitor.open(link), new URL(link).pathname);
  assert.equal(await languageOf('users', user.id), 'fr');

  await invitePartnerUser(app.ctx, { partner, test: scope, live }, 'owner', user.email);
  const invited = await mailTo(user.email);
  assert.equal(invited.subject, fill(signInTexts(wordsOf('fr')).signInUser.inviteSubject, { place: partner.name }));
});
