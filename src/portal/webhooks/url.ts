import { may } from '../../auth/roles.ts';
import type { PortalVisit } from '../session.ts';

/** A webhook's address for whoever may change it; for others its host: what follows is often the receiver's secret. */
export function shownUrl({ user, mode }: Pick<PortalVisit, 'user' | 'mode'>, url: string): string {
  if (may(user, 'webhooks', mode)) return url;
  const { origin } = new URL(url);
  return url === origin || url === `${origin}/` ? url : `${origin}/…`;
}
