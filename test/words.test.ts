import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errors } from '../src/errors.ts';
import { apiGuide } from '../src/http/api-guide.ts';
import { allTexts, type Group, isPlural } from './support/texts.ts';

/** Words that English-speaking readers stumble over, and their replacements. */
const avoided: [phrase: RegExp, instead: string][] = [
  [/\bis like this\b/i, 'No … match'],
  [/\banew\b/i, 'again'],
  [/\bgo on\b/i, 'Continue'],
  [/\bgoes on\b/i, 'continues'],
  [/\bhas done its work\b/i, 'has already been used'],
  [/\b(has|have) run out\b/i, 'has expired'],
  [/\bran out\b/i, 'expired'],
  [/\blives? (for|as|until|\d|seven)/i, 'expires in'],
  [/\bnot said\b/i, 'Not specified'],
  [/\bmend(s|ed)?\b/i, 'Fix'],
  [/\btaken into a block\b/i, 'confirmed'],
  [/\b(came|comes) too much\b/i, 'Overpaid by …'],
  [/\bpays nothing\b/i, 'does not match a request'],
  [/\bask(s|ed)? for money\b/i, 'Request payment'],
  [/\bhand in\b/i, 'Submit'],
  [/\bone of ours\b/i, 'valid'],
  [/\bmailbox\b/i, 'inbox'],
  [/\b(give|gave|given|giving) (it |them |this |the money )?back\b/i, 'refund'],
  [/\b(switch|switched) (yourself |you )?(off|on)\b/i, 'disable, enable'],
  [/\bby hand\b/i, 'manually'],
  [/\b(was|were|been) given up\b/i, 'failed'],
  [/\bno fresh\b/i, 'no current'],
  [/\bstuck things\b/i, 'Needs attention'],
  [/\brequest over\b/i, 'request for'],
  [/\b(the|your) present (wallet|one|URL)\b/i, 'current'],
  [/\bis no (valid )?(wallet|transaction|colour|rate|currency|e-mail)/i, 'is not a …'],
  [/\b(Merchant|Request|Plan|Delivery) number\b/i, '… ID'],
  [/\bpayment page\b/i, 'pay page'],
  [/^((all|view) )?deliveries$|\bits delivery\b/i, 'events; each has delivery attempts'],
  [/\b(in|of|from) (the|that) answer\b/i, 'response'],
  [/\bMake (a|the|an) (key|merchant|request|new secret)\b/i, 'Create'],
];

/** Every text of a group with its path. */
const texts = (group: Group, path: string): [path: string, text: string][] =>
  Object.entries(group).flatMap(([key, value]) => {
    if (typeof value === 'string') return [[`${path}.${key}`, value]];
    if (isPlural(value))
      return Object.values(value).map((text): [string, string] => [`${path}.${key}`, text as string]);
    return texts(value, `${path}.${key}`);
  });

test('English of pages, mails, errors and the API’s guide → without the phrases that readers stumble over', async () => {
  const spoken = [
    ...texts(await allTexts('en'), 'en'),
    ...Object.entries(errors).map(([code, [, message]]): [string, string] => [`errors.${code}`, message]),
    ...apiGuide('https://pay.example')
      .split('\n')
      .map((line, number): [string, string] => [`the API’s guide, line ${number + 1}`, line]),
  ];
  // The terms bind as they were accepted; another wording takes a new version.
  const free = spoken.filter(([path]) => !path.startsWith('en.onboarding.terms.'));
  const found = free.flatMap(([path, text]) =>
    avoided.filter(([phrase]) => phrase.test(text)).map(([, instead]) => `${path}: “${text}” (say: ${instead})`),
  );
  assert.deepEqual(found, []);
});
