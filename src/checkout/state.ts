import { minuteMs } from '../lib/durations.ts';
import type { AuthorizationProgress } from '../payments/authorized/progress.ts';
import type { PaymentProgress, TransferProgress } from '../payments/proof/progress.ts';
import { minPartMicro } from '../payments/rules.ts';
import type { SubmittedTransaction } from '../payments/submitted/follow.ts';
import type { MisdirectedPayment } from '../payments/unmatched/misdirected.ts';
import type { NearMatch } from '../payments/unmatched/near-matches.ts';
import type { RequestRow } from '../requests/store.ts';

/** The state of a payment, for its customer. */
export type PayState =
  | { kind: 'waiting' }
  /** `open`: what can still be paid, because anybody can send something that looks like a payment. */
  | { kind: 'seen'; submitted: SubmittedTransaction; open: 'whole' | 'rest' | 'no'; missingMicro: bigint }
  /** The customer has signed, and we send it. `open`: what can still be paid; nothing until it takes long. */
  | { kind: 'sending'; authorization: AuthorizationProgress; open: 'whole' | 'rest' | 'no'; missingMicro: bigint }
  /** The signed payment moved nothing. `holds`: somebody could still execute it. */
  | { kind: 'unsent'; open: 'whole' | 'rest'; missingMicro: bigint; holds: boolean }
  /** `needed` null: the chain itself reports when a block is final. */
  | { kind: 'confirming'; chainId: number; seen: number; needed: number | null }
  | { kind: 'paid'; late: boolean }
  | { kind: 'part'; paidMicro: bigint; missingMicro: bigint }
  | { kind: 'expired'; paidMicro: bigint }
  /** `paidMicro` arrived before the request was cancelled. */
  | { kind: 'voided'; paidMicro: bigint }
  /** Money arrived after the request had ended. */
  | { kind: 'too_late'; micro: bigint; voided: boolean }
  | { kind: 'reorged' }
  | { kind: 'failed' | 'replaced' | 'gone'; submitted: SubmittedTransaction }
  | { kind: 'stray'; payment: MisdirectedPayment }
  /** Almost the amount arrived, and it cannot be meant for another request. */
  | { kind: 'near'; payment: NearMatch };

export type PaymentFacts = {
  row: Pick<RequestRow, 'status' | 'proof_status' | 'proof_note' | 'expires_at' | 'voided_at' | 'usdc_micro'>;
  status: string;
  progress: PaymentProgress;
  submitted: SubmittedTransaction[];
  authorizations: AuthorizationProgress[];
  misdirected: MisdirectedPayment[];
  now: Date;
};

/** For how long a payment under way hides the payment methods, from when it was first submitted. */
const submittedHoldsMs = 2 * minuteMs;

/** How long a page still reports a signed payment that moved nothing, after its signature expired. */
const unsentShownMs = 30 * minuteMs;

/** Decides what the customer must know now. What is proved comes before what was only reported. */
export function payState(known: PaymentFacts): PayState {
  const { row, status, progress, submitted, misdirected, now } = known;
  const { receivedMicro, undoubtedMicro, asked } = progress;
  if (row.proof_status === 'verified') {
    const late = progress.transfers.some(({ blockTime }) => blockTime > row.expires_at);
    return { kind: 'paid', late };
  }
  if (row.proof_status === 'attached') return confirming(progress);
  const ended = progress.unmatched.filter(({ reason }) => reason === 'late' || reason === 'voided');
  const inTime = ended.filter(({ blockTime }) => row.voided_at !== null && blockTime < row.voided_at);
  const micro = largest(ended.filter((transfer) => !inTime.includes(transfer)));
  if (micro > 0n) return { kind: 'too_late', micro, voided: status === 'voided' };
  if (status === 'voided') return { kind: 'voided', paidMicro: sumOf(inTime) };
  const underWay = sendingState(known) ?? seenState(known);
  if (underWay) return underWay;
  if (status === 'expired') return { kind: 'expired', paidMicro: receivedMicro };
  const [lastSigned] = known.authorizations;
  const holds = lastSigned !== undefined && now < lastSigned.validBefore;
  const isNews =
    lastSigned && now.getTime() - lastSigned.validBefore.getTime() < unsentShownMs && undoubtedMicro < minPartMicro;
  if (holds || isNews) return { kind: 'unsent', ...dueOf(progress), holds };
  if (asked.isRest) return { kind: 'part', paidMicro: undoubtedMicro, missingMicro: asked.micro };
  const [newest] = submitted;
  // A reorganisation removed the payment. Its customer should know this reason.
  if (row.proof_note === 'reorged' && (!newest || newest.state === 'gone')) return { kind: 'reorged' };
  if (newest && newest.state !== 'seen' && newest.state !== 'mined') return { kind: newest.state, submitted: newest };
  const [wrong] = misdirected;
  if (wrong) return { kind: 'stray', payment: wrong };
  const near = likelyPayment(progress);
  return near ? { kind: 'near', payment: near } : { kind: 'waiting' };
}

