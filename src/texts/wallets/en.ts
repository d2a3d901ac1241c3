/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  signing: {
    manual: 'Enter manually',
    address: 'Wallet address',
    addressHint: '0x followed by 40 letters or digits.',
    network: 'Network to sign in on',
    useAddress: 'Use this address',
    message: 'Message to sign',
    signHint: 'Sign exactly this message in your wallet. Wallets call it “sign message”.',
    signature: 'Signature',
    signatureHint: 'Paste the complete result, starting with 0x.',
    connectWith: 'Connect with {wallet}',
    phoneRest: 'Scan with your phone’s camera. This page opens on the phone, and you continue there with your wallet.',
    /** Shown by browser code: the whole section travels in the page. */
    browser: {
      connect: 'Connect {wallet}',
      sign: 'Sign with {wallet}',
      browserWallet: 'your browser wallet',
      none: 'No wallet was found in this browser. Open this page in your wallet app’s browser, or continue manually.',
      noneScan:
        'No wallet was found in this browser. Scan the code with your phone to continue there, or enter the details manually.',
      noneOnPhone: 'This browser has no wallet. Open this page in your wallet app to continue.',
      pairing: 'Preparing a code for your wallet …',
      away: '{wallet} cannot be reached at the moment. Nothing was changed. Continue in another way, or try again later.',
      copied: 'Copied',
      opening: 'Open {wallet} and allow this page to see your address.',
      waiting: 'Confirm the signature in {wallet}.',
      sending: 'Signed. One moment.',
      rejected: 'You declined in {wallet}. Nothing was signed or changed. Try again when you are ready.',
      pending: '{wallet} is still waiting for your answer to an earlier request. Open it and answer there.',
      noAccount: '{wallet} did not share an address. Unlock it, then try again.',
      wrongNetwork: '{wallet} is on a network that is not available here. Switch it to {networks}, then try again.',
      otherAccount: '{wallet} is using another account. Switch to {address}, then try again.',
      failed: 'Something went wrong in {wallet}. Nothing was changed. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'This link is not valid',
      rest: 'Open the complete link again exactly as it was sent to you, or ask the sender for a new one.',
    },
    link_expired: {
      title: 'This link has expired',
      rest: 'Links expire after seven days. Ask the sender for a new one; what you entered is saved.',
    },
    link_replaced: {
      title: 'This link was replaced',
      rest: 'The partner who invited you has restarted onboarding. This link no longer works, and what was entered with it was discarded. Ask them for the new link.',
    },
    link_used: {
      title: 'Already set up',
      rest: 'Onboarding was completed with this link. Sign in with your wallet to open your dashboard. If you did not complete it yourself, ask whoever sent you the link.',
    },
    email_code_needed: { title: 'Enter the code from the e-mail', rest: 'Request a code and enter it first.' },
    email_code_wrong: {
      title: 'This code is not correct',
      rest: 'Check the most recent e-mail and enter its six digits.',
    },
    email_code_expired: { title: 'This code has expired', rest: 'Codes expire after 15 minutes. Request a new one.' },
    email_code_exhausted: {
      title: 'Too many wrong codes',
      rest: 'For security, codes are blocked for now. Wait 15 minutes, then request a new one.',
    },
    email_code_just_sent: {
      title: 'We just sent you a code',
      rest: 'Check your inbox and your spam folder. You can request another code after one minute.',
    },
    email_code_too_often: {
      title: 'Too many codes were sent today',
      rest: 'The most recent code still counts for 15 minutes after it was sent. You can request another one tomorrow.',
    },
    details_invalid: { title: 'Some details need your attention', rest: 'They are marked below.' },
    wallet_malformed: {
      title: 'This is not a wallet address',
      rest: 'An address is 0x followed by 40 digits and letters from a to f.',
    },
    wallet_differs: {
      title: 'This is not the expected wallet',
      rest: 'The partner who invited you named a specific wallet. Use that one, or ask them to change it.',
    },
    wallet_taken: {
      title: 'This wallet already belongs to another merchant',
      rest: 'A wallet can belong to only one merchant. Use another one. If this one is yours, ask the partner who invited you for help.',
    },
    wallet_same: { title: 'This is already your wallet', rest: 'Enter the address of the new one.' },
    changed_too_often: {
      title: 'Your wallet was changed too often today',
      rest: 'Nothing was changed. Continue tomorrow.',
    },
    wallet_unknown: {
      title: 'No merchant uses this wallet',
      rest: 'Sign in with the wallet you receive payments in. If you have not set one up yet, open your invitation link.',
    },
    wallet_not_deployed: {
      title: 'This smart wallet is not deployed yet',
      rest: 'To verify its signature, we need its code on a network. Make a first transaction with it on one of the networks here, then sign again.',
    },
    chain_unreachable: {
      title: 'We could not reach the network to check this wallet',
      rest: 'It is not your fault. Nothing was changed; try again in a minute.',
    },
    chain_unknown: {
      title: 'Your wallet is on a network that is not available here',
      rest: 'Switch your wallet to one of the networks available here, then try again.',
    },
    message_changed: {
      title: 'The signed message is not the one shown',
      rest: 'Sign the new message exactly as it is shown.',
    },
    message_used: {
      title: 'This message was already used or has expired',
      rest: 'Each message can be used once, within 15 minutes. Here is a new one.',
    },
    signature_invalid: {
      title: 'The signature is not from this wallet',
      rest: 'Sign the complete message with the wallet whose address it shows.',
    },
    terms_not_accepted: { title: 'The terms were not accepted', rest: 'Read them and tick the box if you agree.' },
    too_many_attempts: {
      title: 'Too many attempts',
      rest: 'Wait up to 15 minutes, then continue.',
    },
    merchant_unknown: {
      title: 'This merchant does not exist',
      rest: 'Nothing was changed.',
    },
    not_onboarded: {
      title: 'This merchant has not finished onboarding',
      rest: 'Its onboarding link accepts any wallet, so there is nothing to recover.',
    },
    recovery_expired: {
      title: 'This recovery has expired',
      rest: 'No new wallet signed within seven days, so nothing was changed. If you still need it, ask the partner who sent you the link to start a new one.',
    },
    recovery_signed: {
      title: 'A new wallet has already signed',
      rest: 'It takes over after its 48 hours, unless the recovery is stopped first.',
    },
    change_over: {
      title: 'Nothing to do here',
      rest: 'This wallet change was completed, stopped, or has expired. The dashboard shows which wallet receives payments.',
    },
  },
  walletChange: {
    title: 'Change wallet',
    heading: 'Change the wallet you receive payments in',
    now: 'Current wallet',
    rest: 'It takes two signatures: the current wallet names the new one, then the new one agrees. Open requests are still paid to the current wallet. Automatic charges stop until each customer has agreed again.',
    newWallet: 'New wallet',
    step1: '1 of 2: sign with your current wallet',
    step1Rest: 'It names {wallet} as your new wallet.',
    step2: '2 of 2: sign with the new wallet',
    step2Rest: 'From then on, new requests are paid to {wallet}.',
    sign: 'Sign',
    cancel: 'Cancel, keep my wallet',
    done: 'Your wallet was changed',
    doneRest:
      'New requests are paid to {wallet}. Requests that were already open are still paid to the previous wallet. Automatic charges stop until each customer has agreed again.',
    back: 'Back to the dashboard',
    lost: 'Lost your current wallet? Ask {partner} to start a recovery for you.',
    underWay: 'Your wallet is being recovered',
    underWayRest: 'On {time}, your payments move to {wallet}. If this was not you, stop it now.',
    started: 'A recovery of your wallet was started',
    startedRest:
      '{partner} sent a link that lets a new wallet sign. 48 hours after that, your payments would move to it. If this was not you, stop it now.',
    stop: 'Stop the recovery',
    stopped: 'The recovery was stopped',
    stoppedRest: 'Nothing changes: you still receive payments in {wallet}.',
    stopHeading: 'Stop a wallet recovery',
    stopRest: 'Sign with the current wallet {wallet}. This stops the recovery right away, and nothing changes.',
  },
  recovery: {
    title: 'Recover a wallet',
    heading: '{partner} started a recovery of your wallet',
    rest: 'Choose a new wallet and sign with it. Your payments move to it 48 hours later, unless the previous wallet {wallet} objects.',
    signHeading: 'Sign with the new wallet',
    signRest: 'After 48 hours, new requests are paid to {wallet}.',
    sign: 'Sign',
    waiting: 'Your new wallet has signed',
    waitingRest:
      'On {time}, your payments move to {wallet}, unless the previous wallet objects. There is nothing left to do.',
    applied: 'Your payments go to the new wallet',
    appliedRest: 'Sign in with {wallet}.',
  },
};
