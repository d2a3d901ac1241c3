import type { Dispatcher } from 'undici';

const timeoutMs = 10_000;

/** The headers and the body of a response. */
export type Answer = { headers: Record<string, string | string[] | undefined>; body: string };

/**
 * Sends one POST and reads its answer to the end, with as little work of our own as undici allows.
 *
 * @param answer if given, receives the headers and the body
 * @returns the status
 */
export function post(
  client: Dispatcher,
  origin: string,
  path: string,
  headers: Record<string, string>,
  body: string,
  answer?: Answer,
) {
  return new Promise<number>((resolve, reject) => {
    let status = 0;
    client.dispatch(
      { origin, path, method: 'POST', headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode, answered) => {
          status = statusCode;
          if (answer) answer.headers = answered;
        },
        onResponseData: (_controller, chunk) => {
          if (answer) answer.body += chunk.toString();
        },
        onResponseEnd: () => resolve(status),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

/**
 * Repeats work for a time, with a fixed number of calls at once.
 *
 * @returns how often it was done per second
 */
export async function repeat(concurrency: number, seconds: number, work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  let done = 0;
  const one = async () => {
    while (performance.now() < endAt) {
      await work();
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, one));
  return (done / (performance.now() - startedAt)) * 1000;
}
