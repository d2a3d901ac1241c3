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
    rateSource: {
      market: 'Taux du marché selon {sources}',
      fixed: 'Taux fixe de l’environnement de test',
      override: 'Fixé par l’exploitant du service',
    },
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
  found: {
    submitted: {
      seen: 'Transaction vue, pas encore confirmée',
      mined: 'Transaction vue, pas encore confirmée',
      failed: 'La transaction a échoué',
      replaced: 'Transaction remplacée par une autre',
      gone: 'Transaction abandonnée par le réseau',
    },
    signed: 'Signé par le client ; nous envoyons le paiement',
    signedFailed: 'Le paiement signé par le client n’a déplacé aucun argent',
    near: '{amount} USDC sont arrivés sur {network} ; {due} USDC étaient dus',
    nearRest: 'Les plateformes d’échange prélèvent des frais ou arrondissent : ce peut être ce paiement.',
    nearOthers: {
      one: '{count} autre demande pourrait aussi être visée.',
      many: '{count} autres demandes pourraient aussi être visées.',
      other: '{count} autres demandes pourraient aussi être visées.',
    },
    wrongToken: 'Un mauvais jeton est arrivé sur {network}',
    wrongTokenRest: 'Il se nomme {symbol} ({token}), mais ce n’est pas un jeton accepté : il ne compte pas.',
    wrongNetwork: 'Un paiement est arrivé sur le mauvais réseau : {network}',
    wrongNetworkRest: '{symbol} est arrivé là où cette demande ne peut pas être payée : il ne compte pas.',
    silent: 'Nous ne pouvons pas lire {network} pour le moment',
    silentRest: 'Les paiements qui y sont faits apparaîtront dès que nous pourrons le lire à nouveau.',
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
  search: {
    hint: 'ID, montant, nom, hash…',
    newest: {
      one: 'Recherche faite dans la demande la plus récente. Choisissez des dates pour remonter plus loin.',
      many: 'Recherche faite dans {count} de demandes, les plus récentes. Choisissez des dates pour remonter plus loin.',
      other:
        'Recherche faite dans les {count} demandes les plus récentes. Choisissez des dates pour remonter plus loin.',
    },
    most: {
      one: 'Voici le résultat le plus récent. Choisissez des dates pour voir les autres.',
      many: 'Voici {count} de résultats, les plus récents. Choisissez des dates pour voir les autres.',
      other: 'Voici les {count} résultats les plus récents. Choisissez des dates pour voir les autres.',
    },
    by: 'Vous pouvez chercher par ID de demande ou ses 8 premiers caractères, numéro de reçu, montant, note, nom ou e-mail du client, clé d’idempotence, valeur des métadonnées, hash de transaction ou payeur.',
  },
};
