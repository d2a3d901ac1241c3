import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * Preloaded into a process. Each message is answered with its heap and memory outside, in megabytes, and by how many
 * milliseconds timers were late since the message before.
 */
const resolution = 10;
const delay = monitorEventLoopDelay({ resolution });
delay.enable();
process.on('message', () => {
  const { heapUsed, heapTotal, external } = process.memoryUsage();
  const lateMs = (percentile: number) => Math.max(0, delay.percentile(percentile) / 1e6 - resolution);
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  process.send?.({
    ...{ heapMb: megabytes(heapUsed), heapTotalMb: megabytes(heapTotal), externalMb: megabytes(external) },
    ...{ p50Ms: lateMs(50), p99Ms: lateMs(99), maxMs: Math.max(0, delay.max / 1e6 - resolution) },
  });
  delay.reset();
});
process.channel?.unref();
