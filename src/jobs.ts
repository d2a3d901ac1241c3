import { anchorLogs } from './audit/anchor.ts';
import { deletePastDays } from './auth/daily-quota.ts';
import { startWatching } from './chain/reader/watcher.ts';
import { relayDue } from './chain/relay/due.ts';
import { followRelays, liveMsOf } from './chain/relay/follow.ts';
import { allChains, type ChainConfig } from './config/chains.ts';
import type { Context } from './context.ts';
import { eraseOld } from './customers/erase-old.ts';
import { type Change, listenForChanges } from './db/changes.ts';
import { type Due, QueuePoller, type Since, wholeQueue } from './db/due.ts';
import { alarmMissingKeys } from './db/missing-keys-alarm.ts';
import type { Pools } from './db/pools.ts';
import { analyzeGrown } from './db/statistics.ts';
import { makeSleeper, type Sleeper } from './lib/concurrency/sleeper.ts';
import { hourMs, minuteMs, secondMs } from './lib/durations.ts';
import { jitter, pause } from './lib/time.ts';
import { loopPass } from './lib/trace.ts';
import { deleteOldMails, encryptMails } from './mail/retention.ts';
import { mailsDue, sendDueMails, transportOf } from './mail/transport.ts';
import { matchingDue, unsettledDue } from './payments/due.ts';
import { matchPending } from './payments/match.ts';
import { verifyFinal } from './payments/proof/verify.ts';
import { releaseReservations } from './payments/release-reservations.ts';
import { rematchKnownTokens } from './payments/removed-tokens.ts';
import { alarmSilentChains } from './payments/silent-chains.ts';
import { deleteExpiredSubmitted } from './payments/submitted/follow.ts';
import { chargeDue } from './plans/charge.ts';
import { findOvertaken } from './plans/collect/overtaken.ts';
import { onRemoved } from './plans/collect/removed.ts';
import { collectDue, collectionsDue } from './plans/collect/run.ts';
import { moveStranded } from './plans/collect/stranded.ts';
import { checkUpcomingCharges } from './plans/collect/upcoming.ts';
import { chargeDueAt, revokeDueAt } from './plans/due.ts';
import { endOutdated } from './plans/mandates/outdated.ts';
import { revokeStopped } from './plans/mandates/revoke.ts';
import { rateSources } from './rates/providers.ts';
import { refreshIfDue, refreshPeriodMs } from './rates/refresh.ts';
import { receiptsDue } from './receipts/due.ts';
import { openGateway } from './receipts/gateway.ts';
import { mailReceipts } from './receipts/send-mails.ts';
import { sendMessages } from './receipts/send-messages.ts';
import { sweepReceipts } from './receipts/sweep.ts';
import { refundsDue } from './refunds/due.ts';
import { followRefunds } from './refunds/follow.ts';
import { watchPartnerClocks } from './requests/clock-alarm.ts';
import { expiryDue } from './requests/due.ts';
import { expireDue } from './requests/expire.ts';
import { indexMetadata } from './requests/lists/index-metadata.ts';
import type { Sandbox } from './sandbox/sandbox.ts';
import { recoveriesDue } from './wallets/due.ts';
import { releaseStaleWallets } from './wallets/release.ts';
import { settleRecoveries } from './wallets/settle-recoveries.ts';
import { createPartitions } from './webhooks/attempt-partitions.ts';
import { createDeliveryDeps, startDelivering } from './webhooks/deliver.ts';
import { disableDead } from './webhooks/disabled.ts';

/** Recurring work. Whatever a run leaves undone, or fails to do, is done by the next run, on this node or another. */
type Loop = {
  name: string;
  /** The longest pause between two runs. */
  everyMs: number;
  /** @param since the time from which the loop's queue is read */
  run(ctx: Context, signal: AbortSignal, since: () => Since): Promise<unknown>;
  queue?: Queue;
};

/**
 * How a loop learns that it has work: from notifications, or from the time at which something is due. A run that did
 * something is followed by another, until nothing is left.
 */
type Queue = {
  due: Due;
  wakes: Change['kind'][];
  /** The shortest pause between two runs, so that a burst of notifications causes one run. */
  restMs: number;
  /** The shortest pause after a run that did something; `restMs` by default. */
  busyRestMs?: number;
  /** If set, a run that did something is followed by another only at the next notification, or after this time. */
  repeatMs?: number;
};

/**
 * How often all queues are polled, in one statement: for work due soon, and for work that no notification announced.
 */
const usualPollMs = 5 * secondMs;
/** While polls of the queues are slow, one poll in this many reads all that waits. */
const pollsPerFullLook = 3;

