export { type Partner, selectPartner as readPartner, updateDisabled as setPartnerDisabled } from './store.ts';
