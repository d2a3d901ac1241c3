import type { ChainConfig } from '../config/chains.ts';
import type { Tx } from '../db/connection.ts';
import { readAuthorizationNonce } from '../requests/authorization-nonce.ts';
import { findAllReferenced, type ReferencedRow, type ScopedReference } from '../requests/references.ts';
import { findReservations, type ReservationRow } from '../requests/reservations.ts';
import { selectAllBound } from './authorized/store.ts';
import { selectKeptBindings } from './kept-binding-store.ts';
import {
  type Candidates,
  type Choice,
  canBePaid,
  choose,
  isNamed,
  type Named,
  neighbourhoodMicro,
  type Reservation,
  rejection,
  type Transfer,
} from './rules.ts';
import { selectWalletChains, toTransfer } from './store.ts';
import type { TransferRow } from './transfers.ts';

/** A stored transfer, and the request that it is meant for. */
export type Chosen = { row: TransferRow; transfer: Transfer; choice: Choice };

/**
 * Which requests transfers are meant for, in their order, read together. They may belong to several scopes: each is
 * compared only with data of its own scope.
 */
export async function readChoices(tx: Tx, chain: ChainConfig, rows: readonly TransferRow[]): Promise<Chosen[]> {
  const tokens = chain.tokens.map(({ address }) => address);
  const transfers = rows.map((row) => ({ row, transfer: toTransfer(row) }));
  const proper = transfers.filter(({ transfer }) => rejection(transfer, tokens) === null);
  const candidates = await readCandidates(tx, proper);
  const chosen = transfers.map(({ row, transfer }): Chosen => {
    const own = candidates.get(row);
    const reason = rejection(transfer, tokens) ?? 'no_match';
    return { row, transfer, choice: own ? choose(transfer, own) : { requestId: null, reason } };
  });
  const strays = chosen.filter(({ row, choice }) => choice.requestId === null && candidates.has(row));
  const payable = await selectWalletChains(
    tx,
    strays.map(({ row }) => row),
  );
  return chosen.map((one) =>
    canBePaid(one.transfer.chainId, payable.get(one.row) ?? null)
      ? one
      : { ...one, choice: { requestId: null, reason: 'wrong_network' } },
  );
}

/**
 * Reads the data that says which requests transfers are meant for. The first round trip reads what names requests; the
 * second reads reserved amounts near the transfers that name none.
 */
async function readCandidates(
  tx: Tx,
  transfers: readonly { row: TransferRow; transfer: Transfer }[],
): Promise<Map<TransferRow, Candidates>> {
  const rows = transfers.map(({ row }) => row);
  const [kept, bound, referenced] = await Promise.all([
    selectKeptBindings(tx, rows),
    selectAllBound(
      tx,
      rows.filter(({ authorization_nonce }) => authorization_nonce !== null),
    ),
    findAllReferenced(tx, transfers.flatMap(referencesOf)),
  ]);
  const keptAt = new Map(kept.map(({ place, request_id, rule }) => [place, { requestId: request_id, rule }]));
  const named = new Map(referenced.map((row) => [keyOfReference(row), row]));
  const known = transfers.map(({ row, transfer }, place) => {
    const find = (reference: string | null) =>
      reference === null ? null : toNamed(named.get(keyOfReference({ ...row, reference })));
    return {
      ...{ row, transfer },
      decided: keptAt.get(place) ?? null,
      authorized: find(referenceIn(transfer)) ?? toNamed(bound.get(row)),
      charged: find(transfer.chargedReference),
      referenced: find(transfer.reference),
    };
  });
  const unnamed = known.filter((one) => !isNamed(one));
  const reserved = await findReservations(tx, unnamed.map(toPaid));
  const near = Map.groupBy(reserved, ({ place }) => unnamed[place]);
  return new Map(known.map((one) => [one.row, { ...one, reservations: (near.get(one) ?? []).map(toReservation) }]));
}

function toReservation(row: ReservationRow): Reservation {
  return {
    requestId: row.request_id,
    usdcMicro: BigInt(row.usdc_micro),
    reservedAt: row.reserved_at,
    reservedUntil: row.reserved_until,
    startBlock: row.start_block === null ? null : Number(row.start_block),
  };
}

const keyOfReference = ({ partner_id, test_mode, reference }: ScopedReference) =>
  `${partner_id} ${test_mode} ${reference}`;

const toNamed = (row: Pick<ReferencedRow, 'id' | 'wallet_address'> | undefined): Named | null =>
  row ? { id: row.id, walletAddress: row.wallet_address } : null;

/** The reference in the nonce of its authorization. */
function referenceIn({ authorizationNonce }: Transfer): string | null {
  const made = authorizationNonce === null ? null : readAuthorizationNonce(Buffer.from(authorizationNonce, 'hex'));
  return made?.reference.toString('hex') ?? null;
}

function referencesOf({ row, transfer }: { row: TransferRow; transfer: Transfer }): ScopedReference[] {
  const { partner_id, test_mode } = row;
  const all = [transfer.reference, transfer.chargedReference, referenceIn(transfer)];
  return all.flatMap((reference) => (reference === null ? [] : [{ partner_id, test_mode, reference }]));
}

function toPaid({ row, transfer }: { row: TransferRow; transfer: Transfer }) {
  return {
    ...{ partner_id: row.partner_id, test_mode: row.test_mode },
    ...{ wallet_address: transfer.to, chain_id: transfer.chainId },
    ...{ paid_micro: String(transfer.value), paid_at: transfer.blockTime },
    around_micro: String(neighbourhoodMicro(transfer.value)),
  };
}
