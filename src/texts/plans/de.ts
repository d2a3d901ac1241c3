import type { PlanTexts } from '../plans.ts';

export const de: PlanTexts<'de'> = {
  planMail: {
    subject: '{merchant} bittet Sie um {amount}',
    testSubject: 'Test: {merchant} bittet Sie um {amount}',
    asks: '{merchant} bittet Sie um {amount}',
    test: 'Das ist ein Test: Es wird kein echtes Geld verlangt.',
    amount: 'Betrag',
    until: 'Zu zahlen bis',
    payTo: 'An',
    pay: 'Ansehen und zahlen',
    linkRest: 'Hier ansehen und zahlen: {link}',
    why: '{merchant} sendet Ihnen an jedem vereinbarten Termin einen Zahlungslink. Wenn Sie davon nichts wissen, zahlen Sie nicht. Antworten auf diese E-Mail liest niemand.',
    for: 'Für',
    unexpected: 'Sie haben das nicht erwartet? Sagen Sie es {merchant}.',
    stop: 'Diese E-Mails abbestellen',
  },
  planStop: {
    title: 'Diese E-Mails abbestellen?',
    asked: '{merchant} sendet Ihnen für „{plan}“ an jedem Termin einen Zahlungslink.',
    rest: 'Danach kommen dafür keine E-Mails mehr. Der Plan selbst läuft weiter: Um ihn zu beenden, wenden Sie sich an {merchant}.',
    done: 'Die E-Mails sind abbestellt',
    doneRest:
      'Zu diesem Plan bekommen Sie keine E-Mails mehr, und {merchant} sieht das. Der Plan selbst läuft weiter, bis {merchant} ihn beendet.',
  },
};
