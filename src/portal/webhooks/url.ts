import { may } from '../../auth/roles.ts';
import { portalTexts } from '../../texts/portal.ts';
import type { Words } from '../../ui/language.ts';
import type { AttemptRow, LoggedDelivery } from '../../webhooks/delivery-log.ts';
import type { DeliveryHealth } from '../../webhooks/health-store.ts';
import type { PortalVisit } from '../route.ts';

/** Why no attempt is made for now, whatever its time; null if nothing hinders it. */
export function hindranceOf(words: Words, { url, disabled_at }: DeliveryHealth): string | null {
  const { events } = portalTexts(words).request;
  if (url === null) return events.eventNoUrl;
  return disabled_at === null ? null : events.eventDisabled;
}

type Reader = Pick<PortalVisit, 'user' | 'mode'>;

/** A shorter part of a URL is a word such as `hook`, and would be cut out of sentences. */
const minSecretLength = 6;

/** A webhook's URL for users who may change it; for others only its host, because the rest is often secret. */
export function shownUrl({ user, mode }: Reader, url: string): string {
  if (may(user, 'webhooks', mode)) return url;
  const { origin } = new URL(url);
  return url === origin || url === `${origin}/` ? url : `${origin}/…`;
}

/**
 * An event with its attempts as this user may see them. Receivers often repeat the URL that was called, so its parts
 * are taken out of what they answered for users who do not see it.
 */
export function shownDelivery(reader: Reader, delivery: LoggedDelivery): LoggedDelivery {
  if (may(reader.user, 'webhooks', reader.mode)) return delivery;
  return { ...delivery, log: delivery.log.map((attempt) => shownAttempt(reader, attempt)) };
}

function shownAttempt(reader: Reader, attempt: AttemptRow): AttemptRow {
  const { pathname, search, searchParams } = new URL(attempt.url);
  const written = [...pathname.split('/'), ...search.split(/[?&=]/)];
  const parts = [...written, ...searchParams.values()].filter((part) => part.length >= minSecretLength);
  // The longest first: a part may contain another one.
  parts.sort((a, b) => b.length - a.length);
  const without = (text: string | null) => text && parts.reduce((shown, part) => shown.replaceAll(part, '…'), text);
  return {
    ...attempt,
    url: shownUrl(reader, attempt.url),
    response_headers: without(attempt.response_headers),
    response_body: without(attempt.response_body),
  };
}
