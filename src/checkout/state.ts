import { minuteMs } from '../lib/durations.ts';
import type { HandedInProgress } from '../payments/authorized/progress.ts';
import type { PaymentProgress, TransferProgress } from '../payments/proof/progress.ts';
import { leastPartMicro } from '../payments/rules.ts';
import type { SubmittedTransaction } from '../payments/submitted/follow.ts';
import type { MisdirectedPayment } from '../payments/unmatched/misdirected.ts';
import type { NearPayment } from '../payments/unmatched/near.ts';
import type { RequestRow } from '../requests/store.ts';

/** Where a payment stands, for its customer. */
export type PayState =
  | { kind: 'waiting' }
  /** `open`: what can be paid all the same, since anybody can send what looks like a payment. */
  | { kind: 'seen'; submitted: SubmittedTransaction; open: 'whole' | 'rest' | 'no'; missingMicro: bigint }
  /** The customer has signed, and we send it. `open`: what can be paid all the same, once it takes long. */
  | { kind: 'sending'; handedIn: HandedInProgress; open: 'whole' | 'rest' | 'no'; missingMicro: bigint }
  /** What was signed moved nothing. `holds`: somebody could still execute it. */
  | { kind: 'unsent'; open: 'whole' | 'rest'; missingMicro: bigint; holds: boolean }
  /** `needed` null: the chain says by a tag when it is final. */
  | { kind: 'confirming'; chainId: number; seen: number; needed: number | null }
  | { kind: 'paid'; overMicro: bigint; late: boolean }
  | { kind: 'part'; paidMicro: bigint; missingMicro: bigint }
  | { kind: 'expired'; paidMicro: bigint }
  /** `paidMicro` arrived before it was cancelled. */
  | { kind: 'voided'; paidMicro: bigint }
  /** Money came after the request had ended. */
  | { kind: 'too_late'; micro: bigint; voided: boolean }
  | { kind: 'reorged' }
  | { kind: 'failed' | 'replaced' | 'gone'; submitted: SubmittedTransaction }
  | { kind: 'stray'; payment: MisdirectedPayment }
  /** Nearly the amount arrived, and it can be meant for no other request. */
  | { kind: 'near'; payment: NearPayment };

export type Known = {
  row: Pick<RequestRow, 'status' | 'proof_status' | 'proof_note' | 'expires_at' | 'voided_at' | 'usdc_micro'>;
  status: string;
  progress: PaymentProgress;
  submitted: SubmittedTransaction[];
  handedIn: HandedInProgress[];
  misdirected: MisdirectedPayment[];
  now: Date;
};

/** What is under way takes the ways to pay away for so long, from when the first was submitted on. */
const submittedHoldsMs = 2 * minuteMs;

/** What was signed and moved nothing is told for so long after it has ended. */
const unsentToldMs = 30 * minuteMs;

/** Decides what the customer must know now: what is proved comes before what was only heard of. */
export function payState(known: Known): PayState {
  const { row, status, progress, submitted, misdirected, now } = known;
  const { receivedMicro, soundMicro, asked, overpaidMicro } = progress;
  if (row.proof_status === 'verified') {
    const late = progress.transfers.some(({ blockTime }) => blockTime > row.expires_at);
    return { kind: 'paid', overMicro: overpaidMicro, late };
  }
  if (row.proof_status === 'attached') return confirming(progress);
  const ended = progress.unmatched.filter(({ reason }) => reason === 'late' || reason === 'voided');
  const inTime = ended.filter(({ blockTime }) => row.voided_at !== null && blockTime < row.voided_at);
  const micro = largest(ended.filter((transfer) => !inTime.includes(transfer)));
  if (micro > 0n) return { kind: 'too_late', micro, voided: status === 'voided' };
  if (status === 'voided') return { kind: 'voided', paidMicro: sumOf(inTime) };
  const under = sendingState(known) ?? seenState(known);
  if (under) return under;
  if (status === 'expired') return { kind: 'expired', paidMicro: receivedMicro };
  const [last] = known.handedIn;
  const holds = last !== undefined && now < last.validBefore;
  const isNews = last && now.getTime() - last.validBefore.getTime() < unsentToldMs && soundMicro < leastPartMicro;
  if (holds || isNews) return { kind: 'unsent', ...dueOf(progress), holds };
  if (asked.isRest) return { kind: 'part', paidMicro: soundMicro, missingMicro: asked.micro };
  const [lost] = submitted;
  // What a reorganisation took away is gone for a reason that its customer should hear.
  if (row.proof_note === 'reorged' && (!lost || lost.state === 'gone')) return { kind: 'reorged' };
  if (lost && lost.state !== 'seen' && lost.state !== 'mined') return { kind: lost.state, submitted: lost };
  const [wrong] = misdirected;
  if (wrong) return { kind: 'stray', payment: wrong };
  const near = likelyPayment(progress);
  return near ? { kind: 'near', payment: near } : { kind: 'waiting' };
}

