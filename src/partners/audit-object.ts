import type { Partner } from './store.ts';

/** The target under which the audit log records actions on a partner itself, which apply to both modes. */
export const onPartner = ({ id, slug }: Pick<Partner, 'id' | 'slug'>) => ({
  partnerId: id,
  testMode: null,
  object: { kind: 'partner' as const, id: slug },
});
