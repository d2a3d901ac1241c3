import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Places, takeEach } from './places.ts';

/**
 * Who reads lists: a user or merchant, never a session, and those who have places together: all users of a partner, or
 * all its merchants.
 */
export type Reader = { id: string; group: string };

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; null for a page that anybody may open. */
    reader: Reader | null;
  }
}

export type ExportLimits = { most: number; mostOfGroup: number; mostOfOne: number; stalledMs: number };

/**
 * An export holds up to a megabyte for as long as it lasts. Who takes nothing of one for two minutes has it ended, and
 * so cannot hold its place for ever.
 */
const usual: ExportLimits = { most: 100, mostOfGroup: 20, mostOfOne: 5, stalledMs: 120_000 };

/** Counts the exports under way in this process, so that no reader's fill its memory or keep others from theirs. */
export class ExportPlaces {
  readonly #ofReaders: Places;
  readonly #ofGroups: Places;
  readonly #stalledMs: number;

  constructor({ most, mostOfGroup, mostOfOne, stalledMs }: ExportLimits = usual) {
    this.#ofReaders = new Places(most, mostOfOne);
    this.#ofGroups = new Places(most, mostOfGroup);
    this.#stalledMs = stalledMs;
  }

  /** Takes a place until the answer has ended, however it ends; false when there is none. */
  take({ request, raw }: FastifyReply): boolean {
    const { id, group } = request.reader ?? { id: request.ip, group: request.ip };
    const leave = takeEach([this.#ofGroups, group], [this.#ofReaders, id]);
    if (!leave) return false;
    finished(raw, leave);
    raw.setTimeout(this.#stalledMs, () => raw.destroy());
    return true;
  }
}
