import { type ClientRequest, get } from 'node:http';

/** Event streams of pay pages, kept open as browsers do: reopened when the service ends them. */
export type OpenPages = { received(): number; show(id: string): void; close(): void };

/** Opens streams of pay pages. `show` opens another page in place of the oldest. */
export function openPages(origin: string, most: number): OpenPages {
  const open: { id: string; request: ClientRequest }[] = [];
  let [received, opened, closed] = [0, 0, false];
  const stream = (id: string): ClientRequest => {
    // Customers have many addresses, and the service limits the streams of each.
    const headers = { 'x-forwarded-for': `203.0.113.${opened++ % 250}`, accept: 'text/event-stream' };
    const request = get(`${origin}/pay/${id}/events`, { headers, agent: false }, (response) => {
      response.on('data', (part: Buffer) => {
        received += part.length;
      });
      response.on('end', () => reopen(id, request));
      response.on('error', () => reopen(id, request));
    });
    request.on('error', () => reopen(id, request));
    return request;
  };
  const reopen = (id: string, request: ClientRequest) => {
    const place = open.find((page) => page.request === request);
    if (place && !closed) setTimeout(() => (place.request = stream(id)), 2_000).unref();
  };
  return {
    received: () => received,
    show: (id) => {
      if (open.length >= most) open.shift()?.request.destroy();
      open.push({ id, request: stream(id) });
    },
    close: () => {
      closed = true;
      for (const { request } of open) request.destroy();
    },
  };
}
