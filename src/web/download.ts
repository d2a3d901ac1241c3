import type { FastifyReply } from 'fastify';
import { type CsvRow, csvStream } from '../lib/text/csv.ts';

/** Answers with a list as a CSV file, streamed batch by batch. */
export function sendCsv(
  reply: FastifyReply,
  name: string,
  header: string[],
  batches: AsyncIterable<CsvRow[]>,
): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${name}.csv"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .send(csvStream(header, batches));
}

/** A list that is short at any time, as the batches of an export. */
export async function* inOneBatch<Row>(rows: Row[]): AsyncGenerator<Row[]> {
  yield rows;
}

/** Batches of rows as batches of CSV rows. */
export async function* csvOf<Row>(batches: AsyncIterable<Row[]>, line: (row: Row) => CsvRow): AsyncGenerator<CsvRow[]> {
  for await (const batch of batches) yield batch.map(line);
}
