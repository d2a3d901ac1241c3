import { type Html, html } from '../lib/text/html.ts';
import { hiddenField } from './components.ts';

/** A form with one button, at its end. */
type Form = {
  action: string;
  /** A class of `style.css` or `shell.css` that lays it out. */
  class?: 'card' | 'inline' | 'stack' | 'filters';
  /** Hidden values by their names. */
  hidden?: Record<string, string>;
  /** The fields. */
  inside?: Html | null;
  /** The button's text. */
  submit: string;
  /** Set if the button is a secondary one. */
  second?: true;
};

/** A form that changes something. It is posted, and accepted only from a page of this site (`isOwnForm`). */
export function form(form: Form): Html {
  return html`
    <form method="post" action="${form.action}"${form.class && html` class="${form.class}"`}>
      ${Object.entries(form.hidden ?? {}).map(([name, value]) => hiddenField(name, value))}
      ${form.inside}
      <button${form.second && html` class="second"`}>${form.submit}</button>
    </form>
  `;
}

/**
 * The button of a destructive action. A confirmation names the action and its consequences first. Without script, the
 * confirmation unfolds.
 *
 * @param fields hidden values of the form
 */
export function confirmButton(
  act: { label: string; title: string; consequence: string; action: string; danger?: true },
  fields: Html | null,
): Html {
  return html`
    <details class="confirm${act.danger && ' danger'}">
      <summary>${act.label}</summary>
      <div class="question">
        <p><strong>${act.title}</strong></p>
        <p class="quiet">${act.consequence}</p>
        ${form({ action: act.action, inside: fields, submit: act.label })}
      </div>
    </details>
  `;
}
