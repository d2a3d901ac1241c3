import { language } from './texts.ts';

/**
 * Puts instants into the reader's own time zone; without script they stand in UTC. Today's are told by their time
 * alone.
 */
export function localTimes(place: HTMLElement): void {
  for (const time of place.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const isToday = at.toDateString() === new Date().toDateString() && !time.closest('.facts');
    const date = isToday ? {} : ({ dateStyle: 'medium' } as const);
    time.textContent = new Intl.DateTimeFormat(language, { ...date, timeStyle: 'short' }).format(at);
  }
}
