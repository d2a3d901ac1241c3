import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callLimitMs } from '../src/auth/api-route.ts';
import { merchantSession } from '../src/auth/merchant-session.ts';
import { linkMs } from '../src/auth/sign-in-link.ts';
import { userSessionLimits } from '../src/auth/user-session.ts';
import { readConfig } from '../src/config.ts';
import { apiGuide } from '../src/http/api-guide.ts';
import { arrivalMs } from '../src/http/client-errors.ts';
import { dayMs, hourMs, minuteMs } from '../src/lib/durations.ts';
import { detailLimits } from '../src/merchants/details.ts';
import { graceMs } from '../src/payments/rules.ts';
import { invoiceExpiryMinutes, metadataLimits, textLimits } from '../src/requests/rules.ts';
import { languages } from '../src/ui/language.ts';
import { activateAfterMs, disableAfterMs } from '../src/webhooks/rules.ts';
import { allTexts, type Group } from './support/texts.ts';

const root = join(import.meta.dirname, '..');
const guide = 'src/http/api-guide.ts';
const schedule = readConfig({ SECRET_KEYS: `t:${Buffer.alloc(32).toString('base64')}` }).webhookScheduleMs;
const sumHours = Math.round(schedule.reduce((sum, ms) => sum + ms, 0) / hourMs);
const { idleMs, absoluteMs } = merchantSession;
const operator = userSessionLimits.operator;

/** A wait as documents write it: `30 s`, `2 min`, `5 h`. */
function short(ms: number): string {
  if (ms < minuteMs) return `${ms / 1000} s`;
  return ms < hourMs ? `${ms / minuteMs} min` : `${ms / hourMs} h`;
}

const waits = `${schedule.slice(1, -1).map(short).join(', ')} and ${short(schedule.at(-1) ?? 0)}`;

/** Sentences of documents with a figure of a rule, as they have to be. */
const sentences: [file: string, sentence: string][] = [
  [guide, `A payment up to ${graceMs / minuteMs} minutes late still counts.`],
  [guide, `A call that has arrived is answered within ${callLimitMs / 1000} seconds`],
  [guide, `A call has ${arrivalMs / 1000} seconds to arrive.`],
  [guide, `**Paid more than ${graceMs / minuteMs} minutes late,`],
  [guide, `because a payment up to ${graceMs / minuteMs} minutes late counts`],
  [guide, `after ${activateAfterMs / hourMs} hours it becomes active by itself`],
  [guide, `anything else is retried for about ${sumHours} hours`],
  [guide, `nothing succeeds for ${disableAfterMs / hourMs} hours, it is disabled`],
  [guide, `retried for about ${sumHours} hours: after ${waits}, each`],
  ['docs/webhooks.md', `retried after ${waits}, each`],
  ['docs/webhooks.md', `has not succeeded for ${disableAfterMs / hourMs} hours`],
  ['docs/operating.md', `after ${disableAfterMs / hourMs} hours without success`],
  ['docs/operating.md', `Attempts of one event end after about ${sumHours} hours`],
  ['docs/operating.md', `ends after ${idleMs / hourMs} hours of inactivity and after ${absoluteMs / dayMs} days`],
  [
    'docs/operating.md',
    `operator's after ${operator.idleMs / minuteMs} minutes and ${operator.absoluteMs / hourMs} hours`,
  ],
  ['docs/operating.md', `It is valid for ${linkMs / minuteMs} minutes`],
  ['docs/security.md', `with its headers and its body | ${arrivalMs / 1000} seconds`],
  ['docs/security.md', `ends after ${idleMs / hourMs} idle hours or ${absoluteMs / dayMs} days`],
  ['docs/security.md', `operators: ${operator.idleMs / minuteMs} minutes or ${operator.absoluteMs / hourMs} hours`],
  ['docs/decisions/0008-events-at-least-once.md', `attempts over about ${sumHours} hours`],
  ['docs/decisions/0008-events-at-least-once.md', `without success for ${disableAfterMs / hourMs} hours`],
];

/** Texts of pages and mails with a figure of a rule, in every language. */
const texts: [figure: number, paths: string[]][] = [
  [
    graceMs / minuteMs,
    ['pay.statusMessage.expiredRest', 'pay.proof.late', 'dashboard.reason.late', 'portal.request.lateRest'],
  ],
  [disableAfterMs / hourMs, ['portal.overview.disabledSilent', 'admin.stuck.silent', 'mails.endpoint.failing']],
  [
    activateAfterMs / hourMs,
    ['portal.webhooks.pendingMadeRest', 'portal.webhooks.rotateRest', 'portal.webhooks.pendingRest'],
  ],
  [(invoiceExpiryMinutes * minuteMs) / dayMs, ['portal.settings.expiryRest']],
  [detailLimits.business_name, ['portal.merchants.hints.business_name', 'portal.merchants.faults.business_name']],
  [detailLimits.display_name, ['portal.merchants.hints.display_name', 'portal.merchants.faults.display_name']],
  [textLimits.customer_name, ['dashboard.faults.customerTooLong', 'dashboard.plans.faults.customer']],
  [textLimits.customer_email, ['dashboard.faults.customer_email']],
  [textLimits.customer_phone, ['dashboard.plans.faults.phone']],
  [textLimits.memo, ['dashboard.faults.memo']],
  [metadataLimits.keys, ['dashboard.plans.faults.metadata', 'dashboard.plans.metadataHint']],
  [metadataLimits.key, ['dashboard.plans.faults.metadata']],
  [metadataLimits.value, ['dashboard.plans.faults.metadata']],
  [
    linkMs / minuteMs,
    [
      'sign-in.signInUser.sentRest',
      'sign-in.signInUser.expiredRest',
      'sign-in.signInUser.mailBody',
      'admin.users.invited',
    ],
  ],
];

const inOneLine = (text: string) => text.replace(/\s+/g, ' ');

test('a figure of a rule in a document → the one that the rule has', () => {
  const textOf = (file: string) =>
    file === guide ? apiGuide('https://pay.example') : readFileSync(join(root, file), 'utf8');
  const wrong = sentences.filter(([file, sentence]) => !inOneLine(textOf(file)).includes(sentence));
  assert.deepEqual(wrong, [], 'the documents do not say this');
});

test('a figure of a rule in a text → the one that the rule has, in every language', async () => {
  const wrong: string[] = [];
  for (const language of languages) {
    const all: Group = await allTexts(language);
    for (const [figure, paths] of texts) {
      for (const path of paths) {
        const text = path.split('.').reduce<Group | string>((group, key) => (group as Group)[key] ?? '', all);
        if (!new RegExp(`(?<!\\d)${figure}(?!\\d)`).test(String(text))) wrong.push(`${path} (${language}): ${figure}`);
      }
    }
  }
  assert.deepEqual(wrong, [], 'these texts lack the figure');
});
