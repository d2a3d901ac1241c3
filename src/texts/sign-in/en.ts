/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  signIn: {
    title: 'Sign in',
    heading: 'Sign in to your dashboard',
    rest: 'Use the wallet you receive payments in.',
    signHeading: 'Sign the message',
    signRest: 'It costs nothing and moves nothing.',
    signIn: 'Sign in',
    another: 'Use another wallet',
    lost: 'Lost your wallet? Ask the partner who invited you to start a recovery.',
    /** After a form was sent without a session. */
    unsaved: 'You are no longer signed in, so nothing was saved. Sign in, then do it again.',
    /** Beside it, where browser code keeps what was typed. */
    kept: 'We have kept what you typed in this browser for 30 minutes. It is filled in again once you have signed in.',
  },
  /** Signing in by e-mail, for partners' people and operators. */
  signInUser: {
    portalTitle: 'Sign in to the portal',
    adminTitle: 'Sign in to administration',
    rest: 'We e-mail you a sign-in link. No password needed.',
    email: 'E-mail',
    notAnEmail: 'This does not look like an e-mail address.',
    send: 'Send me a link',
    sent: 'Check your inbox',
    sentRest:
      'If this address can sign in here, a link is on its way. Open it in this browser within 15 minutes. Nothing there? Check your spam folder, or ask the person who invited you.',
    again: 'Request another link',
    enough: 'We have sent enough links to this address for now',
    enoughRest:
      'Open the most recent one, or wait 15 minutes and try again. If that does not help, ask the person who invited you for a new invitation.',
    open: 'Sign in as {email}',
    openRest: 'This link signs you in once, in this browser.',
    choose: 'You have access to more than one place. Where would you like to go?',
    signIn: 'Sign in',
    signInTo: 'Sign in to {partner}',
    unknown: 'This link is not valid',
    unknownRest: 'It may be incomplete, or no longer valid. Request a new one here.',
    used: 'This link has already been used',
    usedRest:
      'Each link works only once. Request a new one here. If you did not use it, tell the person who invited you.',
    expired: 'This link has expired',
    expiredRest: 'Links expire after 15 minutes. Request a new one here.',
    otherBrowser: 'This link was requested in another browser',
    otherBrowserRest:
      'For your security, it only works in the browser where it was requested. Open it there, or request a new one here. If you did not request it, ignore it.',
    mailSubject: 'Your sign-in link for {place}',
    mailBody:
      'Sign in to {place}:\n\n{link}\n\nThe link expires in 15 minutes, works once, and only in the browser where it was requested.\nIf you did not request it, ignore this e-mail: nobody can use it in another browser.\n',
    inviteSubject: 'You are invited to {place}',
    inviteBody:
      'You can now sign in to {place}:\n\n{link}\n\nThe link expires in 15 minutes and works once. Do not share it.\nLater, or if it has expired, request a link with your e-mail address: {signIn}\n',
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
    none: 'Passkeys are not available in this browser or at this address. Open this page in a browser that supports them, with JavaScript enabled.',
    linkNeedsOne: 'A passkey protects this account. Use it to finish signing in.',
    linkNeedsOneFor: 'A passkey protects {partners}; the link alone is not enough.',
    refused: 'This passkey did not sign you in',
    heading: 'Passkeys',
    rest: 'A passkey signs you in with your fingerprint, your face or a PIN. Once you have one, e-mail links alone will stop working. Add a second one on another device in case you lose the first.',
    name: 'Name',
    nameHint: 'To recognise it later.',
    add: 'Add a passkey',
    created: 'Added',
    lastUsed: 'Last used',
    never: 'Never',
    remove: {
      label: 'Remove',
      title: 'Remove the passkey {name}?',
      rest: 'You can no longer sign in with it. Delete it on its device too.',
      lastRest:
        'It is your only one: without it, an e-mail link alone signs you in again. Delete it on its device too.',
    },
    confirm: 'Use your passkey',
    confirmRest: 'You signed in a while ago. Use a passkey before you change anything here.',
    signInAnew: 'You signed in a while ago. Sign out and sign in again before you change anything here.',
    done: {
      added: 'The passkey was added. You can sign in with it from now on.',
      removed: 'The passkey was removed.',
      confirmed: 'You can now change your passkeys for ten minutes.',
    },
    refusals: {
      unknown: 'We do not recognise it. It may have been removed, or belong to another account or another service.',
      expired: 'It took longer than five minutes, or was submitted twice. Try again.',
      copied:
        'There may be a copy of it, so it was rejected. Sign in with another passkey and remove this one, or ask an owner to remove your passkeys.',
      not_made: 'No passkey was added: the browser’s response was not valid. Try again.',
      stale: 'Nothing was changed: you signed in more than ten minutes ago.',
      enough: 'No passkey was added: the limit is twenty. Remove one first.',
    },
    browser: {
      waiting: 'Follow your browser’s instructions.',
      declined: 'Nothing was changed: you declined, there is no passkey for this address, or it took too long.',
      known: 'This device already has a passkey for your account.',
      failed: 'Something went wrong in your browser. Nothing was changed. Try again, or use another device.',
      unreachable: 'We could not be reached. Nothing was changed. Try again in a moment.',
    },
    mails: {
      added: {
        subject: 'A passkey was added to your account at {place}',
        body: 'A passkey was added to your account at {place}. From now on it is required to sign in.\n\nIf this was not you, tell an owner of {place}, or the person who invited you, at once.\n',
      },
      removed: {
        subject: 'Passkeys were removed from your account at {place}',
        body: 'One or more passkeys were removed from your account at {place}. If none is left, a link to this address is enough to sign in.\n\nIf you did not ask for this, tell an owner of {place}, or the person who invited you, at once.\n',
      },
    },
  },
  /** What a signed-in person of a partner, or an operator, sees of their own account and of others. */
  account: {
    partnerOff: '{partner} is disabled. You can look things up, but change nothing.',
    notWhileOff: 'Not available while {partner} is disabled',
    notAllowed: 'Your role does not allow this',
    notAllowedRest: 'Nothing was changed. An owner of {partner} can do this, or give you another role.',
    signedInAs: 'Signed in as {email}',
    sessions: 'Where you are signed in',
    browser: 'Browser',
    from: 'IP address',
    lastSeen: 'Last used',
    since: 'Signed in',
    thisOne: 'This browser',
    unknownBrowser: 'Unknown browser',
    signOutThere: 'Sign out there',
    signedOutThere: 'The other browser is signed out.',
    roles: { owner: 'Owner', developer: 'Developer', viewer: 'Viewer' },
    refusals: {
      email_invalid: 'This does not look like an e-mail address. No invitation was sent.',
      role_differs:
        'This user is already on the team, with another role. Change the role there; no invitation was sent.',
      user_disabled: 'This user was removed. Restore their access first; no invitation was sent.',
      user_unknown: 'This user does not exist here. Nothing was changed.',
      last_owner: 'This is the only owner. Make someone else an owner first; nothing was changed.',
      too_many_invitations: 'You can send ten invitations a minute. Wait a minute; no invitation was sent.',
      team_full: 'A team has at most 1,000 people, counting those who were removed. Nobody was invited.',
      invited_enough:
        'This address has just been sent several invitations. Ask them to open the most recent one, or try again in 15 minutes; no invitation was sent.',
      invited_today:
        'This address has been sent enough invitations for today. Ask them to open the most recent one, or try again tomorrow; no invitation was sent.',
    },
  },
};
