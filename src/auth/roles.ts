import type { Mode } from '../lib/mode.ts';

/** The roles of a partner's user, from the most privileged to the least. */
export const roles = ['owner', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

const all: readonly Role[] = roles;
const developing: readonly Role[] = ['owner', 'developer'];
const owning: readonly Role[] = ['owner'];

type Allowed = Readonly<Record<Mode, readonly Role[]>>;
const inBoth = (who: readonly Role[]): Allowed => ({ test: who, live: who });
/** A developer may do this in test mode only. In live mode developers read, replay and look things up. */
const ownersLive: Allowed = { test: developing, live: owning };

/** Every permission in the portal, and who has it in which mode. `read` covers everything visible. */
export const permissions = {
  read: inBoth(all),
  'requests.cancel': ownersLive,
  'payments.test': inBoth(developing),
  'keys.read': inBoth(developing),
  keys: ownersLive,
  webhooks: ownersLive,
  'deliveries.replay': inBoth(developing),
  team: inBoth(owning),
  settings: inBoth(owning),
  'merchants.invite': ownersLive,
  'merchants.disable': inBoth(owning),
  'merchants.reset': inBoth(owning),
  'merchants.recover': inBoth(owning),
} as const satisfies Record<string, Allowed>;

export type Permission = keyof typeof permissions;

/** Whether a partner's user may do this in a mode. While the partner is disabled, its users can only read. */
export function may(user: { role: Role; partner: { disabled: boolean } }, permission: Permission, mode: Mode): boolean {
  if (user.partner.disabled && permission !== 'read') return false;
  return permissions[permission][mode].includes(user.role);
}

/** Whether a value is the name of a role. */
export function isRole(text: unknown): text is Role {
  return roles.some((role) => role === text);
}
