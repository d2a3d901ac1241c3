/** What a partner's user may be, from the most to the least. */
export const roles = ['owner', 'developer', 'viewer'] as const;
export type Role = (typeof roles)[number];

const all: readonly Role[] = roles;
const developing: readonly Role[] = ['owner', 'developer'];
const owning: readonly Role[] = ['owner'];

/** Everything that needs leave in the portal, and who has it. `read` is seeing whatever there is, in both modes. */
export const permissions = {
  read: all,
  'requests.cancel': developing,
  'payments.test': developing,
  'keys.test': developing,
  'keys.live': owning,
  webhooks: developing,
  'deliveries.replay': developing,
  team: owning,
  settings: owning,
  'merchants.invite': developing,
  'merchants.disable': owning,
  'merchants.reset': owning,
  'merchants.recover': owning,
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof permissions;

/** True when a partner's user may do this. While the partner is switched off, everybody only reads. */
export function may(user: { role: Role; partner: { disabled: boolean } }, permission: Permission): boolean {
  if (user.partner.disabled && permission !== 'read') return false;
  return permissions[permission].includes(user.role);
}

/** A text that names a role. */
export function isRole(text: unknown): text is Role {
  return roles.some((role) => role === text);
}
