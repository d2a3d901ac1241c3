import { minuteMs } from '../lib/durations.ts';
import type { RpcError } from './rpc.ts';

/** What a message with several calls is for: an endpoint that does not answer one of them may answer another. */
export type BatchOf = 'reads' | 'simulations' | 'broadcasts';

/** By purpose and endpoint: until when no such message is sent to it, because it did not answer one. */
const without = new Map<string, number>();
const untakenMs = 10 * minuteMs;
/** How long for an endpoint that was too slow, which a single call can cause. */
const silentMs = 15_000;

/** Whether an endpoint is sent several calls in one message. */
export const takesBatches = (url: string, of: BatchOf): boolean =>
  (without.get(`${of} ${url}`) ?? 0) <= performance.now();

/** Remembers that an endpoint does not answer such messages, for now. */
export function rememberNoBatches(url: string, of: BatchOf, { kind }: RpcError): void {
  if (kind === 'malformed' || kind === 'refused') without.set(`${of} ${url}`, performance.now() + untakenMs);
  else if (kind === 'timeout') without.set(`${of} ${url}`, performance.now() + silentMs);
}
