import type { PlanTexts } from '../plans.ts';

export const fr: PlanTexts<'fr'> = {
  planMail: {
    subject: '{merchant} vous demande {amount}',
    testSubject: 'Test : {merchant} vous demande {amount}',
    asks: '{merchant} vous demande {amount}',
    test: 'C’est un test : aucun argent réel n’est demandé.',
    amount: 'Montant',
    until: 'À payer jusqu’au',
    payTo: 'À',
    pay: 'Voir et payer',
    linkRest: 'Voir et payer ici : {link}',
    why: '{merchant} vous envoie un lien de paiement à chaque échéance convenue. Si vous n’en savez rien, ne payez pas. Personne ne lit les réponses à cet e-mail.',
    for: 'Pour',
    unexpected: 'Vous ne vous y attendiez pas ? Dites-le à {merchant}.',
    stop: 'Ne plus recevoir ces e-mails',
  },
  planStop: {
    title: 'Ne plus recevoir ces e-mails ?',
    asked: '{merchant} vous envoie un lien de paiement pour « {plan} » à chaque échéance.',
    rest: 'Ensuite, vous ne recevrez plus d’e-mails à ce sujet. Le plan lui-même continue : pour l’arrêter, adressez-vous à {merchant}.',
    done: 'Les e-mails sont arrêtés',
    doneRest:
      'Vous ne recevrez plus d’e-mails pour ce plan, et {merchant} le voit. Le plan lui-même continue jusqu’à ce que {merchant} l’arrête.',
  },
};
