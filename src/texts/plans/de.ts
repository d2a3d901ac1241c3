import type { PlanTexts } from '../plans.ts';

export const de: PlanTexts<'de'> = {
  planMail: {
    subject: '{merchant} fordert {amount} an',
    testSubject: 'Test: {merchant} fordert {amount} an',
    asks: '{merchant} fordert {amount} an',
    test: 'Das ist ein Test. Sie schulden kein echtes Geld.',
    amount: 'Betrag',
    until: 'Zahlbar bis',
    payTo: 'An',
    pay: 'Ansehen und zahlen',
    linkRest: 'Ansehen und zahlen: {link}',
    why: '{merchant} sendet Ihnen an jedem vereinbarten Termin einen Zahlungslink. Wenn Ihnen das nichts sagt, zahlen Sie nicht. Antworten auf diese E-Mail werden nicht gelesen.',
    for: 'Für',
    unexpected: 'Sie haben das nicht erwartet? Sagen Sie es {merchant}.',
    stop: 'Diese E-Mails abbestellen',
  },
  planStop: {
    title: 'Diese E-Mails abbestellen?',
    asked: '{merchant} sendet Ihnen für „{plan}“ an jedem Termin einen Zahlungslink.',
    rest: 'Sie erhalten für diesen Plan keine E-Mails mehr. Der Plan selbst läuft weiter: Um ihn zu beenden, wenden Sie sich an {merchant}.',
    done: 'Sie haben die E-Mails abbestellt',
    doneRest:
      'Sie erhalten für diesen Plan keine E-Mails mehr, und {merchant} sieht das. Der Plan selbst läuft weiter, bis {merchant} ihn beendet.',
  },
};
