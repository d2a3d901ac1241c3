import { type Html, html } from '../lib/text/html.ts';
import { hiddenField } from './components.ts';

/** A form that is sent by one button at its end. */
type Form = {
  action: string;
  /** A class of `style.css` or `shell.css` that lays it out. */
  class?: 'card' | 'inline' | 'stack' | 'filters';
  /** Values that go with it unseen, by their names. */
  hidden?: Record<string, string>;
  /** What it asks for. */
  inside?: Html | null;
  /** What its button says. */
  submit: string;
  /** A button beside a weightier one. */
  second?: true;
};

/** A form that changes something: it is posted, and only from a page of this site (`isOwnForm`). */
export function form(form: Form): Html {
  return html`
    <form method="post" action="${form.action}"${form.class && html` class="${form.class}"`}>
      ${Object.entries(form.hidden ?? {}).map(([name, value]) => hiddenField(name, value))}
      ${form.inside}
      <button${form.second && html` class="second"`}>${form.submit}</button>
    </form>
  `;
}
