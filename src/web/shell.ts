import type { FastifyReply } from 'fastify';
import { type Html, html } from '../lib/text/html.ts';
import { commonTexts } from '../texts/common.ts';
import { type Branding, logoOf } from '../ui/branding.ts';
import type { Words } from '../ui/language.ts';
import type { IslandName } from './assets.ts';
import { typedAgainNotice } from './kept-forms.ts';
import { sendPage } from './layout.ts';

/** An item of the navigation. The item of the current page is marked. */
export type Place = { path: string; label: string };

/** A page for signed-in users, with navigation beside it, or at the bottom on a phone. */
export type ShellPage = {
  title: string;
  /** The heading, if it is more than the title's text. */
  heading?: Html | undefined;
  words: Words;
  branding?: Branding | undefined;
  testMode: boolean | null;
  /** The link above the navigation, which names the owner of these pages. */
  home: { path: string; label: string };
  places: Place[];
  /** Address of this page, without query. */
  path: string;
  /** The path of the item that it belongs to, if its own path does not show that. */
  under?: string | undefined;
  /** The switch between test and live mode, if there is one. It is visible on every size of screen. */
  modeSwitch?: Html;
  /** The id of who is signed in, by which browser code knows whose typed text it has kept. */
  user: string;
  /** Who is signed in, with the button for signing out. */
  aside: Html;
  body: Html;
  island?: IslandName | undefined;
  /** An origin to which browser code may connect, beside this site. */
  connectTo?: string | undefined;
};

/** Responds with a page in the shell. */
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
    body: html`
      <h1>${page.heading ?? dotAtEnd(page.title)}</h1>
      ${typedAgainNotice(words)}
      ${noConnectionNotice(words)}
      ${page.body}
    `,
  });
}

/** A title of several parts, whose dots never begin a line. */
export const dotAtEnd = (title: string): string => title.replaceAll(' ·', '\u00a0·');

/** How many items fit at the bottom of a phone's screen. The others unfold from a button. */
const inBar = 4;

function navigation({ home, places, path, under, modeSwitch, user, aside, branding, words }: ShellPage): Html {
  const { app } = commonTexts(words);
  const at = under ?? path;
  const current = places
    // The path of the first item is a prefix of all others, so only the page itself belongs to it.
    .filter((place) => at === place.path || (place.path !== home.path && at.startsWith(`${place.path}/`)))
    .sort((a, b) => b.path.length - a.path.length)[0];
  const item = (place: Place) =>
    html`<li><a href="${place.path}"${place === current && html` aria-current="page"`}>${place.label}</a></li>`;
  // Without the button there is room for one more item.
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
      <div class="aside" data-user="${user}">${aside}</div>
    </header>
  `;
}

/** The notice that browser code shows on a live page which hears of no changes (`islands/lib/regions.ts`). */
export const noConnectionNotice = (words: Words): Html =>
  html`<p class="notice attention" role="status" data-no-connection hidden>${commonTexts(words).app.noConnection}</p>`;

/** A message beside the heading after a change. `?done=` names its text; a reload does not repeat it. */
export function notice(kind: 'paid' | 'attention', text: Html | string): Html {
  return html`<p class="notice ${kind}" role="status">${text}</p>`;
}
