import { minuteMs } from '../lib/durations.ts';
import type { RpcError } from './rpc.ts';

/** The purposes of messages with several calls. An endpoint may answer those of one purpose but not of another. */
export type BatchOf = 'reads' | 'simulations' | 'broadcasts';

/** By purpose and endpoint: the time until which no such message is sent, because the endpoint did not answer one. */
const without = new Map<string, number>();
const untakenMs = 10 * minuteMs;
/** How long this lasts for an endpoint that was too slow: a single call can make it so. */
const silentMs = 15_000;

/** Whether an endpoint is sent several calls in one message. */
export const takesBatches = (url: string, of: BatchOf): boolean =>
  (without.get(`${of} ${url}`) ?? 0) <= performance.now();

/** Remembers that an endpoint does not answer such messages, for now. */
export function rememberNoBatches(url: string, of: BatchOf, { kind }: RpcError): void {
  if (kind === 'malformed' || kind === 'refused') without.set(`${of} ${url}`, performance.now() + untakenMs);
  else if (kind === 'timeout') without.set(`${of} ${url}`, performance.now() + silentMs);
}
