import { finished } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { StreamPlaces } from './event-stream.ts';

/** Who reads lists: a user or merchant, never a session, and those who have places together: all users of a partner. */
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
  readonly #ofReaders: StreamPlaces;
  readonly #ofGroups: StreamPlaces;
  readonly #stalledMs: number;

  constructor({ most, mostOfGroup, mostOfOne, stalledMs }: ExportLimits = usual) {
    this.#ofReaders = new StreamPlaces(most, mostOfOne);
    this.#ofGroups = new StreamPlaces(Number.POSITIVE_INFINITY, mostOfGroup);
    this.#stalledMs = stalledMs;
  }

  /** Takes a place until the answer has ended, however it ends; false when there is none. */
  take({ request, raw }: FastifyReply): boolean {
    const { id, group } = request.reader ?? { id: request.ip, group: request.ip };
    if (!this.#ofGroups.take(group)) return false;
    if (!this.#ofReaders.take(id)) {
      this.#ofGroups.leave(group);
      return false;
    }
    finished(raw, () => {
      this.#ofReaders.leave(id);
      this.#ofGroups.leave(group);
    });
    raw.setTimeout(this.#stalledMs, () => raw.destroy());
    return true;
  }
}