/** Anybody can send dust that names a request: it must not hide what was paid. */
function largest(transfers: TransferProgress[]): bigint {
  let most = 0n;
  for (const { usdcMicro } of transfers) if (usdcMicro > most) most = usdcMicro;
  return most;
}

const sumOf = (transfers: TransferProgress[]): bigint => transfers.reduce((sum, { usdcMicro }) => sum + usdcMicro, 0n);

/** The newest payment near to this request and to no other: whoever opens the page may know of it. */
export function likelyPayment({ near }: Pick<PaymentProgress, 'near'>): NearPayment | null {
  return near.find(({ others }) => others === 0) ?? null;
}

/** What is asked for: the rest after a partial payment that is worth it, otherwise the whole amount. */
function dueOf({ asked }: PaymentProgress): { open: 'whole' | 'rest'; missingMicro: bigint } {
  return { open: asked.isRest ? 'rest' : 'whole', missingMicro: asked.micro };
}

/** What was signed and is being sent: nothing else can be paid meanwhile, unless it takes long. */
function sendingState({ status, progress, handedIn, now }: Known): PayState | null {
  const sent = handedIn.find(({ state }) => state === 'sent');
  if (!sent) return null;
  const { open, missingMicro } = dueOf(progress);
  const holds = status === 'expired' || now.getTime() - sent.handedInAt.getTime() < submittedHoldsMs;
  return { kind: 'sending', handedIn: sent, open: holds ? 'no' : open, missingMicro };
}

/**
 * A transaction in progress. It replaces the payment methods only if it would pay everything missing, and only for a
 * while: it may never be mined.
 */
function seenState({ status, progress, submitted, now }: Known): PayState | null {
  const underWay = submitted.filter(({ state }) => state === 'seen' || state === 'mined');
  const { soundMicro, dueMicro } = progress;
  const missingMicro = dueMicro - soundMicro;
  const suffices = ({ usdcMicro, heardAt }: SubmittedTransaction) =>
    usdcMicro !== null && usdcMicro >= missingMicro && now.getTime() - heardAt.getTime() < submittedHoldsMs;
  const one = underWay.find(suffices) ?? underWay[0];
  if (!one) return null;
  const due = dueOf(progress);
  const open = status === 'expired' || suffices(one) ? 'no' : due.open;
  return { kind: 'seen', submitted: one, open, missingMicro: due.missingMicro };
}

/** The transfer that needs longest decides. */
function confirming({ transfers }: PaymentProgress): PayState {
  const open = transfers.filter(({ final }) => !final);
  const last = (open.length > 0 ? open : transfers).at(-1);
  if (!last) return { kind: 'waiting' };
  const needed = last.neededConfirmations;
  const seen = needed === null ? last.confirmations : Math.min(last.confirmations, needed);
  return { kind: 'confirming', chainId: last.chainId, seen, needed };
}

/** Whether the request still takes money: the whole amount, only the rest, or none. */
export function payable(state: PayState): 'whole' | 'rest' | 'no' {
  switch (state.kind) {
    case 'seen':
    case 'sending':
    case 'unsent':
      return state.open;
    case 'waiting':
    case 'reorged':
    case 'failed':
    case 'replaced':
    case 'gone':
    case 'stray':
    case 'near':
      return 'whole';
    case 'part':
      return 'rest';
    default:
      return 'no';
  }
}

/** Whether the page changes no more by itself. */
export function isOver(state: PayState): boolean {
  return state.kind === 'paid' || state.kind === 'voided' || state.kind === 'too_late';
}
