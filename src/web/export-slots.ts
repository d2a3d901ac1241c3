import type { ServerResponse } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Slots } from '../lib/concurrency/slots.ts';

/**
 * Who reads lists: a user or merchant, but never a session. `group` has a limit of its own: all users of a partner, or
 * all its merchants. `isStillIn`: whether the session is still valid, and its user's role the same.
 */
export type Reader = { id: string; group: string; isStillIn: () => Promise<boolean> };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null on a page that needs no session. */
    reader: Reader | null;
  }
}

export type ExportLimits = { max: number; maxOfGroup: number; maxOfOne: number; stalledMs: number };

/**
 * An export takes up to a megabyte of memory while it lasts. It is ended if its client reads nothing for two minutes,
 * so nobody can hold a slot for ever.
 */
const usual: ExportLimits = { max: 100, maxOfGroup: 20, maxOfOne: 5, stalledMs: 120_000 };

/**
 * Ends a response in the middle. It resets the connection: closing it would be the regular end of the file to a client
 * of HTTP/1.0, such as a proxy, which would pass it on as complete.
 */
export function cutOff({ socket }: ServerResponse): void {
  socket?.resetAndDestroy();
}

/** Limits the running exports of this process, so that no reader can fill its memory or keep others from exporting. */
export class ExportSlots {
  readonly #slots: Slots;
  readonly #stalledMs: number;
  readonly #running = new Set<ServerResponse>();

  constructor({ max, maxOfGroup, maxOfOne, stalledMs }: ExportLimits = usual) {
    this.#slots = new Slots(max, maxOfGroup, maxOfOne);
    this.#stalledMs = stalledMs;
  }

  /** Takes a slot until the response has ended, however it ends; false if there is none. */
  take({ request, raw }: FastifyReply): boolean {
    const { id, group } = request.reader ?? { id: request.ip, group: request.ip };
    if (!this.#slots.take(group, id)) return false;
    this.#running.add(raw);
    finished(raw, () => {
      this.#running.delete(raw);
      this.#slots.leave(group, id);
    });
    raw.setTimeout(this.#stalledMs, () => cutOff(raw));
    return true;
  }

  /** Cuts off all running exports. */
  cutAll(): void {
    for (const raw of this.#running) cutOff(raw);
  }
}
