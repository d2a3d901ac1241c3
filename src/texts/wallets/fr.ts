import type { WalletTexts } from '../wallets.ts';

export const fr: WalletTexts<'fr'> = {
  signing: {
    manual: 'Saisir manuellement',
    address: 'Adresse du portefeuille',
    addressHint: '0x suivi de 40 lettres ou chiffres.',
    network: 'Réseau pour la connexion',
    useAddress: 'Utiliser cette adresse',
    message: 'Message à signer',
    signHint:
      'Signez exactement ce message dans votre portefeuille. Les portefeuilles appellent cela « signer un message ».',
    signature: 'Signature',
    signatureHint: 'Collez le résultat complet, à partir de 0x.',
    connectWith: 'Connecter {wallet}',
    phoneRest:
      'Scannez avec l’appareil photo de votre téléphone. Cette page s’ouvre sur le téléphone, et vous y continuez avec votre portefeuille.',
    browser: {
      connect: 'Connecter {wallet}',
      sign: 'Signer avec {wallet}',
      browserWallet: 'votre portefeuille de navigateur',
      none: 'Aucun portefeuille trouvé dans ce navigateur. Ouvrez cette page dans le navigateur de votre application de portefeuille, ou continuez manuellement.',
      noneScan:
        'Aucun portefeuille trouvé dans ce navigateur. Scannez le code avec votre téléphone pour y continuer, ou saisissez les informations manuellement.',
      noneOnPhone:
        'Ce navigateur n’a pas de portefeuille. Ouvrez cette page dans votre application de portefeuille pour continuer.',
      pairing: 'Préparation d’un code pour votre portefeuille…',
      away: '{wallet} est injoignable pour le moment. Rien n’a été modifié. Continuez autrement ou réessayez plus tard.',
      copied: 'Copié',
      opening: 'Ouvrez {wallet} et autorisez cette page à voir votre adresse.',
      waiting: 'Confirmez la signature dans {wallet}.',
      sending: 'Signé. Un instant.',
      rejected: 'Vous avez refusé dans {wallet}. Rien n’a été signé ni modifié. Réessayez quand vous le voudrez.',
      pending: '{wallet} attend encore votre réponse à une demande précédente. Ouvrez-le pour y répondre.',
      noAccount: '{wallet} n’a pas communiqué d’adresse. Déverrouillez-le, puis réessayez.',
      wrongNetwork: '{wallet} est sur un réseau qui n’est pas disponible ici. Passez sur {networks}, puis réessayez.',
      otherAccount: '{wallet} utilise un autre compte. Sélectionnez {address}, puis réessayez.',
      failed: 'Une erreur s’est produite dans {wallet}. Rien n’a été modifié. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Ce lien n’est pas valide',
      rest: 'Ouvrez le lien complet exactement tel qu’il vous a été envoyé, ou demandez-en un nouveau à l’expéditeur.',
    },
    link_expired: {
      title: 'Ce lien a expiré',
      rest: 'Les liens expirent au bout de sept jours. Demandez-en un nouveau à l’expéditeur ; ce que vous avez saisi est enregistré.',
    },
    link_replaced: {
      title: 'Ce lien a été remplacé',
      rest: 'Le partenaire qui vous a invité a recommencé l’inscription. Ce lien ne fonctionne plus, et ce qui avait été saisi avec lui a été supprimé. Demandez-lui le nouveau lien.',
    },
    link_used: {
      title: 'Déjà configuré',
      rest: 'L’inscription a été terminée avec ce lien. Connectez-vous avec votre portefeuille pour ouvrir votre tableau de bord. Si ce n’était pas vous, contactez la personne qui vous a envoyé le lien.',
    },
    email_code_needed: {
      title: 'Saisissez le code reçu par e-mail',
      rest: 'Demandez un code et saisissez-le d’abord.',
    },
    email_code_wrong: {
      title: 'Ce code est incorrect',
      rest: 'Vérifiez l’e-mail le plus récent et saisissez ses six chiffres.',
    },
    email_code_expired: {
      title: 'Ce code a expiré',
      rest: 'Les codes expirent au bout de 15 minutes. Demandez-en un nouveau.',
    },
    email_code_exhausted: {
      title: 'Trop de codes erronés',
      rest: 'Par sécurité, les codes sont bloqués pour l’instant. Attendez 15 minutes, puis demandez-en un nouveau.',
    },
    email_code_just_sent: {
      title: 'Nous venons de vous envoyer un code',
      rest: 'Vérifiez votre boîte de réception et vos courriers indésirables. Vous pourrez demander un autre code dans une minute.',
    },
    email_code_too_often: {
      title: 'Trop de codes ont été envoyés aujourd’hui',
      rest: 'Le code le plus récent reste valable 15 minutes après son envoi. Vous pourrez en demander un autre demain.',
    },
    details_invalid: { title: 'Certaines informations sont à corriger', rest: 'Elles sont signalées ci-dessous.' },
    wallet_malformed: {
      title: 'Ce n’est pas une adresse de portefeuille',
      rest: 'Une adresse se compose de 0x suivi de 40 chiffres et lettres de a à f.',
    },
    wallet_differs: {
      title: 'Ce n’est pas le portefeuille attendu',
      rest: 'Le partenaire qui vous a invité a indiqué un portefeuille précis. Utilisez celui-ci, ou demandez-lui de le changer.',
    },
    wallet_taken: {
      title: 'Ce portefeuille appartient déjà à un autre commerçant',
      rest: 'Un portefeuille ne peut appartenir qu’à un seul commerçant. Utilisez-en un autre. Si celui-ci est le vôtre, demandez de l’aide au partenaire qui vous a invité.',
    },
    wallet_same: { title: 'C’est déjà votre portefeuille', rest: 'Saisissez l’adresse du nouveau.' },
    changed_too_often: {
      title: 'Votre portefeuille a été changé trop souvent aujourd’hui',
      rest: 'Rien n’a été modifié. Continuez demain.',
    },
    wallet_unknown: {
      title: 'Aucun commerçant n’utilise ce portefeuille',
      rest: 'Connectez-vous avec le portefeuille sur lequel vous recevez vos paiements. Si vous n’en avez pas encore configuré, ouvrez le lien de votre invitation.',
    },
    wallet_not_deployed: {
      title: 'Ce smart wallet n’est pas encore déployé',
      rest: 'Pour vérifier sa signature, il nous faut son code sur un réseau. Effectuez une première transaction avec lui sur l’un des réseaux proposés ici, puis signez à nouveau.',
    },
    chain_unreachable: {
      title: 'Nous n’avons pas pu joindre le réseau pour vérifier ce portefeuille',
      rest: 'Ce n’est pas votre faute. Rien n’a été modifié ; réessayez dans une minute.',
    },
    chain_unknown: {
      title: 'Votre portefeuille est sur un réseau qui n’est pas disponible ici',
      rest: 'Passez votre portefeuille sur l’un des réseaux disponibles ici, puis réessayez.',
    },
    message_changed: {
      title: 'Le message signé n’est pas celui qui était affiché',
      rest: 'Signez le nouveau message exactement tel qu’il est affiché.',
    },
    message_used: {
      title: 'Ce message a déjà servi ou a expiré',
      rest: 'Chaque message ne peut servir qu’une fois, dans les 15 minutes. En voici un nouveau.',
    },
    signature_invalid: {
      title: 'La signature ne provient pas de ce portefeuille',
      rest: 'Signez le message complet avec le portefeuille dont il indique l’adresse.',
    },
    terms_not_accepted: {
      title: 'Les conditions n’ont pas été acceptées',
      rest: 'Lisez-les, puis cochez la case si vous êtes d’accord.',
    },
    too_many_attempts: {
      title: 'Trop de tentatives',
      rest: 'Attendez quelques minutes, un quart d’heure au plus, puis continuez.',
    },
    merchant_unknown: {
      title: 'Ce commerçant n’existe pas',
      rest: 'Rien n’a été modifié.',
    },
    not_onboarded: {
      title: 'Ce commerçant n’a pas terminé son inscription',
      rest: 'Son lien d’inscription accepte n’importe quel portefeuille : il n’y a rien à récupérer.',
    },
    recovery_expired: {
      title: 'Cette récupération a expiré',
      rest: 'Aucun nouveau portefeuille n’a signé dans les sept jours : rien n’a changé. Si vous en avez encore besoin, demandez au partenaire qui vous a envoyé le lien d’en lancer une nouvelle.',
    },
    recovery_signed: {
      title: 'Un nouveau portefeuille a déjà signé',
      rest: 'Il prend le relais au bout de 48 heures, sauf si la récupération est arrêtée avant.',
    },
    change_over: {
      title: 'Rien à faire ici',
      rest: 'Ce changement de portefeuille a été effectué, arrêté, ou a expiré. Le tableau de bord indique le portefeuille qui reçoit les paiements.',
    },
  },
  walletChange: {
    title: 'Changer de portefeuille',
    heading: 'Changer le portefeuille qui reçoit vos paiements',
    now: 'Portefeuille actuel',
    rest: 'Il faut deux signatures : le portefeuille actuel désigne le nouveau, puis le nouveau accepte. Les demandes ouvertes restent payées sur le portefeuille actuel. Les prélèvements automatiques s’arrêtent jusqu’à ce que chaque client ait donné un nouvel accord.',
    newWallet: 'Nouveau portefeuille',
    step1: '1 sur 2 : signez avec votre portefeuille actuel',
    step1Rest: 'Il passe la main à {wallet}.',
    step2: '2 sur 2 : signez avec le nouveau portefeuille',
    step2Rest: 'Dès lors, les nouvelles demandes sont payées sur {wallet}.',
    sign: 'Signer',
    cancel: 'Annuler et garder mon portefeuille',
    done: 'Votre portefeuille a été changé',
    doneRest:
      'Les nouvelles demandes sont payées sur {wallet}. Celles qui étaient déjà ouvertes restent payées sur l’ancien portefeuille. Les prélèvements automatiques s’arrêtent jusqu’à ce que chaque client ait donné un nouvel accord.',
    back: 'Retour au tableau de bord',
    lost: 'Portefeuille actuel perdu ? Demandez à {partner} de lancer une récupération pour vous.',
    underWay: 'Votre portefeuille est en cours de récupération',
    underWayRest:
      'Le {time}, vos paiements passeront à {wallet}. Si vous n’en êtes pas à l’origine, arrêtez la récupération maintenant.',
    started: 'Une récupération de votre portefeuille a été lancée',
    startedRest:
      '{partner} a envoyé un lien qui permet à un nouveau portefeuille de signer. 48 heures après, vos paiements passeraient à celui-ci. Si vous n’en êtes pas à l’origine, arrêtez la récupération maintenant.',
    stop: 'Arrêter la récupération',
    stopped: 'La récupération a été arrêtée',
    stoppedRest: 'Rien ne change : vous recevez toujours vos paiements sur {wallet}.',
    stopHeading: 'Arrêter la récupération d’un portefeuille',
    stopRest: 'Signez avec le portefeuille actuel, {wallet}. La récupération s’arrête aussitôt, et rien ne change.',
  },
  recovery: {
    title: 'Récupérer un portefeuille',
    heading: '{partner} a lancé une récupération de votre portefeuille',
    rest: 'Choisissez un nouveau portefeuille et signez avec lui. Vos paiements y passent 48 heures plus tard, sauf si l’ancien portefeuille, {wallet}, s’y oppose.',
    signHeading: 'Signez avec le nouveau portefeuille',
    signRest: 'Au bout de 48 heures, les nouvelles demandes sont payées sur {wallet}.',
    sign: 'Signer',
    waiting: 'Votre nouveau portefeuille a signé',
    waitingRest:
      'Le {time}, vos paiements passeront à {wallet}, sauf si l’ancien portefeuille s’y oppose. Vous n’avez plus rien à faire.',
    applied: 'Vos paiements arrivent sur le nouveau portefeuille',
    appliedRest: 'Connectez-vous avec {wallet}.',
  },
};
