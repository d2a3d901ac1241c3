import { dayMs, producerSkewMs } from '../../lib/durations.ts';
import type { Header } from '../rpc.ts';
import { selectWantedFor } from './lease.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';

/** Within this time of the first process that has the chain, nobody has paid on it. */
const promptMs = 10_000;
/** No request is open for longer. */
const maxBackMs = 31 * dayMs;

/**
 * The block after which a chain is read that was never read. Payments from before the service knew the chain do not
 * concern it. But its endpoints may not have answered for a while, and customers were offered the chain meanwhile.
 *
 * @throws ProviderFault, RpcError
 */
export async function findFirst({ db, lease }: Reader, { rpc }: RpcProvider, head: Header): Promise<Header> {
  const wantedAt = await selectWantedFor(db, lease.name, promptMs);
  if (!wantedAt) return head;
  const until = Math.max(wantedAt.getTime() - producerSkewMs, head.time.getTime() - maxBackMs);
  const isBefore = ({ time }: Header) => time.getTime() <= until;
  if (isBefore(head)) return head;
  const readHeader = async (number: number) => {
    const header = await rpc.header(number);
    if (header?.number !== number) throw new ProviderFault(`it does not have block ${number} below its head`);
    return header;
  };
  let later = head;
  let before: Header | null = null;
  for (let step = 1; !before && later.number > 0; step *= 2) {
    const header = await readHeader(Math.max(0, later.number - step));
    if (isBefore(header)) before = header;
    else later = header;
  }
  while (before && later.number - before.number > 1) {
    const header: Header = await readHeader(Math.floor((before.number + later.number) / 2));
    if (isBefore(header)) before = header;
    else later = header;
  }
  return before ?? later;
}