const loops: Loop[] = [
  {
    name: 'charge plans',
    everyMs: minuteMs,
    run: chargeDue,
    queue: { due: chargeDueAt, wakes: ['plan'], restMs: secondMs },
  },
  { name: 'end outdated mandates', everyMs: minuteMs, run: endOutdated },
  {
    name: 'revoke stopped mandates',
    everyMs: minuteMs,
    run: revokeStopped,
    queue: { due: revokeDueAt, wakes: [], restMs: secondMs },
  },
  {
    name: 'expire requests',
    everyMs: minuteMs,
    run: expireDue,
    queue: { due: expiryDue, wakes: [], restMs: 5 * secondMs },
  },
  {
    name: 'follow refunds',
    everyMs: minuteMs,
    run: followRefunds,
    queue: { due: refundsDue, wakes: ['merchant'], restMs: 2 * secondMs },
  },
  {
    name: 'make receipts',
    everyMs: minuteMs,
    run: mailReceipts,
    queue: { due: receiptsDue('mail'), wakes: ['request'], restMs: secondMs },
  },
  {
    name: 'send mails',
    everyMs: minuteMs,
    run: (ctx, signal, since) => sendDueMails(ctx, signal, transportOf(ctx), since),
    queue: { due: mailsDue, wakes: ['mails'], restMs: secondMs },
  },
  { name: 'watch the order of requests', everyMs: minuteMs, run: watchPartnerClocks },
  { name: 'match payments in tokens that are back', everyMs: 10 * minuteMs, run: rematchKnownTokens },
  { name: 'take charges that a removed chain left behind', everyMs: 10 * minuteMs, run: moveStranded },
  { name: 'watch the reading of chains', everyMs: minuteMs, run: alarmSilentChains },
  { name: 'watch what waits for secret keys', everyMs: minuteMs, run: alarmMissingKeys },
  { name: 'index metadata', everyMs: minuteMs, run: indexMetadata },
  { name: 'release amounts', everyMs: minuteMs, run: releaseReservations },
  { name: 'delete old mails', everyMs: 10 * minuteMs, run: deleteOldMails },
  { name: 'encrypt mails', everyMs: 10 * minuteMs, run: encryptMails },
  { name: 'delete counts of past days', everyMs: 10 * minuteMs, run: deletePastDays },
  { name: 'delete expired submitted transactions', everyMs: 10 * minuteMs, run: deleteExpiredSubmitted },
  { name: 'find missing receipts', everyMs: 2 * minuteMs, run: sweepReceipts },
  { name: 'release stale wallets', everyMs: hourMs, run: releaseStaleWallets },
  {
    name: 'recover wallets',
    everyMs: minuteMs,
    run: settleRecoveries,
    queue: { due: recoveriesDue, wakes: [], restMs: secondMs },
  },
  { name: 'erase old personal data', everyMs: 10 * minuteMs, run: (ctx, signal) => eraseOld(ctx, signal) },
  { name: 'disable dead endpoints', everyMs: minuteMs, run: disableDead },
  { name: 'analyse grown tables', everyMs: 15 * secondMs, run: ({ db }) => analyzeGrown(db) },
  { name: 'create partitions for delivery attempts', everyMs: 6 * hourMs, run: createPartitions },
  { name: 'note the ends of audit logs', everyMs: 6 * hourMs, run: anchorLogs },
];

/** The loops of a chain. Each chain has its own, so that a slow chain does not delay others. */
function loopsOf(chain: ChainConfig): Loop[] {
  return [
    {
      name: `match payments on ${chain.chainId}`,
      everyMs: minuteMs,
      run: (ctx, _signal, since) => matchPending(ctx, [chain], since),
      queue: { due: matchingDue(chain), wakes: ['transfers', 'request'], restMs: 250, busyRestMs: 0 },
    },
    {
      name: `verify payments on ${chain.chainId}`,
      everyMs: minuteMs,
      run: (ctx, _signal, since) => verifyFinal(ctx, [chain], since),
      queue: { due: unsettledDue(chain), wakes: ['request', 'chain'], restMs: 250, busyRestMs: 0 },
    },
    {
      name: `charge customers' wallets on ${chain.chainId}`,
      everyMs: 10 * minuteMs,
      run: (ctx, signal) => collectDue(ctx, chain, signal),
      queue: { due: collectionsDue(chain.chainId), wakes: ['charges'], restMs: secondMs },
    },
    {
      name: `look ahead at customers' wallets on ${chain.chainId}`,
      everyMs: 10 * minuteMs,
      run: (ctx, signal) => checkUpcomingCharges(ctx, chain, signal),
    },
    {
      name: `follow what is relayed on ${chain.chainId}`,
      everyMs: 2 * minuteMs,
      run: (ctx) => followRelays(ctx, chain, findOvertaken),
      queue: { due: relayDue(chain), wakes: ['transfers'], restMs: 250, repeatMs: liveMsOf(chain) },
    },
  ];
}

