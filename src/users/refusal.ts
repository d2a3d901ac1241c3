import { en } from '../texts/sign-in/en.ts';

/** Why a change of the team does not go on; pages say it in their own language. */
export type UserRefusalReason = keyof typeof en.account.refusals;

/** An expected failure, thrown so that an open transaction rolls back. */
export class UserRefusal extends Error {
  readonly reason: UserRefusalReason;
  constructor(reason: UserRefusalReason) {
    super(en.account.refusals[reason]);
    this.reason = reason;
  }
}
