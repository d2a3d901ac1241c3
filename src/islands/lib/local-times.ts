/** The page's language with its reader's region, which decides whether a day has 24 hours or twice 12. */
const locale = document.documentElement.dataset.locale || 'en';

/**
 * Shows instants in the reader's time zone. Without script they are in UTC, and say so. Those of today show only the
 * time of day. For a text such as "3 minutes ago", only the exact time that shows on hover is converted.
 */
export function localTimes(place: ParentNode): void {
  for (const time of place.querySelectorAll('time')) {
    // A date without a time of day is the same everywhere: an instant made of it would be the day before in the west.
    if (!time.dateTime.includes('T')) continue;
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const isWhole = time.title !== '' || time.closest('.facts') !== null;
    const isToday = !isWhole && at.toDateString() === new Date().toDateString();
    const date = isToday ? {} : ({ dateStyle: 'medium' } as const);
    const timeStyle = time.title || time.dataset.seconds !== undefined ? 'medium' : 'short';
    const text = new Intl.DateTimeFormat(locale, { ...date, timeStyle }).format(at);
    if (time.title) time.title = text;
    else time.textContent = time.dataset.zone === undefined ? text : `${text} ${zoneOf(at)}`;
  }
}

/** The name of the reader's time zone at that time: `CET`, `GMT+9`. */
function zoneOf(at: Date): string {
  const parts = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
