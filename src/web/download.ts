import type { FastifyReply } from 'fastify';
import { type CsvRow, csvStream } from '../lib/text/csv.ts';
import { sendTooMany } from './error-page.ts';
import { cutOff, ExportSlots, type Reader } from './export-slots.ts';

const usualSlots = new ExportSlots();

/**
 * Responds with a list as a CSV file, streamed in batches; 429 if the reader already has too many exports running. The
 * file is cut off if the reader's session ends, or the role changes, before it is complete.
 */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  header: string[],
  batches: AsyncIterable<Iterable<CsvRow>>,
  slots: ExportSlots = usualSlots,
): FastifyReply {
  if (!slots.take(reply)) return sendTooMany(reply);
  const { reader } = reply.request;
  const file = csvStream(header, reader === null ? batches : whileIn(reader, batches));
  file.once('error', () => reply.raw.headersSent && cutOff(reply.raw));
  return reply
    .headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(file);
}

async function* whileIn<Batch>(reader: Reader, batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
  for await (const batch of batches) {
    if (!(await reader.isStillIn())) throw new Error('the session of an export has ended');
    yield batch;
  }
}

/** Cuts off the exports that are still running when the service has to end. */
export const cutExports = (): void => usualSlots.cutAll();

/** A list that is always short, as the single batch of an export. */
export async function* inOneBatch<Row>(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

/** Converts batches of rows to batches of CSV rows, each only when it is written. */
export async function* csvOf<Row>(
  batches: AsyncIterable<Row[]>,
  line: (row: Row) => CsvRow,
): AsyncGenerator<Iterable<CsvRow>> {
  for await (const batch of batches) yield batch.values().map(line);
}
