import type { Client } from '../auth/client.ts';
import type { Role } from '../auth/roles.ts';

/** Every action in the audit log, with the details that may accompany it. Secrets are never details. */
export const actions = {
  'partner.created': ['slug', 'currency'],
  'partner.changed': ['name', 'currency', 'expiry_minutes', 'default_expiry_minutes', 'accent', 'logo', 'email'],
  'partner.disabled': [],
  'partner.enabled': [],
  'key.created': ['scopes'],
  'key.revoked': ['hint'],
  'webhook.url_set': ['host'],
  'webhook.secret_rotated': [],
  'webhook.secret_activated': [],
  'webhook.enabled': [],
  /** `why`: gone (410), or dead (no success for long). */
  'webhook.disabled': ['host', 'why'],
  'webhook.replayed': ['since', 'deliveries'],
  'merchant.created': [],
  /** The merchant's wallet has signed, and its owner has accepted the terms. */
  'merchant.onboarded': ['wallet', 'terms_version'],
  'merchant.reset': [],
  'merchant.disabled': ['by'],
  'merchant.enabled': ['by'],
  'recovery.started': [],
  /** The new wallet has signed; it takes over when `due`. */
  'recovery.signed': ['from', 'to', 'due'],
  'recovery.cancelled': [],
  'recovery.vetoed': [],
  'recovery.expired': [],
  /** `recovery`: whether a recovery in progress ended. */
  'wallet.changed': ['from', 'to', 'recovery'],
  'wallet.released': ['merchant'],
  /** Somebody else has signed for a wallet that a merchant had only claimed. */
  'wallet.displaced': ['merchant'],
  'rate.set': ['rate', 'until'],
  'rate.cleared': [],
  'rates.refreshed': ['partner'],
  'user.invited': ['email', 'role'],
  'user.role_changed': ['email', 'from', 'to'],
  'user.disabled': ['email'],
  'user.enabled': ['email'],
  'passkey.added': ['name'],
  'passkey.removed': ['name'],
  'passkey.copied': ['name'],
  'passkeys.removed': ['email', 'passkeys'],
  'request.cancelled': [],
  'request.created': ['amount', 'currency', 'payment_mode'],
  'payment.attached': ['payment', 'request'],
  /** A partial payment of a request that ended unpaid was detached from it, to be refunded. */
  'payment.released': ['request', 'usdc_micro'],
  /**
   * A refund was started, before its transfer is offered; no request gets the payment until the refund is cancelled.
   */
  'payment.taken': ['request', 'usdc_micro'],
  'payment.put_back': [],
  'payment.returned': ['request', 'usdc_micro', 'transaction', 'replaces'],
  'merchant.changed': ['fields', 'currency'],
  'mail.retried': [],
  'receipt.retried': ['channel'],
  /** The log says how much was erased, never what. */
  'customer.erased': ['by', 'requests', 'plans', 'mails', 'messages'],
  'plan.created': ['amount', 'currency', 'every', 'period', 'charges'],
  'plan.paused': [],
  'plan.resumed': [],
  'plan.ended': [],
  /** The customer has stopped the mails, by the link in one of them. */
  'plan.mails_stopped': [],
  'plan.changed': ['amount', 'currency'],
  'plan.retried': [],
  /** The customer has agreed to automatic charges by signing with a wallet. `usdc_micro`: the most per charge. */
  'mandate.agreed': ['wallet', 'usdc_micro'],
  /** A customer's agreement to automatic charges is not used any more. */
  'mandate.ended': ['why'],
  /** An operator has opened a partner's request, payment, merchant, or its volume, webhook and keys. */
  'data.viewed': [],
  /** An operator has searched all partners, or the named one. */
  'data.searched': ['partner'],
  'session.started': [],
  'session.revoked': ['email'],
} as const satisfies Record<string, readonly string[]>;

export type AuditAction = keyof typeof actions;

/** The kinds of objects that actions concern. */
export type ObjectKind =
  | 'partner'
  | 'key'
  | 'webhook_endpoint'
  | 'webhook_delivery'
  | 'merchant'
  | 'wallet'
  | 'rate'
  | 'request'
  | 'plan'
  | 'payment'
  | 'user'
  | 'customer'
  | 'mail'
  | 'receipt'
  | 'session';

/** Who acts, and from which address, if that is known. */
export type Actor =
  | ({
      kind: 'partner_user' | 'operator';
      userId: string;
      email: string;
      /** The role in which a partner's user acts; null for an operator, and for a user who is just signing in. */
      role: Role | null;
    } & Client)
  /** `hint` is the key's prefix and last characters. */
  | ({ kind: 'api_key'; keyId: string; hint: string } & Client)
  /** A merchant in its dashboard, known by its wallet. */
  | ({ kind: 'merchant'; accountId: string; walletAddress: string } & Client)
  | { kind: 'command_line' }
  /** The service itself: because something was due, or a receiver has failed for too long. */
  | { kind: 'service' };

type Detail = string | number | boolean | null | readonly string[];

/** One action, as a row of the log stores it. */
export type AuditEntry<A extends AuditAction = AuditAction> = {
  [K in A]: {
    action: K;
    /** Whose log it belongs to: the partner that it concerns; null for what concerns none. */
    partnerId: string | null;
    /** The mode that it concerns; null for none, or both. */
    testMode: boolean | null;
    object: { kind: ObjectKind; id: string };
    details: { [D in (typeof actions)[K][number]]?: Detail };
  };
}[A];
