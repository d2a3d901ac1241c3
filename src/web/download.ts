import type { FastifyReply } from 'fastify';
import { type CsvRow, csvStream } from '../lib/text/csv.ts';
import { sendTooMany } from './error-page.ts';
import { cutOff, ExportPlaces } from './export-places.ts';

const usualPlaces = new ExportPlaces();

/** Responds with a list as a CSV file, streamed in batches; 429 if the reader already has too many exports running. */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  header: string[],
  batches: AsyncIterable<Iterable<CsvRow>>,
  places: ExportPlaces = usualPlaces,
): FastifyReply {
  if (!places.take(reply)) return sendTooMany(reply);
  const file = csvStream(header, batches);
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

/** Cuts off the exports that are still running when the service has to end. */
export const cutExports = (): void => usualPlaces.cutAll();

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
