import type { UrlFault } from '../net/guard.ts';

/** Why an action on an endpoint was refused. Pages word it themselves, by the reason. */
export type EndpointRefusalReason = 'no_url' | 'nothing_pending' | 'other_pending';

/** An expected failure, thrown so that an open transaction rolls back. Its message is for the command line. */
export class EndpointRefusal extends Error {
  readonly reason: EndpointRefusalReason;
  constructor(reason: EndpointRefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** As `EndpointRefusal`, for a URL that breaks a rule. */
export class UrlRefusal extends Error {
  readonly rule: UrlFault['rule'];
  constructor({ rule, message }: UrlFault) {
    super(message);
    this.rule = rule;
  }
}
