import { isUnreachable } from '../../src/db/connection.ts';
import { Broken } from './actions.ts';
import type { Stage } from './stage.ts';

/** What must be true of the database at any time, whatever has just happened. */
export class Invariants {
  /** The first seen body of each event. */
  private readonly bodies = new Map<string, string>();
  private readonly stage: Stage;
  checks = 0;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /**
   * @returns false if the database cannot be queried now
   * @throws Broken naming the first that does not hold
   */
  async check(): Promise<boolean> {
    try {
      await this.checkRows();
      await this.checkCreates();
      await this.checkBodies();
      this.checks++;
      return true;
    } catch (error) {
      if (error instanceof Broken || !(isUnreachable(error) || isBusy(error))) throw error;
      return false;
    }
  }

  private async checkRows(): Promise<void> {
    const [found] = await this.stage.database.owner<Record<string, string | null>[]>`
      with counted as (
        select request_id, sum(value) as micro from transfers where counts group by request_id),
      events as (
        select request_id, count(*) as events from webhook_deliveries group by request_id)
      select
        (select min(r.id::text) from requests r left join events e on e.request_id = r.id
          where r.proof_status = 'verified' and coalesce(e.events, 0) <> 1) as "verified without exactly one event",
        (select min(e.request_id::text) from events e join requests r on r.id = e.request_id
          where r.proof_status <> 'verified') as "event without a verified request",
        (select min(r.id::text) from requests r left join counted c on c.request_id = r.id
          where r.proof_status <> 'none' and coalesce(c.micro, 0) < r.usdc_micro) as "proof without the money",
        (select min(r.id::text) from requests r join counted c on c.request_id = r.id
          where r.status = 'voided') as "money on a voided request",
        (select min(tx_hash) from (
          select tx_hash from transfers group by chain_id, tx_hash, ordinal
          having count(*) > 1 or count(request_id) > 1) x) as "transfer that pays twice"`;
    for (const [what, which] of Object.entries(found ?? {})) if (which !== null) throw new Broken(`${what}: ${which}`);
  }

  private async checkCreates(): Promise<void> {
    const ids = this.stage.model.made().map(({ id }) => id);
    const rows = await this.stage.database.owner<{ id: string }[]>`
      select id from unnest(${ids}::uuid[]) as id where not exists (select from requests r where r.id = id.id)`;
    if (rows[0]) throw new Broken(`an acknowledged create is gone: ${rows[0].id}`);
  }

  private async checkBodies(): Promise<void> {
    const rows = await this.stage.database.owner<{ id: string; request_id: string; body: string }[]>`
      select id, request_id, body from webhook_deliveries`;
    if (rows.length < this.bodies.size) throw new Broken('an event is gone');
    for (const { id, request_id: request, body } of rows) {
      const known = this.bodies.get(id);
      const said = JSON.parse(body) as { request_id: string; delivery_id: string };
      if (known !== undefined && known !== body) throw new Broken(`the body of event ${id} changed`);
      if (said.request_id !== request || said.delivery_id !== id) throw new Broken(`event ${id} tells of another`);
      this.bodies.set(id, body);
    }
    for (const { receiver } of this.stage.partners) {
      for (const post of receiver.received.splice(0)) {
        if (this.bodies.get(post.delivery) !== post.body) throw new Broken(`event ${post.delivery} arrived altered`);
        this.arrived.add(post.delivery);
      }
    }
  }

  /** The events that receivers were sent. */
  readonly arrived = new Set<string>();
}

/** Starting up, shutting down, without room, or ended by our own fault. */
const isBusy = (error: unknown): boolean => /^(53|57|58|25P02|08)/.test((error as { code?: string }).code ?? '');
