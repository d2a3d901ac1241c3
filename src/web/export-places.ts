import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Places, takeEach } from './places.ts';

/**
 * Who reads lists: a user or merchant, but never a session. `group` has a limit of its own: all users of a partner, or
 * all its merchants.
 */
export type Reader = { id: string; group: string };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null on a page that needs no session. */
    reader: Reader | null;
  }
}

export type ExportLimits = { most: number; maxOfGroup: number; maxOfOne: number; stalledMs: number };

/**
 * An export takes up to a megabyte of memory while it lasts. It is ended if its client reads nothing for two minutes,
 * so nobody can hold a place for ever.
 */
const usual: ExportLimits = { most: 100, maxOfGroup: 20, maxOfOne: 5, stalledMs: 120_000 };

/** Limits the running exports of this process, so that no reader can fill its memory or keep others from exporting. */
export class ExportPlaces {
  readonly #ofReaders: Places;
  readonly #ofGroups: Places;
  readonly #maxOfGroup: number;
  readonly #stalledMs: number;

  constructor({ most, maxOfGroup, maxOfOne, stalledMs }: ExportLimits = usual) {
    this.#ofReaders = new Places(most, maxOfOne);
    this.#ofGroups = new Places(most, maxOfGroup);
    this.#maxOfGroup = maxOfGroup;
    this.#stalledMs = stalledMs;
  }

  /** Takes a place until the response has ended, however it ends; false if there is none. */
  take({ request, raw }: FastifyReply): boolean {
    const { id, group } = request.reader ?? { id: request.ip, group: request.ip };
    // A reader leaves the others of its group as many as it has, as a group does the others.
    if (this.#ofReaders.takenBy(id) >= this.#maxOfGroup - this.#ofGroups.takenBy(group)) return false;
    const leave = takeEach([this.#ofGroups, group], [this.#ofReaders, id]);
    if (!leave) return false;
    finished(raw, leave);
    raw.setTimeout(this.#stalledMs, () => raw.destroy());
    return true;
  }
}
