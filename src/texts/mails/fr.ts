import type { MailTexts } from '../mails.ts';

export const fr: MailTexts<'fr'> = {
  code: {
    subject: '{code} est votre code',
    body: 'Votre code :\n\n{code}\n\nIl est valable 15 minutes. {partner} vous a invité à être payé en stablecoins ; saisissez le code sur la page que vous avez ouverte.\n\nSi vous ne l’avez pas demandé, ne faites rien : sans le code, personne ne peut continuer.',
  },
  signIn: 'Se connecter',
  wallet: {
    unnamed: 'Un commerçant',
    about: 'Commerçant : {merchant}\nNuméro de commerçant : {account}\nInvité par : {partner}',
    stop: 'Arrêter la récupération',
    changed: {
      subject: '{merchant} : le portefeuille a été changé',
      body: 'Les nouvelles demandes de paiement sont désormais payées sur ce portefeuille :\n\n{newWallet}\n\nAvant, elles l’étaient sur celui-ci :\n\n{oldWallet}\n\nLes deux portefeuilles ont signé ce changement. Les demandes faites avant sont encore payées sur l’ancien portefeuille.',
    },
    recovery_started: {
      subject: '{merchant} : une récupération du portefeuille a été lancée',
      body: 'Ce portefeuille a été déclaré perdu, c’est pourquoi sa récupération a été lancée :\n\n{oldWallet}\n\nRien n’a encore changé : un nouveau portefeuille doit d’abord signer, puis 48 heures doivent passer.\n\nSi le portefeuille n’est pas perdu, arrêtez la récupération en signant avec lui :\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant} : les paiements passent à un autre portefeuille dans 48 heures',
      body: 'Le {time}, les nouvelles demandes de paiement passent à ce portefeuille :\n\n{newWallet}\n\nD’ici là, elles sont payées sur celui-ci :\n\n{oldWallet}\n\nSi c’est une erreur, arrêtez cela avant en signant avec le portefeuille actuel :\n\n{link}',
    },
    recovered: {
      subject: '{merchant} : le portefeuille a été récupéré',
      body: 'Les nouvelles demandes de paiement sont désormais payées sur ce portefeuille :\n\n{newWallet}\n\nAvant, elles l’étaient sur celui-ci, qui ne s’y est pas opposé en 48 heures :\n\n{oldWallet}\n\nLes demandes faites avant sont encore payées sur l’ancien portefeuille.',
    },
    displaced: {
      subject: '{merchant} : quelqu’un d’autre a signé avec son portefeuille',
      body: 'Ce portefeuille avait été indiqué à la création du commerçant, sans jamais signer :\n\n{oldWallet}\n\nQuelqu’un d’autre vient de signer avec lui : il est donc à lui. Le commerçant n’a plus de portefeuille ; il peut terminer son inscription avec un autre. Aucun paiement n’est concerné.',
    },
    recovery_stopped: {
      subject: '{merchant} : la récupération du portefeuille a été arrêtée',
      body: 'Rien ne change. Les paiements vont toujours sur ce portefeuille :\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Le portefeuille actuel a arrêté la récupération.',
      partner: 'La personne qui avait lancé la récupération l’a retirée.',
      time: 'Aucun nouveau portefeuille n’a signé tant que le lien de la récupération était valable.',
    },
  },
  endpoint: {
    testSubject: 'Votre webhook de test a été désactivé',
    liveSubject: 'Votre webhook de production a été désactivé',
    body: 'Plus aucun événement n’est envoyé à cette adresse :\n\n{url}\n\n{reason}\n\nAucun paiement n’est concerné et aucun événement n’est perdu : les nouveaux attendent. Réparez le récepteur, puis réactivez le webhook ou définissez à nouveau son URL. Ce qui attend part aussitôt ; les événements dont les tentatives étaient déjà épuisées peuvent être renvoyés.\n\n{link}',
    gone: 'Elle a répondu 410, ce qui veut dire qu’il n’y a plus rien à cet endroit.',
    failing: 'Aucun envoi n’y a réussi depuis 120 heures.',
    open: 'Ouvrir la page des webhooks',
  },
};
