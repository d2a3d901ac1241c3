import type { Chance } from './seeded-choices.ts';

/** How a customer pays. `model.ts` says what each way is worth. */
const paymentKinds = [
  'reference',
  'amount',
  'part',
  'rest',
  'too-much',
  'twice',
  'late',
  'too-late',
  'cancelled',
  'wrong-token',
  'rounded',
  'foreign-reference',
  'claim',
  'authorization',
  'charge',
  'mint',
  'elsewhere',
  'contract-claim',
  'contract-claim-elsewhere',
] as const;
export type PaymentKind = (typeof paymentKinds)[number];

/** What breaks, by its name for `--kinds`. */
export const faultKinds = [
  'kill-node',
  'freeze-node',
  'clock',
  'kill-database',
  'kill-session',
  'restart-database',
  'disconnect',
  'disk-full',
  'rpc-errors',
  'rpc-limits',
  'rpc-hang-up',
  'rpc-late',
  'rpc-lag',
  'rpc-stands-still',
  'rpc-goes-back',
  'rpc-no-tags',
  'rpc-giant',
  'rpc-nonsense',
  'rpc-other-chain',
  'rpc-shuffled',
  'rpc-one-refused',
  'rpc-one-giant',
  'lie-reference',
  'lie-no-receipt',
  'lie-older-block',
  'lie-hidden',
  'rates',
  'set-token-missing',
  'set-chain-missing',
  'set-chain-moved',
  'set-new-key',
  'reorg',
  'receiver-hang',
  'receiver-drip',
  'receiver-reset',
  'receiver-redirect',
  'receiver-late',
  'receiver-fault',
  'receiver-endless',
] as const;
export type FaultKind = (typeof faultKinds)[number];

const actWeights = {
  create: 20,
  replay: 8,
  read: 6,
  follow: 3,
  cancel: 4,
  open: 4,
  pay: 24,
  claim: 4,
  steal: 2,
  hash: 5,
  refund: 3,
  resend: 5,
  mine: 11,
  dust: 0.15,
  move: 1.5,
  reset: 1.5,
};
export type ActKind = keyof typeof actWeights;

const paymentWeights: Record<PaymentKind, number> = {
  reference: 6,
  amount: 6,
  part: 3,
  rest: 3,
  'too-much': 2,
  twice: 2,
  late: 1,
  'too-late': 1,
  cancelled: 2,
  'wrong-token': 1,
  rounded: 1,
  'foreign-reference': 1,
  claim: 3,
  authorization: 2,
  charge: 2,
  mint: 1,
  elsewhere: 2,
  'contract-claim': 2,
  'contract-claim-elsewhere': 1,
};

/** Faults that cost much time come more seldom. */
const faultWeights = Object.fromEntries(faultKinds.map((kind) => [kind, 2])) as Record<FaultKind, number>;
Object.assign(faultWeights, {
  ...{ reorg: 14, disconnect: 4, 'kill-node': 4, 'freeze-node': 1, 'disk-full': 1, 'restart-database': 1 },
  ...{ 'lie-reference': 1, 'lie-older-block': 1, 'rpc-giant': 1 },
});

/**
 * One step. It names what it acts on by shares of 0 to 1 of what there is at that moment, so the same seed makes the
 * same steps, whatever has become of them.
 */
export type Step = { number: number; shares: [number, number, number] } & (
  | { kind: Exclude<ActKind, 'pay'> }
  | { kind: 'pay'; how: PaymentKind }
  | { kind: 'fault'; fault: FaultKind }
);

const faultShare = 0.045;

/** The steps of a seed, without end. `kinds`: the faults that may come; none: nothing breaks. */
export function* stepsOf(chance: Chance, kinds: readonly FaultKind[]): Generator<Step, never> {
  const weights = Object.fromEntries(kinds.map((kind) => [kind, faultWeights[kind]])) as Record<FaultKind, number>;
  for (let number = 1; ; number++) {
    const shares: Step['shares'] = [chance.share(), chance.share(), chance.share()];
    if (chance.share() < faultShare && kinds.length > 0) {
      yield { number, shares, kind: 'fault', fault: chance.weighted(weights) };
      continue;
    }
    const kind = chance.weighted(actWeights);
    if (kind === 'pay') yield { number, shares, kind, how: chance.weighted(paymentWeights) };
    else yield { number, shares, kind };
  }
}

/** A step in a word. */
export function nameOf(step: Step): string {
  if (step.kind === 'fault') return step.fault;
  return step.kind === 'pay' ? `pay ${step.how}` : step.kind;
}