/** Mines a block on a local chain only while something waits for one. */
function miningLoop({ blocksDue, mineWhileWaiting }: Sandbox): Loop {
  const queue: Queue = { due: blocksDue, wakes: ['request', 'merchant'], restMs: secondMs };
  return { name: 'mine sandbox blocks', everyMs: minuteMs, run: mineWhileWaiting, queue };
}

/** Keeps the relayer's balance on local chains high; their coin is worth nothing. */
function fundingLoop({ fundRelayer }: Sandbox): Loop {
  return { name: 'fund the sandbox’s relayer', everyMs: minuteMs, run: fundRelayer };
}

type JobOptions = {
  /** Deliveries have their own: while many loops wait for one locked table, they hold all connections of theirs. */
  pools?: Pick<Pools, 'loops' | 'deliveries'>;
  pollMs?: number;
};

/**
 * Runs all loops until the signal aborts. Resolves when the last one has ended its run.
 *
 * @param base whose database all loops use unless there are `pools`
 */
export async function runJobs(
  base: Context,
  signal: AbortSignal,
  { pools = { loops: base.db, deliveries: base.db }, pollMs = usualPollMs }: JobOptions = {},
): Promise<void> {
  const ctx: Context = { ...base, db: pools.loops };
  const sources = rateSources(ctx.config.rateProviders);
  const refresh: Loop = { name: 'refresh rates', everyMs: refreshPeriodMs, run: () => refreshIfDue(ctx, sources) };
  const gateway = ctx.config.phoneGateway && openGateway(ctx.config.phoneGateway);
  const messages: Loop[] = gateway
    ? [
        {
          name: 'send messages',
          everyMs: minuteMs,
          run: (inner, ending, since) => sendMessages(inner, ending, gateway, since),
          queue: { due: receiptsDue('phone'), wakes: ['request'], restMs: secondMs },
        },
      ]
    : [];
  const mining = ctx.sandbox && ctx.config.chains === null ? [miningLoop(ctx.sandbox), fundingLoop(ctx.sandbox)] : [];
  const ofChains = allChains(ctx.chains).flatMap(loopsOf);
  const mine = [...ofChains, ...loops, ...mining, refresh, ...messages].map((loop) => ({
    ...loop,
    sleeper: makeSleeper(),
  }));
  const queues = mine.flatMap(({ queue, sleeper }) => (queue ? [{ due: queue.due, sleeper }] : []));
  const dues = queues.map(({ due }) => due);
  const poller = new QueuePoller(ctx.db.sql, dues, pollsPerFullLook * pollMs);
  const onChange = ({ kind }: Change) => {
    for (const { queue, sleeper } of mine)
      if (queue && (kind === 'anything' || queue.wakes.includes(kind))) sleeper.wake();
  };
  const stopListening = listenForChanges(ctx.db, onChange, (error) =>
    ctx.log.warn({ err: error }, 'cannot listen for changes'),
  );
  await Promise.all([
    ...mine.map((loop) => repeat(ctx, loop, poller, signal)),
    pollQueues(ctx, queues, poller, pollMs, signal),
    startWatching(ctx, { onRemoved: onRemoved(ctx) }, signal),
    startDelivering({ ...ctx, db: pools.deliveries }, signal, createDeliveryDeps(ctx), pollMs),
  ]);
  stopListening();
  await gateway?.close();
}

type Running = Loop & { sleeper: Sleeper };

async function repeat(
  ctx: Context,
  { name, everyMs, run, queue, sleeper }: Running,
  poller: QueuePoller,
  signal: AbortSignal,
): Promise<void> {
  const since = queue ? () => poller.since(queue.due) : wholeQueue;
  while (!signal.aborted) {
    let done: unknown;
    try {
      done = await loopPass(name, () => run(ctx, signal, since));
    } catch (error) {
      ctx.log.error({ err: error, loop: name }, 'a loop failed; it continues with its next run');
    }
    const isBusy = typeof done === 'number' && done > 0;
    if (queue) await pause((isBusy ? queue.busyRestMs : null) ?? queue.restMs, signal);
    const repeatMs = isBusy ? queue?.repeatMs : undefined;
    if (queue && isBusy && repeatMs === undefined) continue;
    await sleeper.sleep(repeatMs ?? jitter(everyMs, 0.1), signal);
  }
}

/** Wakes each loop when something in its queue is due. If the queues cannot be read, wakes all loops. */
async function pollQueues(
  ctx: Context,
  queues: { sleeper: Sleeper }[],
  poller: QueuePoller,
  pollMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const waits = await poller.next();
      for (const [i, { sleeper }] of queues.entries()) {
        const waitMs = waits[i];
        // The next poll finds what is due later.
        if (typeof waitMs === 'number' && waitMs < 2 * pollMs) sleeper.wakeIn(waitMs);
      }
    } catch (error) {
      ctx.log.error({ err: error }, 'queues could not be polled');
      for (const { sleeper } of queues) sleeper.wake();
    }
    await pause(jitter(pollMs, 0.2), signal);
  }
}
