import type { PlanTexts } from '../plans.ts';

export const fr: PlanTexts<'fr'> = {
  planMail: {
    subject: '{merchant} vous demande {amount}',
    testSubject: 'Test : {merchant} vous demande {amount}',
    asks: '{merchant} vous demande {amount}',
    test: 'Ceci est un test. Vous ne devez aucun argent réel.',
    amount: 'Montant',
    until: 'À payer avant le',
    payTo: 'À',
    pay: 'Voir et payer',
    linkRest: 'Voir et payer : {link}',
    why: '{merchant} vous envoie un lien de paiement à chaque date convenue. Si cela ne vous dit rien, ne payez pas. Les réponses à cet e-mail ne sont pas lues.',
    for: 'Objet',
    unexpected: 'Vous ne vous y attendiez pas ? Prévenez {merchant}.',
    stop: 'Ne plus recevoir ces e-mails',
  },
  planStop: {
    title: 'Ne plus recevoir ces e-mails ?',
    asked: '{merchant} vous envoie un lien de paiement pour « {plan} » à chaque date.',
    rest: 'Vous ne recevrez plus d’e-mails pour ce plan. Le plan lui-même continue : pour y mettre fin, contactez {merchant}.',
    done: 'Vous êtes désabonné',
    doneRest:
      'Vous ne recevrez plus d’e-mails pour ce plan, et {merchant} le voit. Le plan lui-même continue jusqu’à ce que {merchant} y mette fin.',
  },
};
