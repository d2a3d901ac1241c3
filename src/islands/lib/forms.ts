import { fragmentPlaces, type PageFragment } from './fragments.ts';

const answerMs = 20_000;

/** The response to a form: the title and fragments of the page, or only a notice. */
export type FormAnswer = { title: string; fragments: PageFragment[] } | { notice: string };

/**
 * Submits a form of the page without leaving it. The response is the whole page, as without script.
 *
 * @param unanswered the text to show if no answer arrives: unlike the page's state, a form is not sent again by itself
 */
export async function sendForm(
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  unanswered: string,
): Promise<FormAnswer> {
  const fields = new FormData(form, submitter) as unknown as Iterable<[string, string]>;
  const body = new URLSearchParams([...fields]);
  try {
    const answer = await fetch(form.action, { method: 'POST', body, signal: AbortSignal.timeout(answerMs) });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const root = page.getElementById('checkout');
    if (!root) return { notice: page.querySelector('main')?.textContent?.trim() || unanswered };
    const fragments = fragmentPlaces(root).map(({ dataset, innerHTML: html }) => ({
      name: dataset.part ?? '',
      version: dataset.version ?? '',
      html,
    }));
    return { title: page.title, fragments };
  } catch {
    return { notice: unanswered };
  }
}

/** The element in which a form shows what it waits for, or that there was no response. */
export function noticeIn(form: HTMLFormElement): HTMLElement {
  const before = form.previousElementSibling;
  if (before instanceof HTMLElement && before.dataset.notice !== undefined) return before;
  const notice = document.createElement('p');
  notice.className = 'told';
  notice.dataset.notice = '';
  form.before(notice);
  return notice;
}

/** Moves the focus to the result of a form: the field at fault, or the message. */
export function focusAnswer(place: HTMLElement): void {
  const answer = place.querySelector<HTMLElement>('[aria-invalid="true"], [role="status"]:not([hidden])');
  if (!answer) return;
  if (!answer.matches('input')) answer.tabIndex = -1;
  answer.focus();
}
