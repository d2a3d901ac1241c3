import { type Html, html, raw } from '../lib/text/html.ts';
import { mono } from '../ui/components.ts';

/** A fact with a button that copies it; the button needs script and shows only with it. */
export function copyable(name: string, label: string, value: string): Html {
  return html`
    <div class="copyable">
      <dt>${name}</dt>
      <dd>${mono(value)}</dd>
      <dd>
        <button type="button" class="copy" data-copy="${value}" aria-label="${label}" hidden>${raw(copyShape)}</button>
      </dd>
    </div>
  `;
}

const copyShape =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8"><rect x="8" y="8" width="12" height="12" rx="2.5"/><path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/></svg>';
