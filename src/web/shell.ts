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
  /** The title where it is more than text. */
  heading?: Html | undefined;
  words: Words;
  branding?: Branding | undefined;
  testMode: boolean | null;
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
  /** Where browser code may connect to beside this site. */
  connectTo?: string | undefined;
};

/** Answers with a page in the shell. */
export function sendShell(reply: FastifyReply, status: number, page: ShellPage): FastifyReply {
  const { words, branding, testMode, path } = page;
  return sendPage(reply, status, {
    title: page.title,
    whose: page.home.label,
    words,
    branding,
    testMode,
    path,
    island: page.island ?? 'app',
    connectTo: page.connectTo,
    frame: { before: navigation(page), wide: true },
    body: html`<h1>${page.heading ?? page.title}</h1>${page.body}`,
  });
}

/** So many places have room at the bottom of a phone; the others unfold there from one button. */
const inBar = 4;

function navigation({ home, places, path, under, modeSwitch, aside, branding, words }: ShellPage): Html {
  const { app } = commonTexts(words);
  const at = under ?? path;
  const current = places
    // What stands under none of the places does not stand under the first one either.
    .filter((place) => at === place.path || (place.path !== home.path && at.startsWith(`${place.path}/`)))
    .sort((a, b) => b.path.length - a.path.length)[0];
  const item = (place: Place) =>
    html`<li><a href="${place.path}"${place === current && html` aria-current="page"`}>${place.label}</a></li>`;
  // One more fits in the place of the button.
  const first = places.length > inBar + 1 ? places.slice(0, inBar) : places;
  const more = places.slice(first.length);
  return html`
    <header class="side">
      <p class="home">
        ${branding && logoOf(branding)}
        <a href="${home.path}">${home.label}</a>
      </p>
      ${modeSwitch}
      <nav class="bar" aria-label="${app.navigation}">
        <ul class="places">${first.map(item)}</ul>
        ${
          more.length > 0 &&
          html`
            <button
              type="button"
              class="more"
              popovertarget="places"${more.some((place) => place === current) && html` aria-current="true"`}
            >
              ${app.more}
            </button>
            <ul class="places" id="places" popover>${more.map(item)}</ul>
          `
        }
      </nav>
      <div class="aside">${aside}</div>
    </header>
  `;
}

/** A message beside the heading after a change. `?done=` names its text; a reload does not repeat it. */
export function notice(kind: 'paid' | 'attention', text: Html | string): Html {
  return html`<p class="notice ${kind}" role="status">${text}</p>`;
}
