import type { LinkState, LinkUser } from '../../auth/sign-in-link.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { commonTexts } from '../../texts/common.ts';
import { signInTexts } from '../../texts/sign-in.ts';
import { type Branding, logoOf } from '../../ui/branding.ts';
import { breakable, card, field, stateLine } from '../../ui/components.ts';
import { form } from '../../ui/form.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { keptNotice } from '../../web/kept-forms.ts';
import type { PasskeyRefusalReason } from '../passkeys/refusal.ts';
import { passkeySignIn } from '../passkeys/sections.ts';
import type { Realm } from '../realm.ts';

/** `rejected`: the typed text, if it is no e-mail address; `unsaved`: whether a form was sent without a session. */
type AskState = { branding: Branding | null; rejected?: string; unsaved?: boolean };

/** The page for signing in: with a mailed link, or with a passkey. */
export function linkPage(words: Words, realm: Realm, { branding, rejected, unsaved = false }: AskState): Html {
  const { signInUser: t } = signInTexts(words);
  return html`
    ${branding && logoOf(branding)}
    <h1>${signInTitle(words, realm)}</h1>
    ${keptNotice(words, unsaved)}
    ${card(html`<p>${t.rest}</p>${linkForm(words, realm, rejected)}${passkeySignIn(words, realm, false)}`)}
  `;
}

export function signInTitle(words: Words, realm: Realm): string {
  const { signInUser: t } = signInTexts(words);
  return realm.kind === 'operator' ? t.adminTitle : t.portalTitle;
}

function linkForm(words: Words, realm: Realm, rejected?: string): Html {
  const { signInUser: t } = signInTexts(words);
  return html`
    <form method="post" action="${realm.path}/sign-in" novalidate>
      ${field({
        name: 'email',
        label: t.email,
        value: rejected ?? '',
        fault: rejected === undefined ? undefined : t.notAnEmail,
        attributes: 'type="email" autocomplete="email" required maxlength="254"',
      })}
      <button>${t.send}</button>
    </form>
  `;
}

/** The page after a link was requested. It is the same for every address, known or not. */
export function sentPage(words: Words, realm: Realm): Html {
  const { signInUser: t } = signInTexts(words);
  return card(
    stateLine('waiting', t.sent, t.sentRest, 'h1'),
    html`<p><a href="${realm.path}/sign-in">${t.again}</a></p>`,
  );
}

/** Why no link was sent, or why a link is not valid, with a form for a new one. */
export function againPage(
  words: Words,
  realm: Realm,
  why: 'unknown' | 'used' | 'expired' | 'otherBrowser' | 'enough',
  isSignedIn = false,
): Html {
  const { signInUser: t } = signInTexts(words);
  return card(
    stateLine(why === 'otherBrowser' ? 'attention' : 'ended', t[why], t[`${why}Rest`], 'h1'),
    // People open the link of an invitation again to come back.
    isSignedIn && html`<p><a href="${realm.path}">${commonTexts(words).errors.home}</a></p>`,
    why !== 'enough' && linkForm(words, realm),
  );
}

/** Why a passkey did not sign in, with both ways to try again. */
export function refusedPage(words: Words, realm: Realm, reason: PasskeyRefusalReason): Html {
  const { passkey: t } = signInTexts(words);
  return card(
    stateLine('attention', t.refused, t.refusals[reason], 'h1'),
    passkeySignIn(words, realm, false),
    linkForm(words, realm),
  );
}

/**
 * The page of a link, with one button for each account of its address. A user who has a passkey signs in with that
 * instead of the link.
 */
export function openPage(
  words: Words,
  realm: Realm,
  action: string,
  { email, users, isInvitation }: Extract<LinkState, { state: 'open' }>,
): Html {
  const { signInUser: t, passkey } = signInTexts(words);
  const several = users.length > 1;
  const open = users.filter((user) => !user.passkey);
  const kept = users.filter((user) => user.passkey);
  return html`
    <h1>${fillHtml(t.open, { email: html`${breakable(email)}` })}</h1>
    ${card(
      (several || kept.length === 0) && html`<p>${several ? t.choose : t.openRest}</p>`,
      ...open.map((user) =>
        form({
          action: action,
          inside: html`<input type="hidden" name="user" value="${user.id}">`,
          submit:
            user.partner_name === null
              ? t.signIn
              : fill(t.signInTo, { partner: nameOf(user, several || isInvitation) }),
        }),
      ),
      kept.length > 0 &&
        html`
          <p>${several ? fill(passkey.linkNeedsOneFor, { partners: namesOf(kept) }) : passkey.linkNeedsOne}</p>
          ${passkeySignIn(words, realm, true)}
        `,
    )}
  `;
}

/**
 * A partner's name and, in an invitation or if there is a choice, its slug. A partner chooses its own name, and whom it
 * invites, so that name alone could pass for another partner's.
 */
const nameOf = ({ partner_name, partner_slug }: LinkUser, withSlug: boolean) =>
  withSlug ? `${partner_name} (${partner_slug})` : `${partner_name}`;

const namesOf = (users: LinkUser[]) => users.map((user) => nameOf(user, true)).join(', ');
