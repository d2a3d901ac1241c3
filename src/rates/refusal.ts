/** Why a rate cannot be set. */
export type RateFault = 'currency_unknown' | 'rate_malformed' | 'end_past' | 'deviates';

/** How far a rate is from the sources' rate, in whole percent with its sign. */
export type Deviation = { percent: string; sourcesRate: string };

/** An expected failure. Pages have a text for each reason; the message is for the command line. */
export class RateRefusal extends Error {
  readonly reason: RateFault;
  /** What to show before asking for confirmation; null unless the reason is `deviates`. */
  readonly deviation: Deviation | null;
  constructor(reason: RateFault, message: string, deviation: Deviation | null = null) {
    super(message);
    this.reason = reason;
    this.deviation = deviation;
  }
}
