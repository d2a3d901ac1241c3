import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { restoreUrl, setUrl } from '../webhooks/endpoint.ts';
import { onEndpoint } from '../webhooks/told.ts';
import { recorded } from './acting.ts';

/** An address can hold a secret; its host is enough to know where events go. */
const told = (scope: Scope, url: string | null) => ({
  ...onEndpoint(scope),
  action: 'webhook.url_set' as const,
  details: { host: url === null ? null : new URL(url).host },
});

/** Sets where events go; both this and its row in the audit log, or neither. */
export function setUrlRecorded(ctx: Context, scope: Scope, url: string): Promise<string> {
  return recorded(
    ctx,
    (inner) => setUrl(inner, scope, url),
    () => told(scope, url),
  );
}

/** Takes back a URL that was set for a while, as `restoreUrl`. */
export function restoreUrlRecorded(
  ctx: Context,
  scope: Scope,
  temporary: string,
  earlier: string | null,
): Promise<void> {
  return recorded(
    ctx,
    (inner) => restoreUrl(inner, scope, temporary, earlier),
    () => told(scope, earlier),
  );
}
