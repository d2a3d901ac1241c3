/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  signing: {
    manual: 'By hand',
    address: 'Wallet address',
    addressHint: '0x and 40 digits or letters.',
    network: 'Network to sign in on',
    useAddress: 'Use this address',
    message: 'Message to sign',
    signHint: 'Sign this message in your wallet, to the letter; wallets call it “sign message”.',
    signature: 'Signature',
    signatureHint: 'What comes out, from 0x to the end.',
    /** Said by browser code: the whole section travels in the page. */
    told: {
      connect: 'Connect {wallet}',
      sign: 'Sign with {wallet}',
      browserWallet: 'your browser wallet',
      none: 'No wallet was found in this browser. Open this page in the browser of your wallet’s app, or go on by hand.',
      opening: 'Open {wallet} and allow this page to see your address.',
      waiting: 'Confirm the signature in {wallet}.',
      sending: 'Signed. One moment.',
      rejected: 'You declined in {wallet}. Nothing was signed or changed. Try again when you are ready.',
      pending: '{wallet} still waits for your answer to an earlier question. Open it and answer there.',
      noAccount: '{wallet} gave no address. Unlock it, then try again.',
      wrongNetwork:
        '{wallet} is on a network that is not offered here. Change it to {networks} in the wallet, then try again.',
      otherAccount: '{wallet} is on another account. Choose {address} in it, then try again.',
      failed: '{wallet} could not do it. Nothing was changed. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'This link is not one of ours',
      rest: 'Open it again as it was sent to you, whole, or ask whoever sent it for a new one.',
    },
    link_expired: {
      title: 'This link has run out',
      rest: 'Links live for seven days. Ask whoever sent it for a fresh one; what you entered is kept.',
    },
    link_used: {
      title: 'This link has done its work',
      rest: 'Onboarding was completed with it, so it opens nothing any more. If that was not you, tell whoever sent it at once.',
    },
    email_code_needed: { title: 'The code from the e-mail is missing', rest: 'Have a code sent and enter it first.' },
    email_code_wrong: { title: 'This code is not right', rest: 'Look at the newest e-mail and enter its six digits.' },
    email_code_expired: { title: 'This code has run out', rest: 'Codes live for 15 minutes. Have a new one sent.' },
    email_code_exhausted: {
      title: 'Too many wrong codes',
      rest: 'For safety no code is taken for now. Wait 15 minutes, then have a new one sent.',
    },
    email_code_just_sent: {
      title: 'A code was sent a moment ago',
      rest: 'Look into your mailbox, the spam folder too. After one minute another one can be sent.',
    },
    details_invalid: { title: 'Some details need another look', rest: 'They are marked below.' },
    wallet_malformed: {
      title: 'This is no wallet address',
      rest: 'An address is 0x followed by 40 digits and letters from a to f.',
    },
    wallet_differs: {
      title: 'This is not the wallet that was announced',
      rest: 'The partner who invited you named a certain wallet. Take that one, or ask them to change it.',
    },
    wallet_taken: {
      title: 'This wallet already belongs to another merchant',
      rest: 'A wallet serves one merchant only. Use another one, or ask whoever invited you for help if this one is yours.',
    },
    wallet_same: { title: 'This is the wallet you have', rest: 'Give the address of the new one.' },
    wallet_unknown: {
      title: 'No merchant is paid at this wallet',
      rest: 'Sign in with the wallet you are paid at. If you have none here yet, open the link that you were invited with.',
    },
    wallet_not_deployed: {
      title: 'This smart wallet is not deployed yet',
      rest: 'We must check its signature against its code on a network. Make a first transaction with it on one of the networks here, then sign again.',
    },
    chain_unreachable: {
      title: 'The network could not be asked about this wallet',
      rest: 'This is no fault of yours. Nothing was changed; try again in a minute.',
    },
    chain_unknown: {
      title: 'Your wallet is on a network that is not offered here',
      rest: 'Change the network in your wallet to one that is offered, then try again.',
    },
    message_changed: {
      title: 'The signed message is not the one we gave',
      rest: 'Sign the new message, exactly as it is shown.',
    },
    message_used: {
      title: 'This message was used already, or has run out',
      rest: 'Each message counts once, for 15 minutes. Here is a new one.',
    },
    signature_invalid: {
      title: 'The signature is not from this wallet',
      rest: 'Sign the whole message with the wallet whose address is shown in it.',
    },
    terms_not_accepted: { title: 'The terms were not accepted', rest: 'Read them and tick the box if you agree.' },
    too_many_attempts: { title: 'Too many attempts', rest: 'Wait a minute, then go on.' },
    merchant_unknown: {
      title: 'There is no such merchant',
      rest: 'Nothing was changed.',
    },
    not_onboarded: {
      title: 'This merchant has not finished onboarding',
      rest: 'Its onboarding link takes any wallet, so there is nothing to recover.',
    },
    recovery_signed: {
      title: 'A new wallet has signed already',
      rest: 'It takes over once its 48 hours have passed, unless that is stopped before.',
    },
    change_over: {
      title: 'Nothing is under way here',
      rest: 'This change of the wallet was completed, stopped or has run out. The dashboard shows which wallet is paid.',
    },
  },
  walletChange: {
    title: 'Change wallet',
    heading: 'Change the wallet you are paid at',
    now: 'Paid now at',
    rest: 'Two signatures: the present wallet names the new one, then the new one agrees. Open requests are still paid to the present wallet.',
    newWallet: 'The new wallet',
    step1: '1 of 2: sign with your present wallet',
    step1Rest: 'It hands over to {wallet}.',
    step2: '2 of 2: sign with the new wallet',
    step2Rest: 'After this, new requests are paid to {wallet}.',
    sign: 'Sign',
    cancel: 'Leave everything as it is',
    done: 'Your wallet was changed',
    doneRest: 'New requests are paid to {wallet}. Requests that were open before are still paid to the earlier one.',
    back: 'Back to the dashboard',
    lost: 'Lost the present wallet? Ask {partner} to start a recovery for you.',
    underWay: 'A recovery of your wallet is under way',
    underWayRest: 'On {time} your payments move to {wallet}. If this was not you, stop it now.',
    started: 'A recovery of your wallet was started',
    startedRest:
      '{partner} sent a link with which a new wallet can sign. 48 hours after that your payments would move to it. If this was not you, stop it now.',
    stop: 'Stop the recovery',
    stopped: 'The recovery was stopped',
    stoppedRest: 'Nothing changes: you are paid at {wallet}.',
    stopHeading: 'Stop the recovery of a wallet',
    stopRest: 'Sign with the present wallet {wallet}. That stops the recovery at once, and nothing changes.',
  },
  recovery: {
    title: 'Recover a wallet',
    heading: '{partner} started a recovery of your wallet',
    rest: 'Take a new wallet and sign with it. 48 hours later your payments move to it, unless the earlier wallet {wallet} objects.',
    signHeading: 'Sign with the new wallet',
    signRest: 'After 48 hours, new requests are paid to {wallet}.',
    sign: 'Sign',
    waiting: 'Your new wallet has signed',
    waitingRest:
      'On {time} your payments move to {wallet}, unless the earlier wallet objects. There is nothing left to do.',
    applied: 'Your payments go to the new wallet',
    appliedRest: 'Sign in with {wallet}.',
  },
};
