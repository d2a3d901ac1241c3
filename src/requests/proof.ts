/** The states of a request's proof, for payments: each change is one guarded update under the row's lock. */
export {
  deleteReservations as releaseReserved,
  type Proof,
  selectForProof as lockForProof,
  selectReferenced as findReferenced,
  selectReservations as findReservations,
  updateAttached as attachProof,
  updateDetached as detachProof,
  updateExpiry as moveExpiry,
  updateUnbound as unbindPartial,
  updateVerified as verifyProof,
} from './proof-store.ts';
export { type RequestRow, selectRequest as findRequest } from './store.ts';
