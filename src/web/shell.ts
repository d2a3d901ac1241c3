import type { FastifyReply } from 'fastify';
import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { type Branding, logoOf } from '../ui/branding.ts';
import type { Words } from '../ui/language.ts';
import type { IslandName } from './assets.ts';
import { sendPage } from './layout.ts';

/** One place of the navigation; the address under which the present page stands is marked. */
export type Place = { path: string; label: string };

/** A page of people who work here: navigation beside it, below it on a phone. */
export type ShellPage = {
  title: string;
  words: Words;
  branding?: Branding | undefined;
  testMode: boolean;
  /** What stands above the navigation: whose place this is. */
  home: { path: string; label: string };
  places: Place[];
  /** Address of this page, without query. */
  path: string;
  /** The place it belongs to, where its address does not say so. */
  under?: string | undefined;
  /** The test/live switch, where there is one: in sight on every size of screen. */
  modeSwitch?: Html;
  /** Who is signed in, with the way out. */
  aside: Html;
  body: Html;
  island?: IslandName | undefined;
};

/** Answers with a page in the shell. */
export function sendShell(reply: FastifyReply, status: number, page: ShellPage): FastifyReply {
  const { words, branding, testMode, path } = page;
  return sendPage(reply, status, {
    title: page.title,
    words,
    branding,
    testMode,
    path,
    island: page.island ?? 'app',
    frame: { before: navigation(page), wide: true },
    body: html`<h1>${page.title}</h1>${page.body}`,
  });
}

function navigation({ home, places, path, under, modeSwitch, aside, branding, words }: ShellPage): Html {
  const at = under ?? path;
  const current = places
    // What stands under none of the places does not stand under the first one either.
    .filter((place) => at === place.path || (place.path !== home.path && at.startsWith(`${place.path}/`)))
    .sort((a, b) => b.path.length - a.path.length)[0];
  return html`
    <header class="side">
      <p class="home">
        ${branding && logoOf(branding)}
        <a href="${home.path}">${home.label}</a>
      </p>
      <div class="bar">
        <nav aria-label="${commonTexts(words).app.navigation}">
          <ul class="places">
            ${places.map(
              (place) =>
                html`
                  <li>
                    <a href="${place.path}"${place === current && html` aria-current="page"`}>${place.label}</a>
                  </li>
                `,
            )}
          </ul>
        </nav>
        ${modeSwitch}
      </div>
      <div class="aside">${aside}</div>
    </header>
  `;
}

/** A message beside the heading after a change. `?done=` names its text; a reload does not repeat it. */
export function notice(kind: 'paid' | 'attention', text: Html | string): Html {
  return html`<p class="notice ${kind}" role="status">${text}</p>`;
}
