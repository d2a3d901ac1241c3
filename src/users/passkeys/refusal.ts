import { en } from '../../texts/sign-in/en.ts';

/** Why a passkey opens or changes nothing; pages say it in their own language. */
export type PasskeyRefusalReason = keyof typeof en.passkey.refusals;

/** True for a word of an address that names such a reason. */
export function isPasskeyRefusal(word: unknown): word is PasskeyRefusalReason {
  return typeof word === 'string' && Object.hasOwn(en.passkey.refusals, word);
}
