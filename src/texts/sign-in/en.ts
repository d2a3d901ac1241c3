/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  signIn: {
    title: 'Sign in',
    heading: 'Sign in to your dashboard',
    rest: 'With the wallet that you are paid at.',
    signHeading: 'Sign the message',
    signRest: 'It costs nothing and moves nothing.',
    signIn: 'Sign in',
    another: 'Take another wallet',
    lost: 'Wallet lost? Ask the partner who invited you to start a recovery.',
  },
  /** Signing in by e-mail, for partners' people and operators. */
  signInUser: {
    portalTitle: 'Sign in to the portal',
    adminTitle: 'Sign in to the administration',
    rest: 'We send a link to your e-mail address. It signs you in; there is no password.',
    email: 'E-mail',
    notAnEmail: 'This does not look like an e-mail address.',
    send: 'Send me a link',
    sent: 'Look into your mailbox',
    sentRest:
      'If this address may sign in here, a link is on its way. Open it in this browser within 15 minutes. Nothing there? Look into the spam folder, or ask whoever invited you.',
    again: 'Ask for another link',
    enough: 'This address was sent enough links for now',
    enoughRest:
      'Open the newest one, or wait 15 minutes and ask again. If that does not help, ask whoever invited you for another invitation.',
    open: 'Sign in as {email}',
    openRest: 'This link signs you in once, in this browser.',
    choose: 'You belong to several places. Where do you want to go?',
    signIn: 'Sign in',
    signInTo: 'Sign in to {partner}',
    unknown: 'This link is not one of ours',
    unknownRest: 'It may be incomplete, or what it was for has ended. Ask for a new one here.',
    used: 'This link has done its work',
    usedRest:
      'Each link signs in once. Ask for a new one here. If it was not you who used it, ask whoever invited you.',
    expired: 'This link has run out',
    expiredRest: 'Links live for 15 minutes. Ask for a new one here.',
    otherBrowser: 'This link was asked for in another browser',
    otherBrowserRest:
      'It only works where it was asked for, so that nobody can sign in with a link sent to you. Open it there, or ask for a new one here. If it was not you who asked, do nothing.',
    mailSubject: 'Your link to sign in to {place}',
    mailBody:
      'Sign in to {place}:\n\n{link}\n\nThe link lives for 15 minutes, works once, and only in the browser in which it was asked for.\nIf you did not ask for it, do nothing: nobody can sign in with it elsewhere.\n',
    inviteSubject: 'You are invited to {place}',
    inviteBody:
      'You can sign in to {place} now:\n\n{link}\n\nThe link lives for 15 minutes and works once. Do not pass it on.\nLater, or when it has run out, ask for a link with your e-mail address: {signIn}\n',
  },
  /** Passkeys of people who sign in by e-mail. */
  confirmAct: {
    title: 'Confirm it’s you',
    why: 'This change affects security or where money and events go, and you signed in more than ten minutes ago. Nothing has changed yet, and we have kept what you entered on this page.',
    byMail:
      'We’ll e-mail a link to {email}. Open it in this browser to sign in, then come back to this page and continue.',
    sendLink: 'E-mail me a link',
    goOn: 'Continue',
  },
  passkey: {
    signIn: 'Sign in with a passkey',
    none: 'Passkeys do not work in this browser, or not at this address. Open this page in a browser that knows them, with JavaScript on.',
    linkNeedsOne: 'A passkey belongs to this account, so the link alone does not open it. Show your passkey too.',
    linkNeedsOneFor: 'A passkey opens {partners}; the link alone does not.',
    refused: 'This passkey did not sign you in',
    heading: 'Passkeys',
    rest: 'A passkey signs you in with your finger, your face or a PIN. As soon as you have one, a mailed link alone does not sign you in any more. Add a second one on another device, and losing one does no harm.',
    name: 'Name',
    nameHint: 'So that you know it again.',
    add: 'Add a passkey',
    created: 'Added',
    lastUsed: 'Last used',
    never: 'Never',
    remove: {
      label: 'Remove',
      title: 'Remove the passkey {name}?',
      rest: 'It does not sign you in any more. Delete it on its device too.',
      lastRest: 'It is your only one: after this a mailed link alone signs you in again. Delete it on its device too.',
    },
    confirm: 'Show your passkey',
    confirmRest: 'You signed in a while ago. Show a passkey before you change something here.',
    signInAnew: 'You signed in a while ago. Sign out and in again before you change something here.',
    done: {
      added: 'The passkey is added. It signs you in from now on.',
      removed: 'The passkey is removed.',
      confirmed: 'You can change your passkeys for ten minutes now.',
    },
    refusals: {
      unknown: 'It is not known here. It may have been removed, or belong to another account or another place.',
      expired: 'That took longer than five minutes, or was sent twice. Try again.',
      copied:
        'There seems to be a copy of it, so it was refused. Sign in with another passkey and remove it, or ask an owner to remove your passkeys.',
      not_made: 'No passkey was added: what the browser sent was not right. Try again.',
      stale: 'Nothing was changed: you signed in more than ten minutes ago.',
      enough: 'No passkey was added: twenty are the limit. Remove one first.',
    },
    browser: {
      waiting: 'Your browser asks you now.',
      declined: 'Nothing was done: you said no, there was no passkey for this address, or it took too long.',
      known: 'This device has a passkey of yours already.',
      failed: 'Your browser could not do it. Nothing was changed. Try again, or take another device.',
      unreachable: 'We did not answer. Nothing was changed. Try again in a moment.',
    },
    mails: {
      added: {
        subject: 'A passkey was added to your account at {place}',
        body: 'A passkey was added to your account at {place}. From now on it is needed to sign in.\n\nIf that was not you, tell an owner of {place}, or whoever invited you, at once.\n',
      },
      removed: {
        subject: 'A passkey was removed from your account at {place}',
        body: 'One passkey or all of them were removed from your account at {place}. Without any, a link to this address signs in.\n\nIf you did not ask for that, tell an owner of {place}, or whoever invited you, at once.\n',
      },
    },
  },
  /** What a signed-in person of a partner, or an operator, sees of their own account and of others. */
  account: {
    partnerOff: '{partner} is switched off. Everything can still be read, and nothing can be changed.',
    notAllowed: 'Your role does not allow this',
    notAllowedRest: 'Nothing was changed. An owner of {partner} can do it, or give you another role.',
    signedInAs: 'Signed in as {email}',
    sessions: 'Where you are signed in',
    browser: 'Browser',
    from: 'From',
    lastSeen: 'Last used',
    since: 'Signed in',
    thisOne: 'This browser',
    unknownBrowser: 'Not said',
    signOutThere: 'Sign out there',
    signedOutThere: 'The other browser is signed out.',
    roles: { owner: 'Owner', developer: 'Developer', viewer: 'Viewer' },
    refusals: {
      email_invalid: 'This does not look like an e-mail address. Nobody was invited.',
      role_differs:
        'This person belongs to the team already, with another role. Change the role there; nobody was invited.',
      user_disabled: 'This person was switched off. Switch them on again first; nobody was invited.',
      user_unknown: 'There is no such person here. Nothing was changed.',
      last_owner: 'This is the only owner. Make somebody else an owner first; nothing was changed.',
      too_many_invitations: 'Ten invitations a minute are the limit. Wait a minute; nobody was invited.',
      invited_enough:
        'This address was sent several invitations just now. Ask them to open the newest, or try again in 15 minutes; no other one was sent.',
    },
  },
};
