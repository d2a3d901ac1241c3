import { en } from '../texts/sign-in/en.ts';

/** Why a change of a team was refused; pages have a text for each reason. */
export type UserRefusalReason = keyof typeof en.account.refusals;

/** An expected failure, thrown so that an open transaction rolls back. */
export class UserRefusal extends Error {
  readonly reason: UserRefusalReason;
  constructor(reason: UserRefusalReason) {
    super(en.account.refusals[reason]);
    this.reason = reason;
  }
}
