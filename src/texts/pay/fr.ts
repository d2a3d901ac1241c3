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
    until: 'expiration : {time}',
    left: 'encore {time}',
    through: 'Via {partner}',
    straight: 'Votre paiement va directement à {merchant}.',
    details: 'Demande {number}',
  },
  statusMessage: {
    waiting: 'En attente de votre paiement',
    waitingRest: 'Il s’affichera ici dès qu’il sera sur le réseau.',
    seen: 'Paiement détecté sur {network}',
    seenRest: 'En attente de confirmation. Vous n’avez plus rien à faire.',
    seenOpenRest:
      'En attente de confirmation. Si c’est vous qui l’avez envoyé, vous n’avez plus rien à faire. Merci de ne pas payer une seconde fois.',
    sending: 'Envoi de votre paiement sur {network}',
    sendingRest:
      'Vous l’avez signé et nous l’envoyons pour vous. Une fois confirmé, tout est réglé ; vous n’avez plus rien à faire.',
    sendingLongRest:
      'Vous l’avez signé, mais l’envoi prend plus de temps que d’habitude. Il peut encore aboutir : ne payez pas une seconde fois pour l’instant.',
    unsent: 'Le paiement que vous avez signé n’a pas abouti',
    unsentRest: 'Aucun argent n’a été débité. Veuillez payer à nouveau.',
    unsentHoldsRest:
      'Aucun argent n’a été débité. Votre signature reste valable quelques minutes. Pour ne pas payer deux fois, signez à nouveau avec le même portefeuille ou attendez avant de payer autrement.',
    confirming: 'Confirmation de votre paiement',
    confirmingCount: {
      one: '{seen} confirmation sur {count} sur {network}.',
      many: '{seen} confirmations sur {count} sur {network}.',
      other: '{seen} confirmations sur {count} sur {network}.',
    },
    confirmingTag: 'En attente que {network} le rende définitif.',
    confirmingRest: 'Vous pouvez fermer cette page.',
    paid: 'Payé',
    paidRest: '{merchant} a reçu votre paiement. Vous n’avez plus rien à faire.',
    paidOwedRest: '{merchant} a reçu votre paiement.',
    paidOver: 'Vous avez payé {amount} USDC de trop. Demandez un remboursement à {merchant}.',
    refunded: '{merchant} a remboursé {amount} USDC.',
    refundedPart: '{merchant} a remboursé {amount} sur {due} USDC.',
    refundRest: 'Si le reste n’est pas arrivé, demandez-le à {merchant}.',
    refunding: '{merchant} a renvoyé {amount} USDC. Le réseau ne l’a pas encore confirmé.',
    refundReported: 'Selon {merchant}, {amount} USDC ont été remboursés.',
    paidLate: 'Il est arrivé après l’expiration de la demande, mais il compte quand même.',
    partial: 'Il manque {amount} USDC',
    partialRest:
      '{paid} USDC reçus sur {due}. Payez le reste par le moyen de votre choix ci-dessous ; les paiements s’additionnent.',
    expired: 'Cette demande a expiré',
    expiredRest:
      'Ne la payez pas : demandez-en une nouvelle à {merchant}. Un paiement déjà envoyé compte encore s’il a atteint le réseau dans les 30 minutes suivant l’expiration.',
    expiredPartial: '{paid} USDC reçus sur {due}. Contactez {merchant} à ce sujet.',
    voided: 'Cette demande a été annulée',
    voidedRest: 'Ne la payez pas. Vous ne devez rien pour cette demande.',
    tooLate: 'Un paiement est arrivé trop tard',
    tooLateRest:
      '{amount} USDC sont arrivés après la fin de la demande et ne comptent donc pas automatiquement. {merchant} voit ce paiement ; contactez-le à ce sujet.',
    voidedPaid: 'Un paiement est arrivé après l’annulation de la demande',
    reorged: 'Le réseau a annulé le paiement',
    reorgedRest:
      'Il a réécrit ses derniers blocs, et votre transaction n’y figure plus. Elle réapparaît généralement d’elle-même. Vérifiez dans votre portefeuille avant de payer à nouveau.',
    failed: 'Votre transaction a échoué',
    failedRest:
      'Elle est enregistrée sur {network}, mais n’a déplacé aucun argent. Vérifiez-en la raison dans votre portefeuille, puis payez à nouveau.',
    replaced: 'Votre transaction a été remplacée',
    replacedRest:
      'Une autre transaction de votre portefeuille l’a remplacée. Si celle-ci paie cette demande, elle s’affichera ici d’elle-même ; sinon, payez à nouveau.',
    gone: 'Votre transaction n’est plus sur le réseau',
    goneRest:
      'Elle a été abandonnée avant d’être confirmée : aucun argent n’a été débité. Vérifiez dans votre portefeuille, puis payez à nouveau.',
    wrongToken: 'Un autre jeton que l’USDC est arrivé',
    wrongTokenRest:
      '{symbol} ({token}) a été envoyé sur {network}. Ce jeton ne permet pas de payer cette demande : il ne compte pas. Contactez {merchant} à ce sujet, et payez en {accepted}.',
    fakeToken: 'Un jeton se fait passer pour {symbol}',
    fakeTokenRest:
      'Un jeton qui se nomme {symbol} est arrivé sur {network}, mais son contrat ({token}) n’est pas celui de {symbol}. Il ne compte pas et n’a peut-être aucune valeur. Contactez {merchant} à ce sujet, et payez avec le véritable {accepted}.',
    wrongNetwork: 'Le paiement est arrivé sur le mauvais réseau',
    wrongNetworkRest:
      'Il a été envoyé sur {network}, qui n’est pas accepté ici : il ne compte pas. Contactez {merchant} à ce sujet, et payez sur {accepted}.',
    alreadyPaid:
      'Un second paiement de {amount} USDC est arrivé. Il n’était pas nécessaire ; demandez un remboursement à {merchant}.',
    trouble: '{network} est injoignable pour le moment',
    troubleRest:
      'Rien n’est perdu. Si vous avez envoyé un paiement, nous le retrouverons dès que nous pourrons relire le réseau.',
    offline: 'Vous êtes hors ligne. Cette page reprendra dès que vous serez reconnecté à Internet.',
    unreachable:
      'Cette page n’arrive pas à nous joindre et continue d’essayer. Si vous avez envoyé un paiement, nous le retrouverons.',
    unanswered:
      'Aucune réponse n’est arrivée. Vérifiez votre connexion, puis réessayez. Si vous avez envoyé un paiement, nous le retrouverons.',
  },
  paymentMethods: {
    heading: 'Comment voulez-vous payer ?',
    headingNear: 'Ce paiement n’est pas le vôtre ? Payez ici',
    none: '{merchant} ne peut recevoir de paiement sur aucun de ces réseaux pour le moment. Contactez-le à ce sujet.',
    feeless: 'Payer sans frais de réseau',
    feelessRest:
      'Vous n’avez qu’à signer. Nous envoyons le paiement pour vous, sans que votre portefeuille ait à payer de frais.',
    twice:
      'Un paiement que vous avez signé est encore en cours. Si vous payez autrement maintenant, les deux peuvent aboutir.',
    network: 'Réseau',
    phone: 'Portefeuille mobile',
    phoneRest:
      'Scannez avec l’appareil photo de votre téléphone pour y ouvrir cette page, puis payez avec votre portefeuille.',
    scanAddress: 'Scanner l’adresse',
    scanAddressRest:
      'Pour les plateformes d’échange et les portefeuilles matériels : ce code ne contient que l’adresse. Saisissez vous-même le montant et choisissez {network}.',
    phoneDirect: 'Scanner l’adresse et le montant',
    phoneDirectRest: 'Votre portefeuille doit afficher cette adresse et ce montant ; sinon, ne continuez pas.',
    openIn: 'Ouvrir dans votre application de portefeuille',
    walletConnect: 'WalletConnect',
    walletConnectRest: 'Scannez avec n’importe quel portefeuille compatible avec WalletConnect.',
    manual: 'Payer manuellement ou depuis une plateforme d’échange',
    amount: 'Montant',
    address: 'Adresse',
    checkToken: 'Vérifier le jeton (n’envoyez jamais rien à cette adresse)',
    checkTokenRest:
      'Voici le contrat de {token} sur {network}. Le jeton de votre portefeuille doit avoir la même adresse de contrat.',
    sendExactly: 'Envoyez exactement {amount} {token} sur {network}',
    copyAmount: 'Copier le montant',
    copyAddress: 'Copier l’adresse',
    copyLink: 'Copier le lien',
    warning:
      'Envoyez uniquement {token}, et uniquement sur {network}. Tout autre envoi ne compte pas pour ce paiement et peut être définitivement perdu.',
    exactly:
      'Chaque chiffre compte : le montant exact identifie votre paiement, ne l’arrondissez donc pas. Si votre plateforme d’échange déduit ses frais du montant, ajoutez-les.',
  },
  wallet: {
    payWith: 'Payer avec {wallet}',
    payRest: 'Payer le reste avec {wallet}',
    browserWallet: 'votre portefeuille de navigateur',
    connecting: 'Ouvrez {wallet} et autorisez cette page à voir votre adresse.',
    pairing: 'Préparation d’un code pour votre portefeuille…',
    away: '{wallet} est injoignable pour le moment. Aucun argent n’a été débité. Payez autrement ou réessayez plus tard.',
    switching: 'Autorisez {wallet} à passer sur {network}.',
    confirm: 'Confirmez le paiement dans {wallet}.',
    decline: 'Refusez le paiement dans {wallet} : il n’y a plus rien à payer ici.',
    declineChanged: 'Le montant dû a changé. Refusez le paiement dans {wallet}, puis payez de nouveau.',
    sent: 'Envoyé. En attente du réseau.',
    unseen: 'Envoyé, mais pas encore sur le réseau. Vérifiez dans {wallet} avant de payer à nouveau.',
    rejected: 'Vous avez refusé dans {wallet}. Aucun argent n’a été débité.',
    pending: '{wallet} attend encore votre réponse à une demande précédente. Ouvrez-le pour y répondre.',
    insufficient:
      'Ce portefeuille contient {amount} {token} sur {network}, ce qui ne suffit pas. Aucun argent n’a été débité.',
    fee: 'Ce portefeuille n’a pas assez de {coin} pour les frais sur {network}. Aucun argent n’a été débité.',
    signPayment: 'Signez le paiement dans {wallet}. Sans frais de réseau.',
    noCoin:
      'Ce portefeuille n’a pas de {coin} pour les frais sur {network} : nous envoyons donc le paiement pour vous, sans frais. Signez-le dans {wallet}.',
    handingIn: 'Signé. Envoi de votre paiement.',
    handedIn: 'Envoyé pour vous. En attente du réseau.',
    feeInstead:
      'Ce portefeuille n’a pas assez de {coin} pour les frais sur {network}. Aucun argent n’a été débité. Réessayez sans frais de réseau : vous n’avez qu’à signer.',
    notOffered:
      'Nous ne pouvons pas envoyer le paiement sans frais de réseau pour le moment. Aucun argent n’a été débité. Payez avec les frais, ou autrement.',
    otherUnderWay: 'Un autre paiement pour cette demande est déjà en cours. Rien de plus n’a été envoyé.',
    alreadyUsed:
      'Cette signature a déjà été utilisée. Si elle a payé cette demande, le paiement s’affichera ici dans un instant.',
    closed: 'Cette demande ne peut plus être payée de cette façon. Rien n’a été envoyé.',
    changed: 'La demande a changé entre-temps. Rien n’a été envoyé ; réessayez.',
    badSignature:
      'Le contrat du jeton n’accepte pas cette signature de {wallet}. Aucun argent n’a été débité. Payez plutôt avec les frais de réseau.',
    lowBalance: 'Ce portefeuille n’a pas assez de {token} sur {network}. Aucun argent n’a été débité.',
    refused:
      'Le contrat du jeton a rejeté ce paiement. Aucun argent n’a été débité. Utilisez un autre portefeuille ou payez autrement.',
    noNetwork: '{network} est injoignable pour le moment. Rien n’a été envoyé ; réessayez dans une minute.',
    tooMany: 'Trop de tentatives pour ce paiement. Rien n’a été envoyé. Attendez une minute, puis réessayez.',
    notReached: 'Notre service est injoignable pour le moment. Rien n’a été envoyé ; réessayez dans un instant.',
    unsure:
      'La connexion à notre service est coupée : nous ne savons pas si votre paiement est parti. Attendez que cette page reprenne avant de payer à nouveau.',
    noAccount: '{wallet} n’a pas communiqué d’adresse. Déverrouillez-le, puis réessayez.',
    wrongNetwork:
      '{wallet} n’est pas passé sur {network}. Aucun argent n’a été débité. Changez de réseau dans le portefeuille et réessayez, ou payez autrement.',
    signNetwork:
      '{wallet} n’est pas passé sur {network}. Changez de réseau dans le portefeuille, puis signez à nouveau.',
    reverted: '{wallet} signale l’échec du paiement. Aucun argent n’a été débité ; réessayez.',
    failed: '{wallet} n’a pas envoyé le paiement. {reason} Vérifiez-y l’activité récente avant de réessayer.',
    signWith: 'Signer avec {wallet}',
    signing: 'Signez dans {wallet} pour confirmer que ce paiement est le vôtre. C’est gratuit.',
    otherAccount: '{wallet} utilise une autre adresse. Sélectionnez-y {address}, puis réessayez.',
    paymentNotSigned:
      '{wallet} n’a pas signé le paiement. Aucun argent n’a été débité. Réessayez ou payez autrement. {reason}',
    notSigned: '{wallet} n’a pas signé. {reason}',
  },
  found: {
    title: 'Un paiement de {amount} USDC est arrivé ; la demande était de {asked}',
    titleSame: 'Un paiement de {amount} USDC est arrivé, mais rien ne le relie à cette demande',
    shortRest:
      'Les plateformes d’échange déduisent souvent leurs frais du montant ou l’arrondissent : nous ne pouvons donc pas savoir si ce paiement concerne cette demande. Si c’est vous qui l’avez envoyé, ne payez pas à nouveau. Donnez à {merchant} la référence ci-dessous : son tableau de bord permet d’attribuer le paiement à la demande et de vous demander le reste.',
    otherRest:
      'Nous ne pouvons pas savoir si ce paiement concerne cette demande. Si c’est vous qui l’avez envoyé, ne payez pas à nouveau. Donnez à {merchant} la référence ci-dessous : son tableau de bord permet d’attribuer le paiement à la demande.',
    endedRest:
      'Nous ne pouvons pas savoir si ce paiement concerne cette demande. Si c’est vous qui l’avez envoyé, donnez à {merchant} la référence ci-dessous : le paiement est visible dans son tableau de bord.',
    reference: 'Référence',
    copyReference: 'Copier la référence',
  },
  proof: {
    headingWaiting: 'Paiement envoyé, mais pas affiché ?',
    headingEnded: 'Déjà payé ?',
    hash: 'Hash de la transaction',
    hashHint:
      'Dans votre portefeuille ou sur la plateforme d’échange : 0x suivi de 64 lettres ou chiffres. Nous le cherchons aussitôt.',
    look: 'Chercher cette transaction',
    elsewhere: 'Signer ailleurs',
    elsewhereRest: 'Signez ces données typées (EIP-712) avec le portefeuille qui a payé, puis collez la signature ici.',
    sign: 'Envoyer la signature',
    signature: 'Signature',
    signHeading: 'Payé depuis votre propre portefeuille ? Confirmez-le par une signature',
    signHint: 'Seul le propriétaire de {address} peut confirmer que ce paiement concerne cette demande.',
    malformed: 'Ce n’est pas un hash de transaction. Il doit se composer de 0x suivi de 64 lettres ou chiffres.',
    not_found:
      'Cette transaction est encore introuvable sur les réseaux acceptés. Vérifiez le hash et le réseau utilisé pour l’envoi.',
    unavailable: 'Nous n’avons pas pu joindre le réseau. Rien n’est perdu ; réessayez dans une minute.',
    pending_in_mempool: 'La transaction est envoyée et attend d’être confirmée. Vous n’avez plus rien à faire.',
    failed: 'Cette transaction a échoué sur le réseau : aucun argent n’a été débité. Veuillez la renvoyer.',
    wrong_token:
      'Cette transaction a atteint la bonne adresse, mais avec le mauvais jeton ou la mauvaise monnaie. Contactez {merchant} à ce sujet.',
    wrong_recipient: 'Cette transaction ne paie pas l’adresse de cette demande.',
    wrong_network:
      'Cette transaction a atteint l’adresse sur un réseau où {merchant} ne peut pas recevoir de paiement. Contactez-le à ce sujet.',
    before_request: 'Cette transaction est antérieure à la demande : elle ne peut donc pas la payer.',
    seen: 'La transaction est sur le réseau. Elle s’affichera ici dans un instant.',
    counted: 'Nous avons détecté ce paiement, et il est en cours de confirmation.',
    verified: 'Ce paiement est terminé.',
    underpaid: 'Ce paiement compte, mais il manque encore {amount} USDC.',
    already_used: 'Cette transaction a déjà payé une autre demande.',
    given_back: '{merchant} rembourse ce paiement : il ne peut donc plus payer de demande. Contactez-le à ce sujet.',
    already_paid:
      'Une autre transaction a déjà payé cette demande. {merchant} voit aussi celle-ci ; contactez-le à ce sujet.',
    too_many_parts:
      'Cette demande a reçu trop de petits paiements. {merchant} voit aussi celui-ci ; contactez-le à ce sujet.',
    late: 'Cette transaction est arrivée plus de 30 minutes après l’expiration de la demande. {merchant} la voit ; contactez-le à ce sujet.',
    voided:
      'La demande a été annulée avant que ce paiement soit détecté. {merchant} le voit ; contactez-le à ce sujet.',
    minted:
      'Le paiement vient directement d’un pont ou d’un émetteur : aucun portefeuille ne peut donc confirmer qu’il concerne cette demande. {merchant} le voit ; contactez-le à ce sujet.',
    bad_signature: 'Cette signature n’est pas celle du portefeuille qui a envoyé le paiement.',
    tooMany:
      'Trop de tentatives pour ce paiement. Attendez une minute ; un paiement envoyé est aussi détecté automatiquement.',
  },
  test: {
    heading: 'Paiements de test',
    hint: 'Payez depuis un portefeuille de test, avec de vraies transactions sur la chaîne de test, et voyez tous les cas possibles.',
    working: 'Envoi du paiement de test…',
    outcomes: {
      exact: 'Montant exact',
      too_little: 'Trop peu',
      rest: 'Le reste',
      too_much: 'Trop',
      late: 'En retard, mais compte',
      too_late: 'Trop tard',
      wrong_token: 'Mauvais jeton',
      wrong_network: 'Mauvais réseau',
      failed: 'Transaction échouée',
      reorganised: 'Annulé par le réseau',
      pending: 'Pas encore confirmé',
    },
    sent: 'Envoyé. Ce paiement ne compte pas pour cette demande ; dans une dizaine de secondes, la page dira pourquoi.',
    refused: {
      already_paid: 'Rien n’a été envoyé : cette demande a déjà été payée.',
      voided: 'Rien n’a été envoyé : cette demande a été annulée.',
      nothing_missing: 'Rien n’a été envoyé : il ne reste rien à payer.',
      busy: 'D’autres paiements de test sont en cours. Réessayez dans quelques secondes.',
      not_attached:
        'Le paiement est devenu définitif avant que le réseau puisse l’annuler. Réessayez avec une nouvelle demande.',
    },
  },
};
