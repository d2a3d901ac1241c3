/** Other languages have the same keys and `{placeholders}`. */
export const en = {
  /** Asks the customer of a plan for one of its charges. */
  planMail: {
    subject: '{merchant} asks you for {amount}',
    testSubject: 'Test: {merchant} asks you for {amount}',
    asks: '{merchant} asks you for {amount}',
    test: 'This is a test: no real money is asked for.',
    amount: 'Amount',
    until: 'To be paid until',
    payTo: 'To',
    pay: 'See it and pay',
    linkRest: 'See it and pay here: {link}',
    why: '{merchant} sends you a payment link on each date that was agreed on. If you know nothing of it, do not pay. Nobody reads what is sent back here.',
    for: 'For',
    unexpected: 'Not expecting this? Tell {merchant}.',
    stop: 'Stop these e-mails',
  },
  planStop: {
    title: 'Stop these e-mails?',
    asked: '{merchant} sends you a payment link for “{plan}” on each date.',
    rest: 'After that no more e-mails come for it. The plan itself goes on: to end it, tell {merchant}.',
    done: 'The e-mails are stopped',
    doneRest:
      'No more e-mails come to you for this plan, and {merchant} sees that. The plan itself goes on until {merchant} ends it.',
  },
};
