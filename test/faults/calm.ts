import { pause } from '../../src/lib/time.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { acknowledge, Broken, cancelAgain, type Follower, handIn, lookAtWallet } from './actions.ts';
import { claimFor } from './claims.ts';
import { explainMissing } from './explain.ts';
import { buriedDepth, isWorthless, type MadeOrder, type Payment } from './model.ts';
import { blocksToFinality, compareSums, type Difference, differences, lookAtChain } from './settled.ts';
import type { Stage } from './stage.ts';
import type { FaultKind } from './steps.ts';
import { finishOnboarding } from './wallets.ts';

/** Once nothing is broken any more, nothing may be unsettled for longer. */
const boundMs = 120_000;
/** Waits that the service counts in minutes are shortened from then on. */
const patienceMs = 12_000;
const shown = 12;
/** How often parties check before they do what only a lying endpoint makes necessary. */
const patientTurns = 8;

/**
 * Waits until the service agrees with the model. Meanwhile parties ask again for what they were not told, as they do,
 * and blocks are mined.
 *
 * @param kinds what may have broken: payers submit the hash of a missing payment only if an endpoint may have hidden it
 * @returns after how many milliseconds it agreed
 * @throws Broken with what differs once the bound is over
 */
export async function calm(stage: Stage, followers: readonly Follower[], kinds: readonly FaultKind[]): Promise<number> {
  const mayBeHidden = kinds.some((kind) => kind.startsWith('lie-'));
  const startedAt = performance.now();
  let left: Difference[] = [];
  let wrongSums: string[] = [];
  for (let turn = 0; performance.now() - startedAt < boundMs; turn++) {
    for (const chain of [stage.chain, stage.elsewhere]) await chain.mine(turn === 0 ? blocksToFinality : 1);
    await lookAtChain(stage, await headNumber(stage.chain.chain), buriedDepth);
    const asked = await askAgain(stage, turn, left, followers);
    if (mayBeHidden && turn > patientTurns) await handInMissing(stage, turn, left);
    left = await differences(stage);
    wrongSums = [];
    if (asked && left.length === 0) {
      // A transaction can be mined between reading the chain and reading the balance.
      wrongSums = await compareSums(stage);
      if (wrongSums.length === 0) return performance.now() - startedAt;
    }
    if (performance.now() - startedAt > patienceMs) await shortenWaits(stage);
    await pause(250);
  }
  const lines = left.slice(0, shown).map(({ what }) => `  ${what}`);
  lines.push(...wrongSums.map((sum) => `  ${sum}`));
  if (lines.length === 0) lines.push('  a call is answered by nobody');
  lines.push(...(await explainMissing(stage, left)));
  throw new Broken(`after ${boundMs / 1000} s of calm ${left.length} differ:\n${lines.join('\n')}`);
}

/** The nodes in turn. */
const nodeOf = (turn: number): number => (turn % 2 === 0 ? 0 : 0.9);

/** The payers of missing payments submit their hashes. */
async function handInMissing(stage: Stage, turn: number, left: readonly Difference[]): Promise<void> {
  for (const { missing } of left) if (missing) await handIn(stage, missing, missing.order as MadeOrder, nodeOf(turn));
}

/** @returns false while somebody was not answered */
async function askAgain(
  stage: Stage,
  turn: number,
  left: readonly Difference[],
  followers: readonly Follower[],
): Promise<boolean> {
  const { model } = stage;
  const share = nodeOf(turn);
  await finishOnboarding(stage, turn);
  for (const order of model.orders.filter(({ id }) => id === null)) await acknowledge(stage, order, share);
  for (const order of model.made()) await lookAtWallet(stage, order);
  for (const order of model.made().filter(({ cancelled }) => cancelled === 'unsure'))
    await cancelAgain(stage, order, share);
  for (const payment of model.payments.filter((one) => one.refund === 'unsure')) {
    const rows = await stage.database
      .owner`select from returns where tx_hash = ${payment.txHash} and request_id is null`;
    payment.refund = rows.length > 0 ? 'yes' : 'no';
  }
  const unpaid = left.flatMap(({ order }) => order?.payments ?? []);
  // A payment that was misread as one of a request that takes none is unmatched. Its payer claims it by a signature; who
  // paid with another's reference does not, as the service would rightly take the signature's word for it.
  const isMisread = (payment: Payment) =>
    turn > patientTurns && model.misread.has(payment.txHash) && !isWorthless(payment);
  for (const payment of unpaid.filter((one) => one.refund !== 'yes' && (one.claimed || isMisread(one))))
    await claimFor(stage, payment, share);
  const seen = await Promise.all(followers.map((follower) => follower.follow(stage, share, 1000)));
  if (seen.includes(false)) return false;
  for (const { partner, seen: ids } of followers) {
    const gap = model.made().find((order) => order.partner === partner && !ids.has(order.id));
    if (gap) throw new Broken(`who follows the list by since never saw the acknowledged request ${gap.id}`);
  }
  return true;
}

/** The service puts off what fails, and believes a denial after two minutes: as if these had passed. */
async function shortenWaits({ database: { owner } }: Stage): Promise<void> {
  await owner`
    update transfers set look_at = now(), denied_at = denied_at - interval '1 minute'
    where judged_at is null or (counts and final_at is null)`;
  await owner`update unread_transactions set look_at = now() where stored_at is null`;
}
