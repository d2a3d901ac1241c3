import type { Partner } from './store.ts';

/** Where the audit log puts what is done to a partner itself: it holds in both modes. */
export const onPartner = ({ id, slug }: Pick<Partner, 'id' | 'slug'>) => ({
  partnerId: id,
  testMode: null,
  object: { kind: 'partner' as const, id: slug },
});
