import { may } from '../../auth/roles.ts';
import type { PortalVisit } from '../route.ts';

/** A webhook's URL for users who may change it; for others only its host, because the rest is often secret. */
export function shownUrl({ user, mode }: Pick<PortalVisit, 'user' | 'mode'>, url: string): string {
  if (may(user, 'webhooks', mode)) return url;
  const { origin } = new URL(url);
  return url === origin || url === `${origin}/` ? url : `${origin}/…`;
}
