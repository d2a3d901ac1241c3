import type { UserKind } from '../auth/user-session.ts';

/** The part of the site where users of one kind sign in and work. */
export type Realm<K extends UserKind = UserKind> = { kind: K; path: '/portal' | '/admin' };

export const portalRealm: Realm<'partner_user'> = { kind: 'partner_user', path: '/portal' };
export const adminRealm: Realm<'operator'> = { kind: 'operator', path: '/admin' };