/** The largest counts, because anybody can send dust that names a request, and it must not hide what was paid. */
function largest(transfers: TransferProgress[]): bigint {
  let largestMicro = 0n;
  for (const { usdcMicro } of transfers) if (usdcMicro > largestMicro) largestMicro = usdcMicro;
  return largestMicro;
}

const sumOf = (transfers: TransferProgress[]): bigint => transfers.reduce((sum, { usdcMicro }) => sum + usdcMicro, 0n);

/** The newest payment near to this request and to no other. Everybody who opens the page may see it. */
export function likelyPayment({ near }: Pick<PaymentProgress, 'near'>): NearMatch | null {
  return near.find(({ others }) => others === 0) ?? null;
}

/** What is due: the rest after a partial payment that is large enough, otherwise the whole amount. */
function dueOf({ asked }: PaymentProgress): { open: 'whole' | 'rest'; missingMicro: bigint } {
  return { open: asked.isRest ? 'rest' : 'whole', missingMicro: asked.micro };
}

/** A signed payment that is being sent. Nothing else can be paid meanwhile, unless it takes long. */
function sendingState({ status, progress, authorizations, now }: PaymentFacts): PayState | null {
  const sent = authorizations.find(({ state }) => state === 'sent');
  if (!sent) return null;
  const { open, missingMicro } = dueOf(progress);
  const holds = status === 'expired' || now.getTime() - sent.submittedAt.getTime() < submittedHoldsMs;
  return { kind: 'sending', authorization: sent, open: holds ? 'no' : open, missingMicro };
}

/**
 * A transaction in progress. It hides the payment methods only if it would pay everything that is missing, and only for
 * a while, because it may never be mined.
 */
function seenState({ status, progress, submitted, now }: PaymentFacts): PayState | null {
  const underWay = submitted.filter(({ state }) => state === 'seen' || state === 'mined');
  const { undoubtedMicro, dueMicro } = progress;
  const missingMicro = dueMicro - undoubtedMicro;
  const suffices = ({ usdcMicro, reportedAt }: SubmittedTransaction) =>
    usdcMicro !== null && usdcMicro >= missingMicro && now.getTime() - reportedAt.getTime() < submittedHoldsMs;
  const one = underWay.find(suffices) ?? underWay[0];
  if (!one) return null;
  const due = dueOf(progress);
  const open = status === 'expired' || suffices(one) ? 'no' : due.open;
  return { kind: 'seen', submitted: one, open, missingMicro: due.missingMicro };
}

/** The state of transfers that are not final yet: that of the one that needs longest. */
function confirming({ transfers }: PaymentProgress): PayState {
  const open = transfers.filter(({ final }) => !final);
  const last = (open.length > 0 ? open : transfers).at(-1);
  if (!last) return { kind: 'waiting' };
  const needed = last.neededConfirmations;
  const seen = needed === null ? last.confirmations : Math.min(last.confirmations, needed);
  return { kind: 'confirming', chainId: last.chainId, seen, needed };
}

/** What the request still accepts: the whole amount, only the rest, or nothing. */
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

/** Whether the page no longer updates itself. */
export function isOver(state: PayState): boolean {
  return state.kind === 'paid' || state.kind === 'voided' || state.kind === 'too_late';
}

/** Whether nothing more is expected from the customer: it is paid, or can no longer be. */
export function isEnded(state: PayState): boolean {
  return isOver(state) || state.kind === 'expired';
}
