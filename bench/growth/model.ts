import type { Finding } from '../figure.ts';
import { paidOfTen } from './lifecycle.ts';

/** What was measured: bytes of WAL of a step, sizes of tables in bytes, statements of a call, processor time of a node. */
export type Measurement = {
  wal: Record<string, number>;
  sizes: Record<string, { rows: number; heap: number; indexes: number }>;
  statements: Record<string, number>;
  created: number;
  rate: number;
  createCpuMs: number;
  getCpuMs: number;
};

/** What is assumed of 10,000 partners. */
const partners = 10_000;
const requestsPerMonth = 1e8;
const paid = paidOfTen / 10;
const attemptsPerEvent = 1.1;
const getsPerRequest = 1;
const pagesPerRequest = 1.4;
/** A third of the partners follow the list, once a minute; the others rely on webhooks. */
const listsPerSecond = partners / 3 / 60;
/** The busiest hours against the mean of a month. */
const peak = 5;
const nodes = 3;
const connectionsPerNode = 32;
const secondsPerMonth = 30 * 86_400;
const monthsKept: Record<string, number> = { requests: 13, transfers: 13, webhook_deliveries: 13, webhook_attempts: 3 };

const whole = (value: number) => Math.round(value).toLocaleString('en');
const bytes = (value: number) => {
  const [divisor, unit] = value >= 1e12 ? [1e12, 'TB'] : value >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB'];
  return `${(value / divisor).toPrecision(3)} ${unit}`;
};

/** Rows that are added in a month, or stand at a time, by table. */
const rowsOf: Record<string, { rows: number; standing?: true }> = {
  requests: { rows: requestsPerMonth },
  transfers: { rows: requestsPerMonth * paid },
  webhook_deliveries: { rows: requestsPerMonth * paid },
  webhook_attempts: { rows: requestsPerMonth * paid * attemptsPerEvent },
  // From the creation until a day after the end: a day and a few minutes each.
  amount_reservations: { rows: (requestsPerMonth / 30) * 1.02, standing: true },
};

/** The model's figures as a table; extrapolated in proportion to rows, which is what the text beside it says. */
export function modelRows({ wal, sizes, statements, created, rate, createCpuMs, getCpuMs }: Measurement): Finding {
  let [monthly, kept, fixed] = [0, 0, 0];
  const tables = Object.entries(rowsOf).map(([table, { rows, standing }]) => {
    const size = sizes[table] ?? { rows: 1, heap: 0, indexes: 0 };
    const [heap, indexes] = [size.heap / size.rows, size.indexes / size.rows];
    const all = rows * (heap + indexes);
    if (standing) fixed += all;
    else monthly += all;
    kept += all * (monthsKept[table] ?? 1);
    const amount = `${whole(rows)} rows${standing ? ' at a time' : ''}, ${bytes(all)}`;
    return [`\`${table}\``, `${whole(heap)} + ${whole(indexes)} bytes a row (heap + indexes)`, amount];
  });
  const later = Object.entries(wal).filter(([step]) => step !== 'request created' && step !== 'request expired');
  const afterwards = later.reduce((sum, [, one]) => sum + one, 0);
  const walPerRequest = (wal['request created'] ?? 0) + paid * afterwards + (1 - paid) * (wal['request expired'] ?? 0);
  const perSecond: Record<string, number> = {
    create: requestsPerMonth / secondsPerMonth,
    get: (requestsPerMonth * getsPerRequest) / secondsPerMonth,
    list: listsPerSecond,
    'pay page': (requestsPerMonth * pagesPerRequest) / secondsPerMonth,
  };
  const calls = Object.entries(perSecond).map(([kind, mean]) => [
    `${kind}${kind === 'list' ? ' (a third of the partners, once a minute)' : ''}`,
    `${statements[kind]} statements`,
    `${whole(mean)} calls/s, ${whole(mean * peak)} at the peak`,
  ]);
  const inAll = Object.entries(perSecond).reduce((sum, [kind, mean]) => sum + mean * (statements[kind] ?? 0), 0);
  const creates = (perSecond.create ?? 0) * peak;
  const cores = (creates * createCpuMs + (inAll / (statements.get ?? 1)) * peak * getCpuMs) / 1000;
  const row = (...cells: string[]) => cells;
  return {
    facts: [
      `Measured: ${whole(created)} creates over HTTP, of which ${paidOfTen} in ten were then opened, paid, verified and delivered, and the others`,
      'expired, each step in the columns that the service writes. Everything else is that, in proportion to rows: indexes of',
      `100 million rows are a level deeper, and a random page of them is less often in memory. Assumed: peaks of ${peak} times the mean.`,
    ],
    table: {
      head: ['what', 'of one', 'in a month, or a second'],
      rows: [
        ...tables,
        row('disk', '', `${bytes(monthly)} a month and ${bytes(fixed)} that stay`),
        row('disk, with 13 months kept, attempts for 3', '', bytes(kept)),
        row('WAL of a create', `${whole(wal['request created'] ?? 0)} bytes`, ''),
        row('WAL of all that follows, if paid', `${whole(afterwards)} bytes`, ''),
        row(
          'WAL in all',
          `${whole(walPerRequest)} bytes a request`,
          `${bytes(walPerRequest * requestsPerMonth)} a month, ${bytes(walPerRequest * creates)} a second at the peak`,
        ),
        ...calls,
        row(
          'statements of these calls',
          '',
          `${whole(inAll)}/s, ${whole(inAll * peak)} at the peak; ${whole((inAll * peak) / nodes)} a node of ${nodes}`,
        ),
        row(
          'processor time of a node',
          `${createCpuMs.toFixed(2)} ms a create, ${getCpuMs.toFixed(2)} ms a get`,
          `${cores.toFixed(1)} cores at the peak, of all nodes, if each ${statements.get} statements cost a get`,
        ),
        row(
          'creates that this machine made',
          '',
          `${whole(rate)}/s, clients, node and database together; ${whole(creates)}/s are the peak`,
        ),
        row('connections', `${connectionsPerNode} a node`, `${connectionsPerNode * nodes} with ${nodes} nodes`),
      ],
    },
  };
}
