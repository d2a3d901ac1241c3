import { language } from './texts.ts';

/** Shows instants in the reader's time zone; without script they are in UTC. Those of today show only the time. */
export function localTimes(place: HTMLElement): void {
  for (const time of place.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const isToday = at.toDateString() === new Date().toDateString() && !time.closest('.facts');
    const date = isToday ? {} : ({ dateStyle: 'medium' } as const);
    time.textContent = new Intl.DateTimeFormat(language, { ...date, timeStyle: 'short' }).format(at);
  }
}
