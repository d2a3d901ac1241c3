/** Why onboarding does not go on, for people: what happened and what to do. Status is that of the page that says so. */
export const onboardingRefusals = {
  link_unknown: [
    404,
    'This link is not one of ours',
    'Open it again as it was sent to you, whole, or ask whoever sent it for a new one.',
  ],
  link_expired: [
    410,
    'This link has run out',
    'Links live for seven days. Ask whoever sent it for a fresh one; what you entered is kept.',
  ],
  link_used: [
    410,
    'This link has done its work',
    'Onboarding was completed with it, so it opens nothing any more. If that was not you, tell whoever sent it at once.',
  ],
  email_code_needed: [403, 'The code from the e-mail is missing', 'Have a code sent and enter it first.'],
  email_code_wrong: [403, 'This code is not right', 'Look at the newest e-mail and enter its six digits.'],
  email_code_expired: [403, 'This code has run out', 'Codes live for 15 minutes. Have a new one sent.'],
  email_code_exhausted: [
    429,
    'Too many wrong codes',
    'For safety no code is taken for now. Wait 15 minutes, then have a new one sent.',
  ],
  email_code_just_sent: [
    429,
    'A code was sent a moment ago',
    'Look into your mailbox, the spam folder too. After one minute another one can be sent.',
  ],
  details_invalid: [400, 'Some details need another look', 'They are marked below.'],
  wallet_malformed: [
    400,
    'This is no wallet address',
    'An address is 0x followed by 40 digits and letters from a to f.',
  ],
  wallet_differs: [
    409,
    'This is not the wallet that was announced',
    'The partner who invited you named a certain wallet. Sign with that one, or ask them to change it.',
  ],
  wallet_taken: [
    409,
    'This wallet already belongs to another merchant',
    'A wallet serves one merchant only. Use another one, or ask whoever sent the link for help if this one is yours.',
  ],
  wallet_not_deployed: [
    400,
    'This smart wallet is not deployed yet',
    'We must check its signature against its code on a chain. Make a first transaction with it on one of our networks, then sign again.',
  ],
  chain_unreachable: [
    503,
    'The network could not be asked about this wallet',
    'This is no fault of yours. Nothing was changed; try again in a minute.',
  ],
  chain_unknown: [400, 'This network is not offered', 'Choose one of the networks in the list.'],
  message_changed: [
    400,
    'The signed message is not the one we gave',
    'Start again and sign the message exactly as it is shown.',
  ],
  message_used: [
    409,
    'This message was used already, or has run out',
    'Each message counts once, for 15 minutes. Start again to get a new one.',
  ],
  signature_invalid: [
    403,
    'The signature is not from this wallet',
    'Sign the whole message with the wallet whose address is shown in it, then paste the signature.',
  ],
  terms_not_accepted: [400, 'The terms were not accepted', 'Read them and tick the box if you agree.'],
  too_many_attempts: [429, 'Too many attempts', 'Wait a minute, then go on.'],
} as const satisfies Record<string, readonly [status: number, title: string, advice: string]>;

export type OnboardingReason = keyof typeof onboardingRefusals;

/** An expected failure of onboarding. Thrown, so that an open transaction rolls back; the page turns it into words. */
export class OnboardingRefusal extends Error {
  readonly reason: OnboardingReason;
  /** Faults of single fields of the details, by the field's name. */
  readonly faults: Record<string, string>;
  constructor(reason: OnboardingReason, faults: Record<string, string> = {}) {
    const [, title, advice] = onboardingRefusals[reason];
    super(`${title}. ${advice}`);
    this.reason = reason;
    this.faults = faults;
  }
}
