import { noteEnds } from './audit/note-ends.ts';
import type { ChainConfig } from './chain/config.ts';
import { mineWhileWaiting } from './chain/dev-mining.ts';
import { startWatching } from './chain/watcher.ts';
import type { Context } from './context.ts';
import { eraseOld } from './customers/erase-old.ts';
import { analyzeGrown } from './db/statistics.ts';
import { pause } from './lib/time.ts';
import { forgetMails, sealMails } from './mail/forget.ts';
import { sendDueMails } from './mail/transport.ts';
import { releaseStaleWallets } from './merchants/onboard.ts';
import { settleRecoveries } from './merchants/recovery-settle.ts';
import { forgetHints } from './payments/hints.ts';
import { judgePending } from './payments/match.ts';
import { releaseReservations } from './payments/release.ts';
import { onRemoved } from './payments/removed.ts';
import { followReturns } from './payments/return-follow.ts';
import { settle } from './payments/verify.ts';
import { chargeDue } from './plans/charge.ts';
import { rateSources } from './rates/providers.ts';
import { refreshIfDue, refreshPeriodMs } from './rates/refresh.ts';
import { openGateway } from './receipts/gateway.ts';
import { mailReceipts } from './receipts/send-mails.ts';
import { sendMessages } from './receipts/send-messages.ts';
import { sweepReceipts } from './receipts/sweep.ts';
import { expireDue } from './requests/expire.ts';
import { watchOrder } from './requests/order-alarm.ts';
import { startDelivering } from './webhooks/deliver.ts';
import { disableDead } from './webhooks/disabled.ts';

/** Work that comes back: what is left over or failed is taken up at the next turn, on this node or another. */
type Loop = {
  name: string;
  everyMs: number;
  run(ctx: Context, signal: AbortSignal): Promise<unknown>;
  sandboxOnly?: true;
};

const second = 1000;
const minute = 60 * second;

const loops: Loop[] = [
  { name: 'charge plans', everyMs: 5 * second, run: chargeDue },
  { name: 'expire requests', everyMs: 5 * second, run: expireDue },
  { name: 'watch the order of requests', everyMs: minute, run: watchOrder },
  { name: 'release amounts', everyMs: minute, run: releaseReservations },
  { name: 'look for give-backs', everyMs: 2 * second, run: followReturns },
  { name: 'forget mails', everyMs: 10 * minute, run: forgetMails },
  { name: 'seal mails', everyMs: 10 * minute, run: sealMails },
  { name: 'forget hints', everyMs: 10 * minute, run: forgetHints },
  { name: 'make receipts', everyMs: second, run: mailReceipts },
  { name: 'find missing receipts', everyMs: minute, run: sweepReceipts },
  { name: 'send mails', everyMs: second, run: sendDueMails },
  { name: 'release stale wallets', everyMs: 60 * minute, run: releaseStaleWallets },
  { name: 'recover wallets', everyMs: minute, run: settleRecoveries },
  { name: 'erase old personal data', everyMs: 10 * minute, run: eraseOld },
  { name: 'disable dead endpoints', everyMs: minute, run: disableDead },
  { name: 'analyse grown tables', everyMs: 10 * second, run: ({ db }) => analyzeGrown(db) },
  { name: 'note the ends of audit logs', everyMs: 360 * minute, run: noteEnds },
  { name: 'mine sandbox blocks', everyMs: second, run: mineWhileWaiting, sandboxOnly: true },
];

/** One loop for each chain: what takes long on one delays no other. */
function loopsOf(chain: ChainConfig): Loop[] {
  return [
    { name: `match payments on ${chain.chainId}`, everyMs: 250, run: (ctx) => judgePending(ctx, [chain]) },
    { name: `verify payments on ${chain.chainId}`, everyMs: 250, run: (ctx) => settle(ctx, [chain]) },
  ];
}

/** Runs all loops until the signal aborts; resolves when the last one has put down its work. */
export async function runJobs(ctx: Context, signal: AbortSignal): Promise<void> {
  const sources = rateSources(ctx.config.rateProviders);
  const refresh: Loop = { name: 'refresh rates', everyMs: refreshPeriodMs, run: () => refreshIfDue(ctx, sources) };
  const gateway = ctx.config.phoneGateway && openGateway(ctx.config.phoneGateway);
  const messages: Loop[] = gateway
    ? [{ name: 'send messages', everyMs: second, run: (inner, ending) => sendMessages(inner, ending, gateway) }]
    : [];
  const ofChains = [...ctx.chains.test, ...ctx.chains.live].flatMap(loopsOf);
  const mine = [...ofChains, ...loops, refresh, ...messages].filter(
    (loop) => !loop.sandboxOnly || ctx.config.chains === null,
  );
  await Promise.all([
    ...mine.map((loop) => repeat(ctx, loop, signal)),
    startWatching(ctx, { onRemoved }, signal),
    startDelivering(ctx, signal),
  ]);
  await gateway?.close();
}

async function repeat(ctx: Context, loop: Loop, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await loop.run(ctx, signal);
    } catch (error) {
      ctx.log.error({ err: error, loop: loop.name }, 'a loop failed; it goes on at its next turn');
    }
    await pause(loop.everyMs, signal);
  }
}
