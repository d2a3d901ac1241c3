import type { WalletTexts } from '../wallets.ts';

export const fr: WalletTexts<'fr'> = {
  signing: {
    manual: 'À la main',
    address: 'Adresse du portefeuille',
    addressHint: '0x et 40 chiffres ou lettres.',
    network: 'Réseau pour la connexion',
    useAddress: 'Utiliser cette adresse',
    message: 'Message à signer',
    signHint:
      'Signez ce message dans votre portefeuille, à la lettre près ; les portefeuilles disent « signer un message ».',
    signature: 'Signature',
    signatureHint: 'Le résultat, de 0x jusqu’à la fin.',
    connectWith: 'Se connecter avec {wallet}',
    phoneRest:
      'Scannez avec l’appareil photo de votre téléphone. Cette page s’y ouvre, et vous continuez avec votre portefeuille.',
    told: {
      connect: 'Connecter {wallet}',
      sign: 'Signer avec {wallet}',
      browserWallet: 'le portefeuille du navigateur',
      none: 'Aucun portefeuille trouvé dans ce navigateur. Ouvrez cette page dans le navigateur de l’application de votre portefeuille, ou continuez à la main.',
      noneScan:
        'Aucun portefeuille trouvé dans ce navigateur. Scannez le code avec votre téléphone pour continuer là-bas, ou continuez à la main.',
      noneOnPhone:
        'Ce navigateur n’a pas de portefeuille. Ouvrez cette page dans l’application de votre portefeuille pour continuer.',
      pairing: 'Préparation d’un code pour votre portefeuille…',
      away: '{wallet} est injoignable pour le moment. Rien n’a été modifié. Continuez autrement, ou réessayez plus tard.',
      copied: 'Copié',
      opening: 'Ouvrez {wallet} et autorisez cette page à voir votre adresse.',
      waiting: 'Confirmez la signature dans {wallet}.',
      sending: 'Signé. Un instant.',
      rejected: 'Vous avez refusé dans {wallet}. Rien n’a été signé ni modifié. Réessayez quand vous serez prêt.',
      pending: 'Une question précédente attend encore votre réponse dans {wallet}. Ouvrez-le et répondez-y.',
      noAccount: 'Aucune adresse reçue : déverrouillez {wallet}, puis réessayez.',
      wrongNetwork:
        'Le réseau de {wallet} n’est pas proposé ici. Passez à {networks} dans le portefeuille, puis réessayez.',
      otherAccount: 'Un autre compte est ouvert dans {wallet}. Choisissez-y {address}, puis réessayez.',
      failed: 'Cela n’a pas été possible avec {wallet}. Rien n’a été modifié. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Ce lien n’est pas un des nôtres',
      rest: 'Ouvrez-le à nouveau en entier, tel qu’il vous a été envoyé, ou demandez-en un nouveau à son expéditeur.',
    },
    link_expired: {
      title: 'Ce lien a expiré',
      rest: 'Les liens sont valables sept jours. Demandez-en un nouveau à son expéditeur ; ce que vous avez saisi est conservé.',
    },
    link_used: {
      title: 'Déjà configuré',
      rest: 'L’inscription a été terminée avec ce lien. Connectez-vous avec votre portefeuille pour ouvrir votre tableau de bord. Si ce n’était pas vous, demandez à la personne qui vous a envoyé le lien.',
    },
    email_code_needed: {
      title: 'Le code de l’e-mail manque',
      rest: 'Faites-vous d’abord envoyer un code et saisissez-le.',
    },
    email_code_wrong: {
      title: 'Ce code n’est pas le bon',
      rest: 'Prenez l’e-mail le plus récent et saisissez ses six chiffres.',
    },
    email_code_expired: {
      title: 'Ce code a expiré',
      rest: 'Les codes sont valables 15 minutes. Faites-vous en envoyer un nouveau.',
    },
    email_code_exhausted: {
      title: 'Trop de codes erronés',
      rest: 'Par sécurité, aucun code n’est accepté pour l’instant. Attendez 15 minutes, puis faites-vous en envoyer un nouveau.',
    },
    email_code_just_sent: {
      title: 'Un code vient d’être envoyé',
      rest: 'Regardez dans votre boîte, y compris les indésirables. Un autre peut être envoyé après une minute.',
    },
    details_invalid: { title: 'Certaines informations sont à revoir', rest: 'Elles sont signalées ci-dessous.' },
    wallet_malformed: {
      title: 'Ce n’est pas une adresse de portefeuille',
      rest: 'Une adresse se compose de 0x suivi de 40 chiffres et lettres de a à f.',
    },
    wallet_differs: {
      title: 'Ce n’est pas le portefeuille annoncé',
      rest: 'Le partenaire qui vous a invité a indiqué un portefeuille précis. Prenez celui-là, ou demandez-lui de le changer.',
    },
    wallet_taken: {
      title: 'Ce portefeuille appartient déjà à un autre commerçant',
      rest: 'Un portefeuille ne sert qu’à un commerçant. Prenez-en un autre, ou demandez de l’aide à qui vous a invité si celui-ci est le vôtre.',
    },
    wallet_same: { title: 'C’est le portefeuille que vous avez', rest: 'Donnez l’adresse du nouveau.' },
    wallet_unknown: {
      title: 'Aucun commerçant n’est payé sur ce portefeuille',
      rest: 'Connectez-vous avec le portefeuille sur lequel vous êtes payé. Si vous n’en avez pas encore ici, ouvrez le lien de votre invitation.',
    },
    wallet_not_deployed: {
      title: 'Ce portefeuille intelligent n’est pas encore déployé',
      rest: 'Nous devons vérifier sa signature avec son code sur un réseau. Faites une première transaction avec lui sur un des réseaux d’ici, puis signez à nouveau.',
    },
    chain_unreachable: {
      title: 'Le réseau n’a pas pu être interrogé sur ce portefeuille',
      rest: 'Ce n’est pas votre faute. Rien n’a été modifié ; réessayez dans une minute.',
    },
    chain_unknown: {
      title: 'Votre portefeuille est sur un réseau qui n’est pas proposé ici',
      rest: 'Passez à un réseau proposé dans votre portefeuille, puis réessayez.',
    },
    message_changed: {
      title: 'Le message signé n’est pas celui que nous avons donné',
      rest: 'Signez le nouveau message, exactement tel qu’il est affiché.',
    },
    message_used: {
      title: 'Ce message a déjà servi ou a expiré',
      rest: 'Chaque message compte une fois, pendant 15 minutes. En voici un nouveau.',
    },
    signature_invalid: {
      title: 'La signature n’est pas de ce portefeuille',
      rest: 'Signez le message entier avec le portefeuille dont l’adresse y figure.',
    },
    terms_not_accepted: {
      title: 'Les conditions n’ont pas été acceptées',
      rest: 'Lisez-les et cochez la case si vous êtes d’accord.',
    },
    too_many_attempts: { title: 'Trop de tentatives', rest: 'Attendez une minute, puis continuez.' },
    merchant_unknown: {
      title: 'Ce commerçant n’existe pas',
      rest: 'Rien n’a été modifié.',
    },
    not_onboarded: {
      title: 'Ce commerçant n’a pas terminé son inscription',
      rest: 'Son lien d’inscription accepte n’importe quel portefeuille : il n’y a rien à récupérer.',
    },
    recovery_signed: {
      title: 'Un nouveau portefeuille a déjà signé',
      rest: 'Il prend le relais une fois ses 48 heures passées, sauf si cela est arrêté avant.',
    },
    change_over: {
      title: 'Rien n’est en cours ici',
      rest: 'Ce changement de portefeuille a été terminé, arrêté ou a expiré. Le tableau de bord montre quel portefeuille est payé.',
    },
  },
  walletChange: {
    title: 'Changer de portefeuille',
    heading: 'Changez le portefeuille sur lequel vous êtes payé',
    now: 'Payé actuellement sur',
    rest: 'Deux signatures : le portefeuille actuel désigne le nouveau, puis le nouveau accepte. Les demandes ouvertes sont encore payées sur le portefeuille actuel.',
    newWallet: 'Le nouveau portefeuille',
    step1: '1 sur 2 : signez avec votre portefeuille actuel',
    step1Rest: 'Il passe la main à {wallet}.',
    step2: '2 sur 2 : signez avec le nouveau portefeuille',
    step2Rest: 'Ensuite, les nouvelles demandes sont payées sur {wallet}.',
    sign: 'Signer',
    cancel: 'Tout laisser en l’état',
    done: 'Votre portefeuille a été changé',
    doneRest:
      'Les nouvelles demandes sont payées sur {wallet}. Celles qui étaient déjà ouvertes sont encore payées sur l’ancien.',
    back: 'Retour au tableau de bord',
    lost: 'Portefeuille actuel perdu ? Demandez à {partner} de lancer une récupération pour vous.',
    underWay: 'Une récupération de votre portefeuille est en cours',
    underWayRest: 'Le {time}, vos paiements passent à {wallet}. Si ce n’était pas vous, arrêtez-la maintenant.',
    started: 'Une récupération de votre portefeuille a été lancée',
    startedRest:
      '{partner} a envoyé un lien avec lequel un nouveau portefeuille peut signer. 48 heures plus tard, vos paiements passeraient à celui-ci. Si ce n’était pas vous, arrêtez-la maintenant.',
    stop: 'Arrêter la récupération',
    stopped: 'La récupération a été arrêtée',
    stoppedRest: 'Rien ne change : vous êtes payé sur {wallet}.',
    stopHeading: 'Arrêter la récupération d’un portefeuille',
    stopRest: 'Signez avec le portefeuille actuel {wallet}. Cela arrête aussitôt la récupération, et rien ne change.',
  },
  recovery: {
    title: 'Récupérer un portefeuille',
    heading: '{partner} a lancé une récupération de votre portefeuille',
    rest: 'Prenez un nouveau portefeuille et signez avec lui. 48 heures plus tard, vos paiements y passent, sauf si l’ancien portefeuille {wallet} s’y oppose.',
    signHeading: 'Signez avec le nouveau portefeuille',
    signRest: 'Après 48 heures, les nouvelles demandes sont payées sur {wallet}.',
    sign: 'Signer',
    waiting: 'Votre nouveau portefeuille a signé',
    waitingRest:
      'Le {time}, vos paiements passent à {wallet}, sauf si l’ancien portefeuille s’y oppose. Vous n’avez plus rien à faire.',
    applied: 'Vos paiements vont au nouveau portefeuille',
    appliedRest: 'Connectez-vous avec {wallet}.',
  },
};
