import type { PayTexts } from '../pay.ts';

export const de: PayTexts<'de'> = {
  pay: {
    title: 'An {merchant} zahlen',
    titlePaid: 'Bezahlt: {merchant}',
    dueOn: '{amount} {token} auf {network}',
    memo: 'Wofür',
    rateAt: '{rate}, {time}',
    until: 'bis {time}',
    left: 'noch {time}',
    through: 'Über {partner}',
    straight: 'Das Geld geht direkt an {merchant}, ohne Zwischenstation.',
    details: 'Zahlung {number}',
  },
  statusMessage: {
    waiting: 'Zahlung wird erwartet',
    waitingRest: 'Sie erscheint hier, sobald sie im Netzwerk ist.',
    seen: 'Zahlung auf {network} gesehen',
    seenRest: 'Sie wartet auf die Aufnahme in einen Block. Sie müssen nichts weiter tun.',
    seenOpenRest:
      'Sie wartet darauf, in einen Block aufgenommen zu werden. Wenn Sie sie gesendet haben, ist nichts mehr zu tun: Bitte zahlen Sie nicht noch einmal.',
    sending: 'Die Zahlung wird auf {network} gesendet',
    sendingRest:
      'Sie haben sie signiert, und sie wird für Sie gesendet. Sie wartet auf die Bestätigung; Sie müssen nichts weiter tun.',
    sendingLongRest:
      'Sie haben sie signiert, und es dauert länger als sonst. Sie kann noch durchgehen; zahlen Sie deshalb bitte noch nicht noch einmal.',
    unsent: 'Die Zahlung, die Sie signiert haben, ging nicht durch',
    unsentRest: 'Es wurde kein Geld bewegt. Bitte zahlen Sie noch einmal.',
    unsentHoldsRest:
      'Es wurde kein Geld bewegt. Ihre Signatur gilt noch einige Minuten: Signieren Sie noch einmal mit derselben Wallet, oder warten Sie, bevor Sie auf anderem Weg zahlen, damit nichts doppelt bezahlt wird.',
    confirming: 'Zahlung wird bestätigt',
    confirmingCount: {
      one: '{seen} von {count} Bestätigung auf {network}.',
      other: '{seen} von {count} Bestätigungen auf {network}.',
    },
    confirmingTag: 'Es fehlt noch, dass {network} sie endgültig macht.',
    confirmingRest: 'Sie können diese Seite schließen.',
    paid: 'Bezahlt',
    paidRest: '{merchant} hat das Geld. Sie müssen nichts weiter tun.',
    paidOver: 'Sie haben {amount} USDC mehr gesendet als verlangt. Bitten Sie {merchant} um die Rückgabe.',
    paidLate: 'Die Zahlung kam nach Ablauf der Zeit und zählt trotzdem.',
    partial: '{amount} USDC fehlen',
    partialRest:
      '{paid} von {due} USDC sind angekommen. Zahlen Sie den Rest mit einer Wallet auf dieser Seite oder auf dem Handy; beides zählt zusammen.',
    expired: 'Diese Zahlungsanforderung ist abgelaufen',
    expiredRest:
      'Bitte zahlen Sie nichts mehr, sondern bitten Sie {merchant} um eine neue Anforderung. Schon gesendetes Geld zählt noch, wenn es spätestens 30 Minuten nach dem Ende im Netzwerk war.',
    expiredPartial: '{paid} von {due} USDC sind angekommen. Fragen Sie {merchant} danach.',
    voided: 'Diese Zahlungsanforderung wurde storniert',
    voidedRest: 'Bitte zahlen Sie nichts mehr. Auf dieser Seite ist nichts offen.',
    tooLate: 'Eine Zahlung kam zu spät',
    tooLateRest:
      '{amount} USDC haben die Wallet erst nach dem Ende der Anforderung erreicht und zählen deshalb nicht von selbst. {merchant} sieht sie; fragen Sie dort nach.',
    voidedPaid: 'Nach der Stornierung kam noch eine Zahlung',
    reorged: 'Das Netzwerk hat die Zahlung zurückgenommen',
    reorgedRest:
      'Es hat seine letzten Blöcke neu geschrieben, und Ihre Transaktion ist nicht mehr darin. Meist kommt sie von selbst wieder; sehen Sie in Ihrer Wallet nach, bevor Sie noch einmal zahlen.',
    failed: 'Ihre Transaktion ist fehlgeschlagen',
    failedRest:
      'Sie steht auf {network}, hat aber kein Geld bewegt. Sehen Sie in Ihrer Wallet nach dem Grund und zahlen Sie dann noch einmal.',
    replaced: 'Ihre Transaktion wurde ersetzt',
    replacedRest:
      'Eine andere Transaktion Ihrer Wallet ist an ihre Stelle getreten. Wenn diese die Anforderung bezahlt, erscheint sie hier von selbst; sonst zahlen Sie noch einmal.',
    gone: 'Ihre Transaktion ist nicht mehr im Netzwerk',
    goneRest:
      'Sie wurde verworfen, bevor sie in einen Block kam; es wurde also kein Geld bewegt. Sehen Sie in Ihrer Wallet nach und zahlen Sie dann noch einmal.',
    wrongToken: 'Ein anderer Token ist angekommen, nicht USDC',
    wrongTokenRest:
      '{symbol} ({token}) wurde auf {network} gesendet. Das ist nicht der verlangte Token, und er zählt nicht. Fragen Sie {merchant} danach und zahlen Sie mit {accepted}.',
    wrongNetwork: 'Das Geld kam auf einem anderen Netzwerk an',
    wrongNetworkRest:
      'Es wurde auf {network} gesendet. Dieses Netzwerk wird hier nicht angenommen, die Zahlung zählt nicht. Fragen Sie {merchant} danach und zahlen Sie auf {accepted}.',
    alreadyPaid:
      'Eine zweite Zahlung über {amount} USDC ist angekommen. Sie war nicht nötig; bitten Sie {merchant} um die Rückgabe.',
    trouble: 'Wir können {network} gerade nicht lesen',
    troubleRest:
      'Nichts geht verloren: Eine Zahlung, die Sie senden, steht im Netzwerk und wird gefunden, sobald wir es wieder lesen können.',
    offline: 'Sie sind offline. Diese Seite macht von selbst weiter, sobald Sie wieder verbunden sind.',
    unreachable:
      'Diese Seite erreicht uns gerade nicht und versucht es weiter. Eine gesendete Zahlung steht im Netzwerk und wird gefunden.',
  },
  paymentMethods: {
    heading: 'Wie möchten Sie zahlen?',
    none: '{merchant} kann gerade auf keinem der hier angebotenen Netzwerke bezahlt werden. Bitte fragen Sie dort nach.',
    feeless: 'Ohne Netzwerkgebühr zahlen',
    feelessRest:
      'Sie signieren nur. Die Zahlung wird für Sie gesendet, und Ihre Wallet braucht keine Coins für die Gebühr.',
    twice:
      'Eine hier signierte Zahlung ist noch unterwegs. Wenn Sie jetzt noch einmal zahlen, können beide durchgehen.',
    network: 'Netzwerk',
    phone: 'Wallet auf dem Handy',
    phoneRest:
      'Scannen Sie mit der Kamera Ihres Handys: Diese Seite öffnet sich dort, und Sie zahlen mit Ihrer Wallet.',
    scanAddress: 'Adresse scannen',
    scanAddressRest:
      'Für Börsen und Hardware-Wallets: Dieser Code enthält nur die Adresse. Geben Sie den Betrag selbst ein und wählen Sie {network}.',
    phoneDirect: 'Adresse und Betrag scannen',
    phoneDirectRest: 'Ihre Wallet muss diese Adresse und diesen Betrag anzeigen; sonst brechen Sie ab.',
    openIn: 'In Ihrer Wallet-App öffnen',
    walletConnect: 'WalletConnect',
    walletConnectRest: 'Scannen Sie mit einer Wallet, die WalletConnect versteht.',
    manual: 'Von Hand oder von einer Börse',
    amount: 'Betrag',
    address: 'Adresse',
    checkToken: 'Token prüfen (nie an diese Adresse senden)',
    checkTokenRest: 'Das ist der Contract von {token} auf {network}. Der Token in Ihrer Wallet muss denselben haben.',
    sendExactly: 'Genau {amount} {token} auf {network} senden',
    copyAmount: 'Betrag kopieren',
    copyAddress: 'Adresse kopieren',
    copyLink: 'Link kopieren',
    warning:
      'Nur {token} auf {network}. Ein anderer Token oder ein anderes Netzwerk zählt nicht für diese Zahlung, und das Geld kann endgültig verloren sein.',
    exactly:
      'Jede Stelle zählt: An ihr wird Ihre Zahlung erkannt, also bitte nicht runden. Zieht eine Börse ihre Gebühr vom Betrag ab, rechnen Sie die Gebühr dazu.',
  },
  wallet: {
    payWith: 'Mit {wallet} zahlen',
    payRest: 'Den Rest mit {wallet} zahlen',
    browserWallet: 'Browser-Wallet',
    connecting: 'Öffnen Sie {wallet} und erlauben Sie dieser Seite, Ihre Adresse zu sehen.',
    pairing: 'Ein Code für Ihre Wallet wird vorbereitet …',
    away: '{wallet} ist im Moment nicht erreichbar. Es wurde kein Geld bewegt; zahlen Sie auf einem anderen Weg, oder versuchen Sie es später noch einmal.',
    switching: 'Erlauben Sie {wallet} den Wechsel zu {network}.',
    confirm: 'Bestätigen Sie die Zahlung in {wallet}.',
    sent: 'Gesendet. Das Netzwerk wird abgewartet.',
    unseen:
      'Gesendet, aber das Netzwerk zeigt es noch nicht. Sehen Sie in {wallet} nach, bevor Sie noch einmal zahlen.',
    rejected: 'Sie haben in {wallet} abgelehnt. Es wurde kein Geld bewegt.',
    pending:
      '{wallet} wartet noch auf Ihre Antwort auf eine frühere Frage. Öffnen Sie die Wallet und antworten Sie dort.',
    insufficient: 'In dieser Wallet sind {amount} {token} auf {network}; das reicht nicht. Es wurde kein Geld bewegt.',
    fee: 'Diese Wallet hat zu wenig {coin} für die Gebühr von {network}. Es wurde kein Geld bewegt.',
    signPayment: 'Signieren Sie die Zahlung in {wallet}. Es fällt keine Netzwerkgebühr an.',
    noCoin:
      'Diese Wallet hat kein {coin} für die Gebühr von {network}; die Zahlung wird deshalb ohne Gebühr für Sie gesendet. Signieren Sie sie in {wallet}.',
    handingIn: 'Signiert. Die Zahlung wird für Sie gesendet.',
    handedIn: 'Für Sie gesendet. Das Netzwerk wird abgewartet.',
    feeInstead:
      'Diese Wallet hat zu wenig {coin} für die Gebühr von {network}. Es wurde kein Geld bewegt. Versuchen Sie es ohne Netzwerkgebühr: Sie signieren nur.',
    notOffered:
      'Die Zahlung kann gerade nicht ohne Netzwerkgebühr gesendet werden. Es wurde kein Geld bewegt; zahlen Sie mit der Gebühr oder auf anderem Weg.',
    otherUnderWay: 'Eine andere Zahlung für diese Anforderung ist schon unterwegs. Es wurde nichts weiter gesendet.',
    alreadyUsed:
      'Das wurde schon signiert und verwendet. Wenn diese Anforderung damit bezahlt wurde, erscheint es hier gleich.',
    closed: 'Diese Anforderung kann auf diesem Weg nicht mehr bezahlt werden. Es wurde nichts gesendet.',
    changed:
      'Der verlangte Betrag hat sich inzwischen geändert. Es wurde nichts gesendet; versuchen Sie es noch einmal.',
    badSignature:
      'Der Token nimmt diese Signatur von {wallet} nicht an. Es wurde kein Geld bewegt; zahlen Sie stattdessen mit der Netzwerkgebühr.',
    lowBalance: 'In dieser Wallet ist nicht genug {token} auf {network}. Es wurde kein Geld bewegt.',
    refused:
      'Der Token lehnt diese Zahlung ab. Es wurde kein Geld bewegt; nehmen Sie eine andere Wallet oder einen anderen Weg.',
    noNetwork:
      '{network} ist gerade nicht erreichbar. Es wurde nichts gesendet; versuchen Sie es in einer Minute noch einmal.',
    tooMany:
      'Zu viele Versuche für diese Zahlung. Es wurde nichts gesendet; warten Sie eine Minute und versuchen Sie es dann noch einmal.',
    unsure:
      'Wir sind nicht erreichbar; deshalb ist nicht bekannt, ob Ihre Zahlung unterwegs ist. Warten Sie, bis diese Seite weitergeht, bevor Sie noch einmal zahlen.',
    noAccount: '{wallet} hat keine Adresse genannt. Entsperren Sie die Wallet und versuchen Sie es noch einmal.',
    wrongNetwork:
      '{wallet} wechselt nicht zu {network}. Wechseln Sie in der Wallet selbst oder wählen Sie ein anderes Netzwerk.',
    reverted:
      '{wallet} meldet, dass die Zahlung fehlgeschlagen ist. Es wurde kein Geld bewegt; versuchen Sie es noch einmal.',
    failed:
      '{wallet} hat die Zahlung nicht gesendet: {reason} Sehen Sie dort die letzten Vorgänge an, bevor Sie es noch einmal versuchen.',
    signWith: 'Mit {wallet} signieren',
    signing: 'Signieren Sie in {wallet}, dass diese Zahlung von Ihnen ist. Das kostet nichts.',
    otherAccount:
      '{wallet} ist mit einer anderen Adresse geöffnet. Wählen Sie dort {address} und versuchen Sie es noch einmal.',
    notSigned: '{wallet} hat nicht signiert. {reason}',
  },
  found: {
    title: 'Eine Zahlung über {amount} USDC ist eingegangen; gefordert waren {asked}',
    titleSame: 'Eine Zahlung über {amount} USDC ist eingegangen, aber nichts verbindet sie mit dieser Anforderung',
    shortRest:
      'Börsen ziehen ihre Gebühr oft vom Betrag ab oder runden ihn. Deshalb wissen wir nicht, ob diese Zahlung für diese Anforderung ist. Wenn Sie sie gesendet haben, zahlen Sie nicht noch einmal. Nennen Sie {merchant} die Referenz unten: Im Dashboard lässt sich die Zahlung zuordnen und der Rest von Ihnen anfordern.',
    otherRest:
      'Wir wissen nicht, ob diese Zahlung für diese Anforderung ist. Wenn Sie sie gesendet haben, zahlen Sie nicht noch einmal. Nennen Sie {merchant} die Referenz unten: Im Dashboard lässt sich die Zahlung zuordnen.',
    endedRest:
      'Wir wissen nicht, ob diese Zahlung für diese Anforderung ist. Wenn Sie sie gesendet haben, nennen Sie {merchant} die Referenz unten: Die Zahlung ist im Dashboard zu sehen.',
    reference: 'Referenz',
    copyReference: 'Referenz kopieren',
  },
  proof: {
    headingWaiting: 'Gesendet, aber noch nicht zu sehen?',
    headingEnded: 'Haben Sie schon gezahlt?',
    hash: 'Transaktions-Hash',
    hashHint: 'Aus Ihrer Wallet oder Börse: 0x und 64 Buchstaben oder Ziffern. Wir sehen sofort nach.',
    look: 'Diese Transaktion suchen',
    elsewhere: 'Anderswo signieren',
    elsewhereRest:
      'Lassen Sie die Wallet, die gezahlt hat, dies als strukturierte Daten (EIP-712) signieren, und fügen Sie die Signatur hier ein.',
    sign: 'Signatur abgeben',
    signature: 'Signatur',
    signHeading: 'Aus Ihrer eigenen Wallet gezahlt? Mit einer Signatur bestätigen',
    signHint: 'Nur wem {address} gehört, kann sagen, dass diese Zahlung für diese Anforderung ist.',
    malformed: 'Das ist kein Transaktions-Hash: Er besteht aus 0x und 64 Buchstaben oder Ziffern.',
    not_found:
      'Keines der hier angenommenen Netzwerke kennt diese Transaktion bisher. Prüfen Sie den Hash und das Netzwerk, auf dem Sie gesendet haben.',
    unavailable:
      'Das Netzwerk war gerade nicht zu erreichen. Nichts geht verloren; bitte versuchen Sie es in einer Minute noch einmal.',
    pending_in_mempool:
      'Die Transaktion ist gesendet und wartet auf die Aufnahme in einen Block. Sie müssen nichts weiter tun.',
    failed:
      'Diese Transaktion ist im Netzwerk fehlgeschlagen, es wurde also kein Geld bewegt. Bitte senden Sie sie noch einmal.',
    wrong_token:
      'Diese Transaktion hat die richtige Adresse erreicht, aber mit einem anderen Token oder einer anderen Münze. Fragen Sie {merchant} danach.',
    wrong_recipient: 'Diese Transaktion geht nicht an die Adresse dieser Anforderung.',
    wrong_network:
      'Diese Transaktion hat die Adresse auf einem Netzwerk erreicht, auf dem {merchant} nicht bezahlt werden kann. Fragen Sie dort nach.',
    before_request: 'Diese Transaktion ist älter als die Anforderung und kann deshalb nicht ihre Zahlung sein.',
    seen: 'Die Transaktion ist im Netzwerk; sie erscheint hier gleich.',
    counted: 'Diese Zahlung ist gesehen und wird bestätigt.',
    verified: 'Diese Zahlung ist abgeschlossen.',
    underpaid: 'Diese Zahlung zählt, aber es fehlen noch {amount} USDC.',
    already_used: 'Diese Transaktion hat schon eine andere Anforderung bezahlt.',
    given_back: '{merchant} gibt diese Zahlung zurück, darum kann sie nichts mehr bezahlen. Fragen Sie dort nach.',
    already_paid:
      'Die Anforderung wurde schon mit einer anderen Transaktion bezahlt. {merchant} sieht auch diese; fragen Sie dort nach.',
    too_many_parts:
      'Für diese Anforderung kamen zu viele kleine Zahlungen. {merchant} sieht auch diese; fragen Sie dort nach.',
    late: 'Diese Transaktion kam mehr als 30 Minuten nach Ablauf der Anforderung. {merchant} sieht sie; fragen Sie dort nach.',
    voided:
      'Die Anforderung wurde storniert, bevor diese Zahlung gesehen wurde. {merchant} sieht sie; fragen Sie dort nach.',
    minted:
      'Das Geld kam unmittelbar von einer Brücke oder vom Herausgeber, darum kann keine Wallet unterschreiben, dass es für diese Anforderung ist. {merchant} sieht es; fragen Sie dort nach.',
    bad_signature: 'Diese Signatur stammt nicht von der Wallet, die das Geld gesendet hat.',
    tooMany:
      'Zu viele Versuche für diese Zahlung. Warten Sie eine Minute; was Sie gesendet haben, wird auch von selbst gefunden.',
  },
  test: {
    heading: 'Testzahlungen',
    hint: 'Zahlen Sie mit einer Test-Wallet, mit echten Transaktionen auf der Sandbox-Chain, und sehen Sie jeden Ausgang.',
    working: 'Die Testzahlung wird gesendet …',
    outcomes: {
      exact: 'Genauer Betrag',
      too_little: 'Zu wenig',
      rest: 'Der Rest',
      too_much: 'Zu viel',
      late: 'Spät, zählt noch',
      too_late: 'Zu spät',
      wrong_token: 'Falscher Token',
      wrong_network: 'Falsches Netzwerk',
      failed: 'Schlägt fehl',
      reorganised: 'Vom Netzwerk widerrufen',
      pending: 'Wartet auf einen Block',
    },
    refused: {
      already_paid: 'Es wurde nichts gesendet: Diese Anforderung ist schon bezahlt.',
      voided: 'Es wurde nichts gesendet: Diese Anforderung wurde storniert.',
      nothing_missing: 'Es wurde nichts gesendet: Es fehlt nichts.',
      busy: 'Gerade probieren andere Testzahlungen aus. Versuchen Sie es in ein paar Sekunden noch einmal.',
      not_attached:
        'Die Zahlung war endgültig, bevor das Netzwerk sie zurücknehmen konnte. Versuchen Sie es mit einer neuen Anforderung.',
    },
  },
};
