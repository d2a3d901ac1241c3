/** Whose plans these are, and how that is forgotten. */
export {
  type CustomerPlan,
  selectOldPlans as findOldPlans,
  selectPlansOfCustomer as findPlansOfCustomer,
  selectRequestsBeside as findRequestsBeside,
  updateForgotten as forgetPlans,
} from './customer-store.ts';
