/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  /** Asks the customer of a plan for one of its charges. */
  planMail: {
    subject: '{merchant} requests {amount}',
    testSubject: 'Test: {merchant} requests {amount}',
    asks: '{merchant} requests {amount}',
    test: 'This is a test. You do not owe any real money.',
    amount: 'Amount',
    until: 'Pay by',
    payTo: 'To',
    pay: 'View and pay',
    linkRest: 'View and pay: {link}',
    why: '{merchant} sends you a payment link on each agreed date. If you do not recognise this, do not pay. Replies to this e-mail are not read.',
    for: 'For',
    unexpected: 'Not expecting this? Tell {merchant}.',
    stop: 'Stop these e-mails',
  },
  planStop: {
    title: 'Stop these e-mails?',
    asked: '{merchant} sends you a payment link for “{plan}” on each date.',
    rest: 'You will no longer receive e-mails for this plan. The plan itself continues: to end it, tell {merchant}.',
    done: 'You are unsubscribed',
    doneRest:
      'You will no longer receive e-mails for this plan, and {merchant} can see that. The plan itself continues until {merchant} ends it.',
  },
};
