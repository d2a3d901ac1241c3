import { en } from '../../texts/sign-in/en.ts';

/** Why a passkey was not accepted; pages have a text for each reason. */
export type PasskeyRefusalReason = keyof typeof en.passkey.refusals;

/** Whether a word of a query is such a reason. */
export function isPasskeyRefusal(word: unknown): word is PasskeyRefusalReason {
  return typeof word === 'string' && Object.hasOwn(en.passkey.refusals, word);
}
