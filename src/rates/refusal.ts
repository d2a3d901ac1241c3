/** What is wrong with a rate that somebody wants to set. */
export type RateFault = 'currency_unknown' | 'rate_malformed' | 'end_past';

/** An expected failure: pages say it by its reason, in their words; the message is for the command line. */
export class RateRefusal extends Error {
  readonly reason: RateFault;
  constructor(reason: RateFault, message: string) {
    super(message);
    this.reason = reason;
  }
}
