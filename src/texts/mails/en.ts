/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  code: {
    subject: '{code} is your code',
    body: 'Your code:\n\n{code}\n\nIt expires in 15 minutes. {partner} invited you to receive payments in stablecoins; enter the code on the page you opened.\n\nIf you did not request it, ignore this e-mail: nobody can continue without the code.',
  },
  signIn: 'Sign in',
  wallet: {
    unnamed: 'A merchant',
    about: 'Merchant: {merchant}\nMerchant ID: {account}\nInvited by: {partner}',
    stop: 'Stop the recovery',
    changed: {
      subject: '{merchant}: your wallet was changed',
      body: 'New requests are now paid to this wallet:\n\n{newWallet}\n\nUntil now they were paid to this one:\n\n{oldWallet}\n\nBoth wallets signed the change. Existing requests are still paid to the previous wallet. Automatic charges stop until each customer has agreed again.',
    },
    recovery_started: {
      subject: '{merchant}: a wallet recovery was started',
      body: 'This wallet was reported lost, so its recovery was started:\n\n{oldWallet}\n\nNothing has changed yet: a new wallet must sign first, and then 48 hours must pass.\n\nIf the wallet is not lost, sign with it to stop the recovery:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: payments move to another wallet in 48 hours',
      body: 'From {time}, new requests will be paid to this wallet:\n\n{newWallet}\n\nUntil then they are paid to this one:\n\n{oldWallet}\n\nIf this is wrong, sign with the current wallet before then to stop it:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: your wallet was recovered',
      body: 'New requests are now paid to this wallet:\n\n{newWallet}\n\nUntil now they were paid to this one, which did not object within 48 hours:\n\n{oldWallet}\n\nExisting requests are still paid to the previous wallet. Automatic charges stop until each customer has agreed again.',
    },
    displaced: {
      subject: '{merchant}: someone else signed in with its wallet',
      body: 'When you created this merchant, you named this wallet for it, but the merchant never signed in with it:\n\n{oldWallet}\n\nSomeone else now has, so the wallet belongs to them. The merchant has no wallet now and can finish onboarding with another one. No payments are affected.',
    },
    recovery_stopped: {
      subject: '{merchant}: the wallet recovery was stopped',
      body: 'Nothing changes. Payments still go to this wallet:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'It was stopped with the current wallet.',
      partner: 'It was cancelled by whoever started it.',
      time: 'No new wallet signed before the recovery link expired.',
    },
  },
  endpoint: {
    testSubject: 'Your test webhook was disabled',
    liveSubject: 'Your live webhook was disabled',
    body: 'We no longer send events to this URL:\n\n{url}\n\n{reason}\n\nNo payment is affected and no event is lost: new events wait. Fix your endpoint, then enable the webhook again or set a new URL. Waiting events are sent right away; failed events can be resent.\n\n{link}',
    gone: 'It answered 410 Gone.',
    failing: 'No delivery has succeeded for 120 hours.',
    open: 'Open Webhooks',
  },
};
