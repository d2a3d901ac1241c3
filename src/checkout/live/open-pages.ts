import type { ServerResponse } from 'node:http';
import type { Context } from '../../context.ts';
import { type Change, listenForChanges } from '../../db/changes.ts';
import { minuteMs } from '../../lib/durations.ts';
import { pause } from '../../lib/time.ts';
import { findMisdirected, type MisdirectedPayment } from '../../payments/unmatched/misdirected.ts';
import type { Words } from '../../ui/language.ts';
import { heartbeat, writeEvent } from '../../web/event-stream.ts';
import { type Checkout, readCheckout } from '../read.ts';
import { isOver } from '../state.ts';
import { liveAnswer, waitsForMoney } from './answer.ts';

/**
 * How often lost connections are noticed, and changes without a trigger (expiry, submitted transactions, misdirected
 * payments) are polled.
 */
const restMs = 5_000;
/** Changes within this time are sent together. */
const gatherMs = 50;
/** Browsers reconnect automatically, so a forgotten page does not hold a connection forever. */
const maxStreamMs = 15 * minuteMs;

type OpenPage = { requestId: string; confirming: boolean; misdirected: MisdirectedPayment[]; wake: () => void };

/** The pay pages that are connected to this process. One listener wakes those that a change concerns. */
export class OpenPages {
  readonly #ctx: Context;
  readonly #pages = new Set<OpenPage>();
  readonly #ending = new AbortController();
  #stopListening: (() => void) | undefined;

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Ends all streams. */
  end(): void {
    this.#ending.abort();
    for (const page of this.#pages) page.wake();
    this.#stopListening?.();
  }

  /**
   * Sends a page its state, at once and after each change, until the state is final, the browser leaves, the service
   * stops, or 15 minutes have passed. The caller ends the stream.
   */
  async follow(stream: ServerResponse, requestId: string, words: Words): Promise<void> {
    // Until the database connection listens, each page still polls after its rest.
    this.#stopListening ??= listenForChanges(
      this.#ctx.db,
      (change) => this.#wake(change),
      (error) => this.#ctx.log.warn({ err: error }, 'cannot listen for changes'),
    );
    const page: OpenPage = { requestId, confirming: false, misdirected: [], wake: () => {} };
    this.#pages.add(page);
    stream.once('close', () => page.wake());
    try {
      await this.#sendStates(stream, page, words);
    } finally {
      this.#pages.delete(page);
    }
  }

  #wake(change: Change): void {
    for (const page of this.#pages) {
      const concerns =
        change.kind === 'anything' ||
        (change.kind === 'chain' && page.confirming) ||
        (change.kind === 'request' && page.requestId === change.requestId);
      if (concerns) page.wake();
    }
  }

  async #sendStates(stream: ServerResponse, page: OpenPage, words: Words): Promise<void> {
    const until = performance.now() + maxStreamMs;
    let lastSent = '';
    let refreshing: Promise<void> | undefined;
    while (!stream.destroyed && !this.isEnding && performance.now() < until) {
      // Created before reading, so that a change in between is not missed.
      const woken = nextWake(page);
      const checkout = await readCheckout(this.#ctx, page.requestId, words, page.misdirected);
      if (!checkout) return;
      page.confirming = checkout.state.kind === 'confirming';
      const state = JSON.stringify(liveAnswer(checkout));
      writeEvent(stream, state === lastSent ? heartbeat : `data: ${state}\n\n`);
      lastSent = state;
      if (isOver(checkout.state)) return;
      refreshing ??= waitsForMoney(checkout)
        ? refreshMisdirected(this.#ctx, checkout, page).finally(() => (refreshing = undefined))
        : undefined;
      await this.#rest(stream, page, woken);
    }
  }

  /** Waits until the page is woken or must poll, with a heartbeat after each rest. */
  async #rest(stream: ServerResponse, page: OpenPage, woken: Promise<boolean>): Promise<void> {
    const pollAt = performance.now() + pollAfterMs(this.#pages.size);
    let isWoken = await woken;
    while (!isWoken && performance.now() < pollAt) {
      writeEvent(stream, heartbeat);
      isWoken = await nextWake(page);
    }
    await pause(gatherMs, this.#ending.signal);
  }
}

/**
 * Runs beside the page's own reads, because a chain in trouble answers late. Wakes the page if the number of payments
 * changes.
 */
async function refreshMisdirected(ctx: Context, { scope, row }: Checkout, page: OpenPage): Promise<void> {
  try {
    const before = page.misdirected.length;
    page.misdirected = await findMisdirected(ctx, scope, row.id);
    if (page.misdirected.length !== before) page.wake();
  } catch (error) {
    ctx.log.warn({ err: error }, 'payments sent by mistake could not be looked up');
  }
}

/**
 * The shortest wait between polls of a page, in ms, while nothing changes. It grows with the number of open pages:
 * together they poll at most 40 times a second, so opening many cannot overload the process.
 */
export const pollAfterMs = (pages: number): number => pages * 25;

/** Resolves when the page is woken (true), or after its rest (false). */
function nextWake(page: OpenPage): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, restMs, false);
    page.wake = () => {
      clearTimeout(timer);
      resolve(true);
    };
  });
}
