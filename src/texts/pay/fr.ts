import type { PayTexts } from '../pay.ts';

export const fr: PayTexts<'fr'> = {
  pay: {
    title: 'Payer {merchant}',
    titlePaid: 'Payé : {merchant}',
    dueOn: '{amount} {token} sur {network}',
    restLeft: 'Reste à payer',
    restOn: 'Reste à payer sur {network}',
    restOf: 'sur {fiat} ({amount} USDC)',
    memo: 'Objet',
    rateAt: '{rate}, {time}',
    until: 'échéance : {time}',
    left: 'encore {time}',
    through: 'Par l’intermédiaire de {partner}',
    straight: 'L’argent va directement à {merchant}, sans étape intermédiaire.',
    details: 'Paiement {number}',
  },
  statusMessage: {
    waiting: 'En attente du paiement',
    waitingRest: 'Il apparaît ici dès qu’il est sur le réseau.',
    seen: 'Paiement vu sur {network}',
    seenRest: 'Il attend d’être inclus dans un bloc. Vous n’avez plus rien à faire.',
    seenOpenRest:
      'Il attend d’être inclus dans un bloc. Si vous l’avez envoyé, il n’y a plus rien à faire : ne payez pas une seconde fois.',
    sending: 'Le paiement est en cours d’envoi sur {network}',
    sendingRest:
      'Vous l’avez signé, et nous l’envoyons pour vous. Il attend d’être confirmé ; vous n’avez plus rien à faire.',
    sendingLongRest:
      'Vous l’avez signé, et cela prend plus de temps que d’habitude. Il peut encore aboutir : ne payez pas une seconde fois pour l’instant.',
    unsent: 'Le paiement que vous avez signé n’a pas abouti',
    unsentRest: 'Aucun argent n’a été déplacé. Veuillez payer à nouveau.',
    unsentHoldsRest:
      'Aucun argent n’a été déplacé. Votre signature reste valable quelques minutes : signez à nouveau avec le même portefeuille, ou attendez avant de payer autrement, pour ne rien payer deux fois.',
    confirming: 'Le paiement est en cours de confirmation',
    confirmingCount: {
      one: 'Confirmations sur {network} : {seen} sur {count}.',
      many: 'Confirmations sur {network} : {seen} sur {count}.',
      other: 'Confirmations sur {network} : {seen} sur {count}.',
    },
    confirmingTag: 'En attente que {network} le rende définitif.',
    confirmingRest: 'Vous pouvez fermer cette page.',
    paid: 'Payé',
    paidRest: '{merchant} a l’argent. Vous n’avez plus rien à faire.',
    paidOwedRest: '{merchant} a l’argent.',
    paidOver: 'Vous avez envoyé {amount} USDC de plus que demandé. Demandez à {merchant} de vous les rendre.',
    paidLate: 'Il est arrivé après la fin du délai et compte quand même.',
    partial: 'Il manque {amount} USDC',
    partialRest:
      '{paid} USDC sur {due} sont arrivés. Payez le reste ci-dessous, par le moyen de votre choix ; les paiements s’additionnent.',
    expired: 'Cette demande a expiré',
    expiredRest:
      'Ne payez plus rien ; demandez une nouvelle demande à {merchant}. L’argent déjà envoyé compte encore s’il a atteint le réseau dans les 30 minutes suivant la fin.',
    expiredPartial: '{paid} USDC sur {due} sont arrivés. Voyez cela avec {merchant}.',
    voided: 'Cette demande a été annulée',
    voidedRest: 'Ne payez plus rien. Rien n’est dû sur cette page.',
    tooLate: 'Un paiement est arrivé trop tard',
    tooLateRest:
      '{amount} USDC ont atteint le portefeuille après la fin de la demande et ne comptent donc pas automatiquement. {merchant} le voit ; voyez cela ensemble.',
    voidedPaid: 'Un paiement est arrivé après l’annulation de la demande',
    reorged: 'Le réseau a retiré le paiement',
    reorgedRest:
      'Il a réécrit ses derniers blocs, et votre transaction n’y figure plus. Elle revient généralement d’elle-même ; regardez dans votre portefeuille avant de payer à nouveau.',
    failed: 'Votre transaction a échoué',
    failedRest:
      'Elle est enregistrée sur {network} mais n’a déplacé aucun argent. Regardez pourquoi dans votre portefeuille, puis payez à nouveau.',
    replaced: 'Votre transaction a été remplacée',
    replacedRest:
      'Une autre transaction de votre portefeuille a pris sa place. Si celle-ci paie cette demande, elle apparaît ici d’elle-même ; sinon, payez à nouveau.',
    gone: 'Votre transaction n’est plus sur le réseau',
    goneRest:
      'Elle a été abandonnée avant d’entrer dans un bloc : aucun argent n’a été déplacé. Regardez dans votre portefeuille, puis payez à nouveau.',
    wrongToken: 'Un autre jeton est arrivé, pas de l’USDC',
    wrongTokenRest:
      '{symbol} ({token}) a été envoyé sur {network}. Ce n’est pas le jeton demandé et il ne compte pas. Voyez cela avec {merchant}, et payez en {accepted}.',
    fakeToken: 'Un jeton se fait appeler {symbol}, mais c’en est un autre',
    fakeTokenRest:
      'Un jeton qui se fait appeler {symbol} est arrivé sur {network}, mais son contrat ({token}) n’est pas celui de {symbol}. Il ne compte pas et peut être sans valeur. Voyez cela avec {merchant}, et payez avec le vrai {accepted}.',
    wrongNetwork: 'L’argent est arrivé sur un autre réseau',
    wrongNetworkRest:
      'Il a été envoyé sur {network}, qui n’est pas accepté ici, et ne compte pas. Voyez cela avec {merchant}, et payez sur {accepted}.',
    alreadyPaid:
      'Un second paiement de {amount} USDC est arrivé. Il n’était pas nécessaire ; demandez à {merchant} de vous le rendre.',
    trouble: 'Nous ne pouvons pas lire {network} en ce moment',
    troubleRest:
      'Rien n’est perdu : un paiement que vous envoyez est sur le réseau et sera retrouvé dès que nous pourrons le lire à nouveau.',
    offline: 'Vous êtes hors ligne. Cette page continue d’elle-même dès votre retour.',
    unreachable:
      'Cette page n’arrive pas à nous joindre et continue d’essayer. Un paiement envoyé est sur le réseau et sera retrouvé.',
  },
  paymentMethods: {
    heading: 'Comment voulez-vous payer ?',
    none: '{merchant} ne peut être payé sur aucun des réseaux proposés ici pour le moment. Veuillez lui demander.',
    feeless: 'Payer sans frais de réseau',
    feelessRest:
      'Vous ne faites que signer. Le paiement est envoyé pour vous, et votre portefeuille n’a besoin de rien pour les frais.',
    twice: 'Un paiement signé ici est encore en route. Si vous payez aussi maintenant, les deux peuvent aboutir.',
    network: 'Réseau',
    phone: 'Portefeuille sur téléphone',
    phoneRest:
      'Scannez avec l’appareil photo de votre téléphone : cette page s’y ouvre, et vous payez avec votre portefeuille.',
    scanAddress: 'Scanner l’adresse',
    scanAddressRest:
      'Pour les plateformes d’échange et les portefeuilles matériels : ce code ne contient que l’adresse. Saisissez vous-même le montant et choisissez {network}.',
    phoneDirect: 'Scanner l’adresse et le montant',
    phoneDirectRest: 'Votre portefeuille doit afficher cette adresse et ce montant ; sinon, arrêtez.',
    openIn: 'Ouvrir dans votre application de portefeuille',
    walletConnect: 'WalletConnect',
    walletConnectRest: 'Scannez avec un portefeuille compatible WalletConnect.',
    manual: 'À la main ou depuis une plateforme d’échange',
    amount: 'Montant',
    address: 'Adresse',
    checkToken: 'Vérifier le jeton (ne jamais envoyer à cette adresse)',
    checkTokenRest: 'C’est le contrat de {token} sur {network}. Le jeton de votre portefeuille doit avoir le même.',
    sendExactly: 'Envoyez exactement {amount} {token} sur {network}',
    copyAmount: 'Copier le montant',
    copyAddress: 'Copier l’adresse',
    copyLink: 'Copier le lien',
    warning:
      'Uniquement {token} sur {network}. Un autre jeton ou un autre réseau ne compte pas pour ce paiement, et l’argent peut être perdu définitivement.',
    exactly:
      'Chaque chiffre compte : il distingue votre paiement des autres, alors n’arrondissez pas. Si une plateforme prend ses frais sur le montant, ajoutez-les.',
  },
  wallet: {
    payWith: 'Payer avec {wallet}',
    payRest: 'Payer le reste avec {wallet}',
    browserWallet: 'le portefeuille du navigateur',
    connecting: 'Ouvrez {wallet} et autorisez cette page à voir votre adresse.',
    pairing: 'Préparation d’un code pour votre portefeuille…',
    away: '{wallet} est injoignable pour le moment. Aucun argent n’a été déplacé ; payez autrement, ou réessayez plus tard.',
    switching: 'Autorisez dans {wallet} le passage à {network}.',
    confirm: 'Confirmez le paiement dans {wallet}.',
    sent: 'Envoyé. En attente du réseau.',
    unseen: 'Envoyé, mais le réseau ne le montre pas encore. Regardez dans {wallet} avant de payer à nouveau.',
    rejected: 'Vous avez refusé dans {wallet}. Aucun argent n’a été déplacé.',
    pending: 'Une question précédente attend encore votre réponse dans {wallet}. Ouvrez-le et répondez-y.',
    insufficient:
      'Ce portefeuille contient {amount} {token} sur {network}, ce qui ne suffit pas. Aucun argent n’a été déplacé.',
    fee: 'Ce portefeuille a trop peu de {coin} pour les frais de {network}. Aucun argent n’a été déplacé.',
    signPayment: 'Signez le paiement dans {wallet}. Il n’y a pas de frais de réseau.',
    noCoin:
      'Ce portefeuille n’a pas de {coin} pour les frais de {network} : le paiement est donc envoyé pour vous, sans frais. Signez-le dans {wallet}.',
    handingIn: 'Signé. Le paiement est en cours d’envoi pour vous.',
    handedIn: 'Envoyé pour vous. En attente du réseau.',
    feeInstead:
      'Ce portefeuille a trop peu de {coin} pour les frais de {network}. Aucun argent n’a été déplacé. Réessayez sans frais de réseau : vous ne faites que signer.',
    notOffered:
      'Le paiement ne peut pas être envoyé sans frais de réseau pour le moment. Aucun argent n’a été déplacé ; payez avec les frais, ou autrement.',
    otherUnderWay: 'Un autre paiement de cette demande est déjà en route. Rien de plus n’a été envoyé.',
    alreadyUsed:
      'Ceci a déjà été signé et utilisé. Si cette demande a été payée ainsi, cela s’affichera ici dans un instant.',
    closed: 'Cette demande ne peut plus être payée de cette façon. Rien n’a été envoyé.',
    changed: 'Ce qui est demandé a changé entre-temps. Rien n’a été envoyé ; réessayez.',
    badSignature:
      'Le jeton n’accepte pas cette signature de {wallet}. Aucun argent n’a été déplacé ; payez plutôt avec les frais de réseau.',
    lowBalance: 'Ce portefeuille n’a pas assez de {token} sur {network}. Aucun argent n’a été déplacé.',
    refused:
      'Le jeton refuse ce paiement. Aucun argent n’a été déplacé ; prenez un autre portefeuille ou un autre moyen.',
    noNetwork: '{network} est injoignable pour le moment. Rien n’a été envoyé ; réessayez dans une minute.',
    tooMany: 'Trop de tentatives pour ce paiement. Rien n’a été envoyé ; attendez une minute, puis réessayez.',
    unsure:
      'Nous sommes injoignables : on ne sait donc pas si votre paiement est en route. Attendez que cette page reprenne avant de payer à nouveau.',
    noAccount: 'Aucune adresse reçue : déverrouillez {wallet}, puis réessayez.',
    wrongNetwork:
      'Impossible de faire passer {wallet} à {network}. Changez de réseau dans le portefeuille, ou choisissez-en un autre.',
    reverted: 'Selon {wallet}, le paiement a échoué. Aucun argent n’a été déplacé ; réessayez.',
    failed:
      'Le paiement n’a pas été envoyé avec {wallet} : {reason} Regardez-y la dernière activité avant de réessayer.',
    signWith: 'Signer avec {wallet}',
    signing: 'Signez dans {wallet} que ce paiement est le vôtre. Cela ne coûte rien.',
    otherAccount: 'Une autre adresse est ouverte dans {wallet}. Choisissez-y {address}, puis réessayez.',
    notSigned: 'Pas de signature avec {wallet}. {reason}',
  },
  found: {
    title: 'Un paiement de {amount} USDC est arrivé ; {asked} étaient demandés',
    titleSame: 'Un paiement de {amount} USDC est arrivé, mais rien ne le relie à cette demande',
    shortRest:
      'Les plateformes d’échange déduisent souvent leurs frais du montant ou l’arrondissent : nous ne pouvons donc pas savoir si ce paiement est pour cette demande. Si vous l’avez envoyé, ne payez pas à nouveau. Donnez à {merchant} la référence ci-dessous : depuis son tableau de bord, il est possible de rattacher le paiement et de vous demander le reste.',
    otherRest:
      'Nous ne pouvons pas savoir si ce paiement est pour cette demande. Si vous l’avez envoyé, ne payez pas à nouveau. Donnez à {merchant} la référence ci-dessous : depuis son tableau de bord, il est possible de rattacher le paiement.',
    endedRest:
      'Nous ne pouvons pas savoir si ce paiement est pour cette demande. Si vous l’avez envoyé, donnez à {merchant} la référence ci-dessous : le paiement est visible dans son tableau de bord.',
    reference: 'Référence',
    copyReference: 'Copier la référence',
  },
  proof: {
    headingWaiting: 'Envoyé, mais pas encore visible ?',
    headingEnded: 'Avez-vous déjà payé ?',
    hash: 'Hash de la transaction',
    hashHint:
      'Dans votre portefeuille ou sur la plateforme : 0x et 64 lettres ou chiffres. Nous le cherchons aussitôt.',
    look: 'Chercher cette transaction',
    elsewhere: 'Signer ailleurs',
    elsewhereRest:
      'Faites signer ceci comme données typées (EIP-712) par le portefeuille qui a payé, et mettez la signature ici.',
    sign: 'Remettre la signature',
    signature: 'Signature',
    signHeading: 'Payé depuis votre propre portefeuille ? Confirmez-le par une signature',
    signHint: 'Seul le propriétaire de {address} peut dire que ce paiement est pour cette demande.',
    malformed: 'Ce n’est pas un hash de transaction : il se compose de 0x et de 64 lettres ou chiffres.',
    not_found:
      'Aucun réseau accepté ici ne connaît encore cette transaction. Vérifiez le hash, et le réseau sur lequel elle a été envoyée.',
    unavailable: 'Le réseau n’a pas pu être interrogé. Rien n’est perdu ; réessayez dans une minute.',
    pending_in_mempool: 'La transaction est envoyée et attend d’entrer dans un bloc. Vous n’avez plus rien à faire.',
    failed: 'Cette transaction a échoué sur le réseau : aucun argent n’a été déplacé. Envoyez-la à nouveau.',
    wrong_token:
      'Cette transaction a atteint la bonne adresse, mais avec un autre jeton ou une autre monnaie. Voyez cela avec {merchant}.',
    wrong_recipient: 'Cette transaction ne paie pas l’adresse de cette demande.',
    wrong_network:
      'Cette transaction a atteint l’adresse sur un réseau où {merchant} ne peut pas être payé. Demandez-lui.',
    before_request: 'Cette transaction est antérieure à la demande et ne peut donc pas être son paiement.',
    seen: 'La transaction est sur le réseau ; elle apparaît ici dans un instant.',
    counted: 'Ce paiement est vu et en cours de confirmation.',
    verified: 'Ce paiement est terminé.',
    underpaid: 'Ce paiement compte, mais il manque encore {amount} USDC.',
    already_used: 'Cette transaction a déjà payé une autre demande.',
    given_back: '{merchant} rend ce paiement : il ne peut donc plus rien payer. Renseignez-vous auprès du commerçant.',
    already_paid:
      'La demande a déjà été payée par une autre transaction. {merchant} voit aussi celle-ci ; voyez cela ensemble.',
    too_many_parts:
      'Trop de petits paiements sont arrivés pour cette demande. {merchant} voit aussi celui-ci ; voyez cela ensemble.',
    late: 'Cette transaction est arrivée plus de 30 minutes après l’expiration de la demande. {merchant} la voit ; voyez cela ensemble.',
    voided: 'La demande a été annulée avant que ce paiement soit vu. {merchant} le voit ; voyez cela ensemble.',
    minted:
      'L’argent est arrivé directement d’un pont ou de l’émetteur : aucun portefeuille ne peut donc signer qu’il est pour cette demande. {merchant} le voit ; renseignez-vous auprès du commerçant.',
    bad_signature: 'Cette signature n’est pas celle du portefeuille qui a envoyé l’argent.',
    tooMany:
      'Trop de tentatives pour ce paiement. Attendez une minute ; ce que vous avez envoyé est aussi retrouvé automatiquement.',
  },
  test: {
    heading: 'Paiements de test',
    hint: 'Payez avec un portefeuille de test, par de vraies transactions sur la chaîne de test, et voyez chaque issue.',
    working: 'Envoi du paiement de test…',
    outcomes: {
      exact: 'Montant exact',
      too_little: 'Trop peu',
      rest: 'Le reste',
      too_much: 'Trop',
      late: 'En retard, compte encore',
      too_late: 'Trop tard',
      wrong_token: 'Mauvais jeton',
      wrong_network: 'Mauvais réseau',
      failed: 'Transaction échouée',
      reorganised: 'Retiré par le réseau',
      pending: 'En attente d’un bloc',
    },
    refused: {
      already_paid: 'Rien n’a été envoyé : cette demande est déjà payée.',
      voided: 'Rien n’a été envoyé : cette demande a été annulée.',
      nothing_missing: 'Rien n’a été envoyé : il ne manque rien.',
      busy: 'D’autres essaient des paiements de test en ce moment. Réessayez dans quelques secondes.',
      not_attached:
        'Le paiement était définitif avant que le réseau puisse le retirer. Réessayez avec une nouvelle demande.',
    },
  },
};
