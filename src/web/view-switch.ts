import { type Html, html } from '../lib/text/html.ts';

/** Links to choose one of several views, of which the current one is marked. */
export function viewSwitch(label: string, links: { name: string; href: string; current: boolean }[]): Html {
  return html`
    <nav class="switch" aria-label="${label}">
      ${links.map(
        ({ name, href, current }) => html`<a href="${href}"${current && html` aria-current="true"`}>${name}</a>`,
      )}
    </nav>
  `;
}
