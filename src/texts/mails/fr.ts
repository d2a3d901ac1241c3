import type { MailTexts } from '../mails.ts';

export const fr: MailTexts<'fr'> = {
  code: {
    subject: '{code} est votre code',
    body: 'Votre code :\n\n{code}\n\nIl expire dans 15 minutes. {partner} vous a invité à recevoir des paiements en stablecoins ; saisissez ce code sur la page que vous avez ouverte.\n\nSi vous ne l’avez pas demandé, ignorez cet e-mail : personne ne peut continuer sans le code.',
  },
  signIn: 'Se connecter',
  wallet: {
    unnamed: 'Un commerçant',
    about: 'Commerçant : {merchant}\nID du commerçant : {account}\nInvité par : {partner}',
    stop: 'Arrêter la récupération',
    changed: {
      subject: '{merchant} : votre portefeuille a été changé',
      body: 'Les nouvelles demandes sont désormais payées sur ce portefeuille :\n\n{newWallet}\n\nJusqu’ici, elles l’étaient sur celui-ci :\n\n{oldWallet}\n\nLes deux portefeuilles ont signé ce changement. Les demandes existantes restent payées sur l’ancien portefeuille. Les prélèvements automatiques s’arrêtent jusqu’à ce que chaque client ait donné un nouvel accord.',
    },
    recovery_started: {
      subject: '{merchant} : une récupération du portefeuille a été lancée',
      body: 'Ce portefeuille a été signalé comme perdu et sa récupération a été lancée :\n\n{oldWallet}\n\nRien n’a encore changé : un nouveau portefeuille doit d’abord signer, puis 48 heures doivent s’écouler.\n\nSi le portefeuille n’est pas perdu, signez avec lui pour arrêter la récupération :\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant} : les paiements passeront à un autre portefeuille dans 48 heures',
      body: 'À partir du {time}, les nouvelles demandes seront payées sur ce portefeuille :\n\n{newWallet}\n\nD’ici là, elles sont payées sur celui-ci :\n\n{oldWallet}\n\nSi c’est une erreur, signez d’ici là avec le portefeuille actuel pour tout arrêter :\n\n{link}',
    },
    recovered: {
      subject: '{merchant} : votre portefeuille a été récupéré',
      body: 'Les nouvelles demandes sont désormais payées sur ce portefeuille :\n\n{newWallet}\n\nJusqu’ici, elles l’étaient sur celui-ci, qui ne s’y est pas opposé sous 48 heures :\n\n{oldWallet}\n\nLes demandes existantes restent payées sur l’ancien portefeuille. Les prélèvements automatiques s’arrêtent jusqu’à ce que chaque client ait donné un nouvel accord.',
    },
    displaced: {
      subject: '{merchant} : une autre personne s’est connectée avec son portefeuille',
      body: 'À la création de ce commerçant, vous avez indiqué ce portefeuille pour lui, mais le commerçant ne s’est jamais connecté avec :\n\n{oldWallet}\n\nUne autre personne vient de le faire : le portefeuille est donc à elle. Le commerçant n’a plus de portefeuille et peut terminer son inscription avec un autre. Aucun paiement n’est concerné.',
    },
    recovery_stopped: {
      subject: '{merchant} : la récupération du portefeuille a été arrêtée',
      body: 'Rien ne change. Les paiements arrivent toujours sur ce portefeuille :\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Elle a été arrêtée avec le portefeuille actuel.',
      partner: 'Elle a été annulée par la personne qui l’avait lancée.',
      time: 'Aucun nouveau portefeuille n’a signé avant l’expiration du lien de récupération.',
    },
  },
  endpoint: {
    testSubject: 'Votre webhook de test a été désactivé',
    liveSubject: 'Votre webhook réel a été désactivé',
    body: 'Nous n’envoyons plus d’événements à cette URL :\n\n{url}\n\n{reason}\n\nAucun paiement n’est concerné et aucun événement n’est perdu : les nouveaux sont mis en attente. Corrigez votre endpoint, puis réactivez le webhook ou définissez une nouvelle URL. Les événements en attente partent aussitôt ; ceux qui ont échoué peuvent être renvoyés.\n\n{link}',
    gone: 'Elle a répondu 410 Gone.',
    failing: 'Aucun envoi n’a réussi depuis 120 heures.',
    open: 'Ouvrir les webhooks',
  },
};
