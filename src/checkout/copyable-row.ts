import { type Html, html } from '../lib/text/html.ts';
import { mono } from '../ui/components.ts';
import { copyShape } from '../ui/copyable.ts';

/** A row of a list of facts, with a button that copies it. The button needs script, and is hidden without it. */
export function copyableRow(name: string, label: string, value: string): Html {
  return html`
    <div class="copyable">
      <dt>${name}</dt>
      <dd>${mono(value)}</dd>
      <dd>
        <button type="button" class="copy" data-copy="${value}" aria-label="${label}" hidden>${copyShape}</button>
      </dd>
    </div>
  `;
}
