/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  code: {
    subject: '{code} is your code',
    body: 'Your code:\n\n{code}\n\nIt lives for 15 minutes. {partner} invited you to be paid in stablecoins; enter the code on the page you opened.\n\nIf you did not ask for it, do nothing: without the code nobody can go on.',
  },
  signIn: 'Sign in',
  wallet: {
    unnamed: 'A merchant',
    about: 'Merchant: {merchant}\nMerchant number: {account}\nInvited by: {partner}',
    stop: 'Stop the recovery',
    changed: {
      subject: '{merchant}: the wallet was changed',
      body: 'New payment requests are now paid to this wallet:\n\n{newWallet}\n\nBefore, they were paid to this one:\n\n{oldWallet}\n\nBoth wallets signed for the change. Requests that were made before are still paid to the earlier wallet.',
    },
    recovery_started: {
      subject: '{merchant}: a recovery of the wallet was started',
      body: 'This wallet is said to be lost, so its recovery was started:\n\n{oldWallet}\n\nNothing has changed yet: a new wallet must sign first, and after that 48 hours must pass.\n\nIf the wallet is not lost, stop the recovery by signing with it:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: payments move to another wallet in 48 hours',
      body: 'On {time} new payment requests move to this wallet:\n\n{newWallet}\n\nUntil then they are paid to this one:\n\n{oldWallet}\n\nIf that is wrong, stop it before then by signing with the present wallet:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: the wallet was recovered',
      body: 'New payment requests are now paid to this wallet:\n\n{newWallet}\n\nBefore, they were paid to this one, which did not object within 48 hours:\n\n{oldWallet}\n\nRequests that were made before are still paid to the earlier wallet.',
    },
    displaced: {
      subject: '{merchant}: someone else signed in with its wallet',
      body: 'When you created this merchant, you gave this wallet for it, but the merchant never signed in with it:\n\n{oldWallet}\n\nSomeone else now has, so the wallet belongs to them. The merchant has no wallet now and can finish onboarding with another one. No payments are affected.',
    },
    recovery_stopped: {
      subject: '{merchant}: the recovery of the wallet was stopped',
      body: 'Nothing changes. Payments still go to this wallet:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'The present wallet stopped the recovery.',
      partner: 'Whoever started the recovery took it back.',
      time: 'No new wallet signed while the link of the recovery lived.',
    },
  },
  endpoint: {
    testSubject: 'Your test webhook endpoint was switched off',
    liveSubject: 'Your live webhook endpoint was switched off',
    body: 'No more events are sent to this address:\n\n{url}\n\n{reason}\n\nNo payment is affected, and no event is lost: new events wait. Mend the receiver, then enable the endpoint again or set its URL anew. What waits goes out at once; events whose attempts were used up before can be replayed.\n\n{link}',
    gone: 'It answered 410, which says that nothing is there any more.',
    failing: 'It had no success for 120 hours.',
    open: 'Open the webhooks page',
  },
};
