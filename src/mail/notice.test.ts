import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardTexts } from '../texts/dashboard.ts';
import { mailTexts } from '../texts/mails.ts';
import { signInTexts } from '../texts/sign-in.ts';
import { type Language, languages, wordsOf } from '../ui/language.ts';
import { writeNotice } from './notice.ts';

const branding = { name: 'Höker & <Söhne>', logoUrl: null, accent: '#2769b7', onAccent: '#ffffff' };
const link = 'https://pay.example/link/abc?x=1&y=2';

/** All short mails in a language, with every value that any of them can contain. */
function noticesIn(language: Language) {
  const words = wordsOf(language);
  const mails = mailTexts(words);
  const { signInUser, passkey } = signInTexts(words);
  const dashboard = dashboardTexts(words);
  const { about, changed, recovery_started, recovery_signed, recovered, recovery_stopped } = mails.wallet;
  const wallet = [changed, recovery_started, recovery_signed, recovered, recovery_stopped];
  const texts = [
    mails.code,
    ...wallet.map(({ subject, body }) => ({ subject, body: `${body}\n\n${about}` })),
    { subject: mails.endpoint.testSubject, body: mails.endpoint.body },
    { subject: mails.endpoint.liveSubject, body: mails.endpoint.body },
    { subject: signInUser.mailSubject, body: signInUser.mailBody },
    { subject: signInUser.inviteSubject, body: signInUser.inviteBody },
    passkey.mails.added,
    passkey.mails.removed,
    { subject: dashboard.profile.mailSubject, body: dashboard.profile.mailBody },
  ];
  const figures = { code: '012345', oldWallet: '0xold', newWallet: '0xnew', url: 'https://hook.example/?a&b' };
  const values = {
    partner: '<b>Corner</b>\nShops',
    merchant: 'Ada & Bob',
    account: 'a-number',
    time: '21:00 UTC',
    reason: 'Because.',
    place: 'Höker',
  };
  const links = { link, signIn: 'https://pay.example/sign-in' };
  return texts.map((text) => writeNotice({ words, branding, ...text, values, figures, links, button: 'Press' }));
}

test('each mail in each language → written whole, from the right where it is read so; nothing in it is HTML of others', () => {
  for (const language of languages) {
    const direction = language === 'ar' ? 'rtl' : 'ltr';
    const notices = noticesIn(language);
    assert.equal(new Set(notices.map(({ subject }) => subject)).size, notices.length);
    for (const { subject, body, html } of notices) {
      assert.match(html, new RegExp(`<html lang="${language}" dir="${direction}">`));
      assert.match(html, new RegExp(`<div lang="${language}" dir="${direction}"`));
      assert.ok(!/[{}\n]/.test(subject), subject);
      assert.ok(!/[{}]/.test(body.replace(/\{(?!\w+\})/g, '')), body);
      assert.ok(!html.includes('<b>') && !html.includes('<Söhne>'), html);
      assert.ok(!/src=|@import|url\(/.test(html), 'nothing is loaded');
    }
  }
});

test('an address of ours as a paragraph → a button, and readable; in a sentence → a link; a code → large, a sentence of ours not', () => {
  const [code, , started, , , , disabled, , signIn, invitation] = noticesIn('en');
  assert.match(code?.html ?? '', /font-size:28px[^>]*>012345</);
  assert.match(disabled?.html ?? '', /<p style="[^"]*"><bdi>Because\.<\/bdi><\/p>/);
  const shown = 'https://pay.example/link/abc?x=1&amp;y=2';
  for (const notice of [started, signIn, invitation]) {
    assert.ok(notice?.body.includes(`\n\n${link}\n`));
    assert.match(notice?.html ?? '', new RegExp(`<a href="${shown.replace(/[?.]/g, '\\$&')}"[^>]*>Press</a>`));
    assert.ok(notice?.html.includes(`>${shown}</p>`));
  }
  assert.match(
    invitation?.html ?? '',
    /<a href="https:\/\/pay\.example\/sign-in"[^>]*>https:\/\/pay\.example\/sign-in<\/a>/,
  );
});

test('a mail with a code → its subject begins with the code in every language, so that a locked screen shows it', () => {
  for (const language of languages) assert.match(mailTexts(wordsOf(language)).code.subject, /^\{code\}/);
});

test('A name with line breaks or direction overrides → stays within its sentence, in subject and text', () => {
  const words = wordsOf('en');
  const values = { partner: 'Ada\u202e Ltd\n\nYour account is blocked. Call us' };
  const { mailSubject: subject, mailBody: body } = dashboardTexts(words).profile;
  const notice = writeNotice({ words, branding, subject: `${subject} {partner}`, body, values });
  assert.match(notice.subject, /Ada Ltd Your account is blocked\. Call us$/);
  assert.match(notice.body, /Ada Ltd Your account is blocked\. Call us/);
  assert.equal(notice.body.split('\n\n').length, body.trim().split('\n\n').length);
});

test('A name that is an address → no mail program makes a link of it; the subject, where none does, has it as it is', () => {
  const { mailSubject: subject, mailBody: body } = dashboardTexts(wordsOf('en')).profile;
  const values = { partner: 'https://evil.example/login' };
  const notice = writeNotice({ words: wordsOf('en'), branding, subject: `${subject} {partner}`, body, values });
  for (const text of [notice.body, notice.html]) {
    assert.match(text, /evil\.\u200cexample/);
    assert.doesNotMatch(text.replace(/<title>.*<\/title>/, ''), /https:\/\/evil|evil\.example/);
  }
  assert.match(notice.subject, / https:\/\/evil\.example\/login$/);
});
