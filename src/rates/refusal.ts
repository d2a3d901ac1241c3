/** What is wrong with a rate that somebody wants to set. */
export type RateFault = 'currency_unknown' | 'rate_malformed' | 'end_past' | 'deviates';

/** How far a rate is from what the sources say, in percent with its sign, and what they say. */
export type Deviation = { percent: string; said: string };

/** An expected failure: pages say it by its reason, in their words; the message is for the command line. */
export class RateRefusal extends Error {
  readonly reason: RateFault;
  /** What to show before it is asked again; null unless it `deviates`. */
  readonly deviation: Deviation | null;
  constructor(reason: RateFault, message: string, deviation: Deviation | null = null) {
    super(message);
    this.reason = reason;
    this.deviation = deviation;
  }
}
