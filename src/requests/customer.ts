/** Who pays a request, and how that is forgotten. */
export {
  type CustomerKey,
  type CustomerRequest,
  selectCustomer as lockCustomer,
  selectMadeBetween as findMadeBetween,
  selectOfCustomer as findOfCustomer,
  updateErased as eraseFromRequests,
} from './customer-store.ts';
