import type { LinkUser } from '../../auth/sign-in-link.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { type Branding, logoOf } from '../../ui/branding.ts';
import { card, field, stateLine } from '../../ui/components.ts';
import { fill, type Words } from '../../ui/language.ts';
import { passkeySignIn } from '../passkeys/parts.ts';
import type { PasskeyRefusalReason } from '../passkeys/refusal.ts';
import type { Door } from '../realm.ts';

/** Where an e-mail address is typed, to be sent a link; or a passkey shown. */
export function askPage(words: Words, door: Door, branding: Branding | null, typed: string, fault: boolean): Html {
  const { signInUser: t } = signInTexts(words);
  return html`${branding && logoOf(branding)}<h1>${titleOf(words, door)}</h1>${card(html`<p>${t.rest}</p>${askForm(words, door, typed, fault)}${passkeySignIn(words, door, false)}`)}`;
}

export function titleOf(words: Words, door: Door): string {
  const { signInUser: t } = signInTexts(words);
  return door.kind === 'operator' ? t.adminTitle : t.portalTitle;
}

function askForm(words: Words, door: Door, typed: string, fault: boolean): Html {
  const { signInUser: t } = signInTexts(words);
  return html`<form method="post" action="${door.path}/sign-in" novalidate>${field({
    name: 'email',
    label: t.email,
    value: typed,
    fault: fault ? t.notAnEmail : undefined,
    attributes: 'type="email" autocomplete="email" required maxlength="254"',
  })}<button>${t.send}</button></form>`;
}

/** The same for every address, known or not. */
export function sentPage(words: Words, door: Door): Html {
  const { signInUser: t } = signInTexts(words);
  return card(
    stateLine('waiting', t.sent, t.sentRest, 'h1'),
    html`<p><a href="${door.path}/sign-in">${t.again}</a></p>`,
  );
}

/** Why no link is sent, or why a link opens nothing; with the way to a new one. */
export function againPage(
  words: Words,
  door: Door,
  why: 'unknown' | 'used' | 'expired' | 'otherBrowser' | 'enough',
): Html {
  const { signInUser: t } = signInTexts(words);
  return card(
    stateLine(why === 'otherBrowser' ? 'attention' : 'ended', t[why], t[`${why}Rest`], 'h1'),
    why !== 'enough' && askForm(words, door, '', false),
  );
}

/** Why a passkey does not sign in, and both ways to try again. */
export function refusedPage(words: Words, door: Door, reason: PasskeyRefusalReason): Html {
  const { passkey: t } = signInTexts(words);
  return card(
    stateLine('attention', t.refused, t.refusals[reason], 'h1'),
    passkeySignIn(words, door, false),
    askForm(words, door, '', false),
  );
}

/** One button for each place that the link's address belongs to; where a passkey is kept, that opens and not the link. */
export function openPage(words: Words, door: Door, action: string, email: string, users: LinkUser[]): Html {
  const { signInUser: t, passkey } = signInTexts(words);
  const several = users.length > 1;
  const open = users.filter((user) => !user.passkey);
  const kept = users.filter((user) => user.passkey);
  return html`<h1>${fill(t.open, { email })}</h1>${card(
    (several || kept.length === 0) && html`<p>${several ? t.choose : t.openRest}</p>`,
    ...open.map(
      ({ id, partner_name }) =>
        html`<form method="post" action="${action}"><input type="hidden" name="user" value="${id}"><button>${
          partner_name === null ? t.signIn : fill(t.signInTo, { partner: partner_name })
        }</button></form>`,
    ),
    kept.length > 0 &&
      html`<p>${several ? fill(passkey.linkNeedsOneFor, { partners: namesOf(kept) }) : passkey.linkNeedsOne}</p>${passkeySignIn(words, door, true)}`,
  )}`;
}

const namesOf = (users: LinkUser[]) => users.map(({ partner_name }) => partner_name).join(', ');
