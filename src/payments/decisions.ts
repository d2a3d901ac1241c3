import type { Context } from '../context.ts';
import type { Tx } from '../db/connection.ts';
import { attachProofs, type RequestKey } from '../requests/proof.ts';
import { assetOf, completeProofs, type Settled } from './complete.ts';
import type { Applicable, IntendedTransfer, LockedRequest } from './decide.ts';
import { completingTransfer, type Reason } from './rules.ts';
import { type MatchResult, updateMatches } from './store.ts';
import type { TransferRow } from './transfers.ts';

/** Decisions about locked transfers and requests of any scopes, in order. They are written at once. */
export class Decisions {
  readonly #matches: { row: TransferRow; result: MatchResult }[] = [];
  readonly #attached = new Map<string, RequestKey & { asset_id: string }>();
  readonly #verified = new Map<string, Settled>();

  /** @param candidateId the request that the transfer seems meant for; null if there is none */
  reject(row: TransferRow, candidateId: string | null, reason: Reason): void {
    this.#matches.push({ row, result: { requestId: null, candidateId, reason } });
  }

  apply({ request: before }: LockedRequest, { row, rule }: IntendedTransfer, { after, settled }: Applicable): void {
    const { partner_id, test_mode, id, proof_status, usdc_micro } = after.request;
    this.#matches.push({ row, result: { requestId: id, rule, reason: null } });
    if (proof_status === 'verified') {
      this.#attached.delete(id);
      this.#verified.set(id, { request: after.request, settled });
    } else if (proof_status !== before.proof_status) {
      const last = completingTransfer(after.counted, BigInt(usdc_micro)) ?? row;
      this.#attached.set(id, { partner_id, test_mode, id, asset_id: assetOf(last) });
    }
  }

  /**
   * @param from what the transfers are: not matched yet, or found to be unmatched
   * @throws if something has changed although it is locked
   */
  async write(tx: Tx, ctx: Context, from: 'pending' | 'unmatched'): Promise<void> {
    if (this.#matches.length === 0) return;
    const [matched, attached, verified] = await Promise.all([
      updateMatches(tx, from, this.#matches, ctx.clock.now()),
      attachProofs(tx, [...this.#attached.values()]),
      completeProofs(tx, ctx, [...this.#verified.values()]),
    ]);
    if (matched < this.#matches.length || attached < this.#attached.size || verified.size < this.#verified.size)
      throw new Error('something that was locked has changed');
  }
}
