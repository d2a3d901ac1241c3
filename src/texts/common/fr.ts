import type { CommonTexts } from '../common.ts';

export const fr: CommonTexts<'fr'> = {
  common: {
    testMode: 'Mode test.',
    testModeRest: 'Aucun argent réel ne circule sur cette page.',
    language: 'Langue',
    skip: 'Aller au contenu',
    lessThanAMinute: 'moins d’une minute',
    copy: 'Copier',
    copied: 'Copié',
    qrCode: 'Code QR',
    titleAndRest: '{title}. {rest}',
    sentence: '{text}.',
    rate: '1 USDC = {rate}',
    payments: { one: '{count} paiement', many: '{count} de paiements', other: '{count} paiements' },
    confirmations: {
      one: 'Confirmations : {seen} sur {count}',
      many: 'Confirmations : {seen} sur {count}',
      other: 'Confirmations : {seen} sur {count}',
    },
    every: {
      day: 'chaque jour',
      week: 'chaque semaine',
      month: 'chaque mois',
      year: 'chaque année',
    },
    everyMany: {
      day: 'tous les {period}',
      week: 'toutes les {period}',
      month: 'tous les {period}',
      year: 'tous les {period}',
    },
  },
  app: {
    navigation: 'Pages',
    more: 'Plus',
    pages: 'Pages de cette liste',
    first: 'Revenir aux plus récents',
    next: 'Plus anciens',
    apply: 'Afficher',
    reset: 'Tout afficher',
    all: 'Tous',
    csv: 'Télécharger en CSV',
    test: 'Test',
    live: 'Réel',
    mode: 'Mode',
    signOut: 'Se déconnecter',
    figures: 'Afficher les chiffres',
    chartOf: 'Graphique : {title}',
  },
  errors: {
    notFound: 'Il n’y a rien ici',
    notFoundRest:
      'Le lien est peut-être incomplet. Ouvrez-le à nouveau tel qu’il vous a été envoyé, ou demandez-en un nouveau à son expéditeur.',
    home: 'Retour à la vue d’ensemble',
    trouble: 'Quelque chose ne fonctionne pas de notre côté',
    troubleRest:
      'La faute est à nous, et cela n’a déplacé aucun argent. Un paiement déjà envoyé est sur la chaîne et sera retrouvé. Réessayez dans une minute.',
    failed: 'Cela n’a pas fonctionné',
    malformed: 'Ceci n’a pas pu être lu',
    malformedRest:
      'Il s’y trouve des caractères qu’aucun texte ne contient, ou ce n’est pas un de nos formulaires. Rien n’a été modifié et aucun argent n’a été déplacé. Revenez en arrière et envoyez-le de nouveau.',
    foreignForm: 'Ce formulaire venait d’un autre site',
    foreignFormRest: 'Rouvrez votre lien et utilisez le formulaire qui s’y trouve. Aucun argent n’a été déplacé.',
    tooMany: 'Trop de tentatives',
    tooManyRest: 'Attendez une minute, puis continuez. Un paiement déjà envoyé est retrouvé automatiquement.',
    slowDown: 'Trop de pages à la fois',
    slowDownRest:
      'Attendez dix secondes, puis rechargez cette page. Un paiement déjà envoyé est retrouvé automatiquement.',
  },
  /** A payment that was given back, for merchants and for their partner. */
  refunded: {
    badges: {
      returning: 'À rendre',
      sent: 'En cours de retour',
      confirmed: 'Rendu',
      other: 'Rendu',
      failed: 'Non rendu',
      missing: 'Non rendu',
    },
    seenRest: '{amount} USDC à {address}. Ce sera fait dès que le réseau l’aura confirmé.',
    confirmedRest: '{amount} USDC à {address}, confirmé par le réseau.',
  },
};
