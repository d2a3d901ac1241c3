import type { UserKind } from '../auth/user-session.ts';

/** Where people of one kind sign in and work. */
export type Door<K extends UserKind = UserKind> = { kind: K; path: '/portal' | '/admin' };

export const portalDoor: Door<'partner_user'> = { kind: 'partner_user', path: '/portal' };
export const adminDoor: Door<'operator'> = { kind: 'operator', path: '/admin' };
