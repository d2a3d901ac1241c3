import type { PayTexts } from '../pay.ts';

export const de: PayTexts<'de'> = {
  pay: {
    title: 'An {merchant} zahlen',
    titlePaid: 'Bezahlt: {merchant}',
    dueOn: '{amount} {token} auf {network}',
    restLeft: 'Noch zu zahlen',
    restOn: 'Noch zu zahlen auf {network}',
    restOf: 'von {fiat} ({amount} USDC)',
    memo: 'Wofür',
    rateAt: '{rate}, {time}',
    until: 'bis {time}',
    left: 'noch {time}',
    through: 'Über {partner}',
    straight: 'Ihre Zahlung geht direkt an {merchant}.',
    details: 'Anforderung {number}',
  },
  statusMessage: {
    waiting: 'Warten auf Ihre Zahlung',
    waitingRest: 'Sie erscheint hier, sobald sie im Netzwerk ist.',
    seen: 'Zahlung auf {network} erkannt',
    seenRest: 'Sie wird noch bestätigt. Sie müssen nichts weiter tun.',
    seenOpenRest:
      'Sie wird noch bestätigt. Wenn Sie sie gesendet haben, ist nichts mehr zu tun. Bitte zahlen Sie nicht noch einmal.',
    sending: 'Ihre Zahlung wird auf {network} gesendet',
    sendingRest:
      'Sie haben sie signiert, und wir senden sie für Sie. Sobald sie bestätigt ist, sind Sie fertig; Sie müssen nichts weiter tun.',
    sendingLongRest:
      'Sie haben sie signiert, und es dauert länger als sonst. Sie kann noch durchgehen; bitte zahlen Sie vorerst nicht erneut.',
    unsent: 'Die von Ihnen signierte Zahlung ist nicht durchgegangen',
    unsentRest: 'Es wurde kein Geld bewegt. Bitte zahlen Sie noch einmal.',
    unsentHoldsRest:
      'Es wurde kein Geld bewegt. Ihre Signatur gilt noch einige Minuten. Damit Sie nicht doppelt zahlen: Signieren Sie noch einmal mit derselben Wallet, oder warten Sie, bevor Sie auf anderem Weg zahlen.',
    confirming: 'Ihre Zahlung wird bestätigt',
    confirmingCount: {
      one: '{seen} von {count} Bestätigung auf {network}.',
      other: '{seen} von {count} Bestätigungen auf {network}.',
    },
    confirmingTag: '{network} muss sie noch endgültig machen.',
    confirmingRest: 'Sie können diese Seite schließen.',
    paid: 'Bezahlt',
    paidRest: '{merchant} hat Ihre Zahlung erhalten. Sie müssen nichts weiter tun.',
    paidOwedRest: '{merchant} hat Ihre Zahlung erhalten.',
    paidOver: 'Sie haben {amount} USDC zu viel gezahlt. Bitten Sie {merchant} um eine Erstattung.',
    refunded: '{merchant} hat {amount} USDC erstattet.',
    refundedPart: '{merchant} hat {amount} von {due} USDC erstattet.',
    refundRest: 'Falls der Rest nicht angekommen ist, fragen Sie {merchant} danach.',
    refunding: '{merchant} hat {amount} USDC zurückgesendet. Das Netzwerk muss es noch bestätigen.',
    refundReported: 'Laut {merchant} wurden {amount} USDC erstattet.',
    paidLate: 'Sie kam nach Ablauf der Anforderung an, zählt aber noch.',
    partial: '{amount} USDC fehlen',
    partialRest:
      '{paid} von {due} USDC sind angekommen. Zahlen Sie den Rest unten auf beliebige Weise; alles zählt zusammen.',
    expired: 'Diese Zahlungsanforderung ist abgelaufen',
    expiredRest:
      'Bitte zahlen Sie nicht mehr, sondern bitten Sie {merchant} um eine neue Anforderung. Eine schon gesendete Zahlung zählt noch, wenn sie spätestens 30 Minuten nach Ablauf im Netzwerk war.',
    expiredPartial: '{paid} von {due} USDC sind angekommen. Fragen Sie {merchant} danach.',
    voided: 'Diese Zahlungsanforderung wurde storniert',
    voidedRest: 'Bitte zahlen Sie nicht mehr. Für diese Anforderung schulden Sie nichts.',
    tooLate: 'Eine Zahlung kam zu spät',
    tooLateRest:
      '{amount} USDC kamen erst nach dem Ende der Anforderung an und zählen deshalb nicht automatisch. {merchant} sieht sie; fragen Sie dort nach.',
    voidedPaid: 'Nach der Stornierung kam noch eine Zahlung an',
    reorged: 'Das Netzwerk hat die Zahlung rückgängig gemacht',
    reorgedRest:
      'Es hat seine letzten Blöcke neu geschrieben, und Ihre Transaktion ist nicht mehr darin. Meist taucht sie von selbst wieder auf. Sehen Sie in Ihrer Wallet nach, bevor Sie noch einmal zahlen.',
    failed: 'Ihre Transaktion ist fehlgeschlagen',
    failedRest:
      'Sie steht auf {network}, hat aber kein Geld bewegt. Sehen Sie in Ihrer Wallet nach dem Grund und zahlen Sie dann noch einmal.',
    replaced: 'Ihre Transaktion wurde ersetzt',
    replacedRest:
      'Eine andere Transaktion Ihrer Wallet hat sie ersetzt. Wenn diese die Anforderung bezahlt, erscheint sie hier von selbst; sonst zahlen Sie noch einmal.',
    gone: 'Ihre Transaktion ist nicht mehr im Netzwerk',
    goneRest:
      'Sie wurde vor der Bestätigung verworfen; es wurde also kein Geld bewegt. Sehen Sie in Ihrer Wallet nach und zahlen Sie dann noch einmal.',
    wrongToken: 'Ein anderer Token ist angekommen, nicht USDC',
    wrongTokenRest:
      '{symbol} ({token}) wurde auf {network} gesendet. Das ist nicht der verlangte Token, und er zählt nicht. Fragen Sie {merchant} danach und zahlen Sie mit {accepted}.',
    fakeToken: 'Ein Token nennt sich {symbol}, ist aber ein anderer',
    fakeTokenRest:
      'Auf {network} kam ein Token an, der sich {symbol} nennt, aber sein Contract ({token}) ist nicht der von {symbol}. Er zählt nicht und ist vielleicht wertlos. Fragen Sie {merchant} danach und zahlen Sie mit dem echten {accepted}.',
    wrongNetwork: 'Die Zahlung kam auf dem falschen Netzwerk an',
    wrongNetworkRest:
      'Sie wurde auf {network} gesendet. Dieses Netzwerk wird hier nicht akzeptiert, deshalb zählt sie nicht. Fragen Sie {merchant} danach und zahlen Sie auf {accepted}.',
    alreadyPaid:
      'Eine zweite Zahlung über {amount} USDC ist angekommen. Sie war nicht nötig; bitten Sie {merchant} um eine Erstattung.',
    trouble: '{network} ist gerade nicht erreichbar',
    troubleRest:
      'Nichts geht verloren: Wenn Sie eine Zahlung gesendet haben, finden wir sie, sobald wir das Netzwerk wieder lesen können.',
    offline: 'Sie sind offline. Diese Seite macht weiter, sobald Sie wieder verbunden sind.',
    unreachable:
      'Diese Seite erreicht uns gerade nicht und versucht es weiter. Wenn Sie eine Zahlung gesendet haben, finden wir sie.',
    unanswered:
      'Es kam keine Antwort an. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal. Wenn Sie eine Zahlung gesendet haben, finden wir sie.',
  },
  paymentMethods: {
    heading: 'Wie möchten Sie zahlen?',
    headingNear: 'Nicht Ihre Zahlung? Zahlen Sie hier',
    none: '{merchant} kann gerade auf keinem dieser Netzwerke Zahlungen empfangen. Bitte fragen Sie dort nach.',
    feeless: 'Ohne Netzwerkgebühr zahlen',
    feelessRest:
      'Sie signieren nur. Wir senden die Zahlung für Sie, und Ihre Wallet braucht keine Coins für die Gebühr.',
    twice:
      'Eine von Ihnen signierte Zahlung ist noch unterwegs. Wenn Sie jetzt auf anderem Weg zahlen, können beide durchgehen.',
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
    walletConnectRest: 'Scannen Sie mit einer Wallet, die WalletConnect unterstützt.',
    manual: 'Manuell oder von einer Börse zahlen',
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
      'Jede Stelle zählt: Am genauen Betrag erkennen wir Ihre Zahlung, also bitte nicht runden. Zieht Ihre Börse die Gebühr vom Betrag ab, rechnen Sie sie dazu.',
  },
  wallet: {
    payWith: 'Mit {wallet} zahlen',
    payRest: 'Den Rest mit {wallet} zahlen',
    browserWallet: 'Browser-Wallet',
    connecting: 'Öffnen Sie {wallet} und erlauben Sie dieser Seite, Ihre Adresse zu sehen.',
    pairing: 'Ein Code für Ihre Wallet wird vorbereitet …',
    away: '{wallet} ist gerade nicht erreichbar. Es wurde kein Geld bewegt. Zahlen Sie auf anderem Weg, oder versuchen Sie es später noch einmal.',
    switching: 'Erlauben Sie {wallet} den Wechsel zu {network}.',
    confirm: 'Bestätigen Sie die Zahlung in {wallet}.',
    decline: 'Lehnen Sie die Zahlung in {wallet} ab: Hier ist nichts mehr zu zahlen.',
    declineChanged:
      'Der fällige Betrag hat sich geändert. Lehnen Sie die Zahlung in {wallet} ab und zahlen Sie dann erneut.',
    sent: 'Gesendet. Warten auf das Netzwerk.',
    unseen: 'Gesendet, aber noch nicht im Netzwerk. Sehen Sie in {wallet} nach, bevor Sie noch einmal zahlen.',
    rejected: 'Sie haben in {wallet} abgelehnt. Es wurde kein Geld bewegt.',
    pending:
      '{wallet} wartet noch auf Ihre Antwort auf eine frühere Anfrage. Öffnen Sie die Wallet und antworten Sie dort.',
    insufficient: 'In dieser Wallet sind {amount} {token} auf {network}; das reicht nicht. Es wurde kein Geld bewegt.',
    fee: 'Diese Wallet hat zu wenig {coin} für die Gebühr auf {network}. Es wurde kein Geld bewegt.',
    signPayment: 'Signieren Sie die Zahlung in {wallet}. Es fällt keine Netzwerkgebühr an.',
    noCoin:
      'Diese Wallet hat kein {coin} für die Gebühr auf {network}; deshalb senden wir die Zahlung ohne Gebühr für Sie. Signieren Sie sie in {wallet}.',
    handingIn: 'Signiert. Ihre Zahlung wird gesendet.',
    handedIn: 'Für Sie gesendet. Warten auf das Netzwerk.',
    feeInstead:
      'Diese Wallet hat zu wenig {coin} für die Gebühr auf {network}. Es wurde kein Geld bewegt. Versuchen Sie es ohne Netzwerkgebühr: Sie signieren nur.',
    notOffered:
      'Wir können die Zahlung gerade nicht ohne Netzwerkgebühr senden. Es wurde kein Geld bewegt. Zahlen Sie mit der Gebühr oder auf anderem Weg.',
    otherUnderWay: 'Eine andere Zahlung für diese Anforderung ist schon unterwegs. Es wurde nichts weiter gesendet.',
    alreadyUsed:
      'Diese Signatur wurde schon verwendet. Wenn sie diese Anforderung bezahlt hat, erscheint es hier gleich.',
    closed: 'Diese Anforderung kann auf diesem Weg nicht mehr bezahlt werden. Es wurde nichts gesendet.',
    changed: 'Die Anforderung hat sich inzwischen geändert. Es wurde nichts gesendet; versuchen Sie es noch einmal.',
    badSignature:
      'Der Token-Contract akzeptiert diese Signatur von {wallet} nicht. Es wurde kein Geld bewegt. Zahlen Sie stattdessen mit der Netzwerkgebühr.',
    lowBalance: 'In dieser Wallet ist nicht genug {token} auf {network}. Es wurde kein Geld bewegt.',
    refused:
      'Der Token-Contract hat diese Zahlung abgelehnt. Es wurde kein Geld bewegt. Verwenden Sie eine andere Wallet, oder zahlen Sie auf anderem Weg.',
    noNetwork:
      '{network} ist gerade nicht erreichbar. Es wurde nichts gesendet; versuchen Sie es in einer Minute noch einmal.',
    tooMany:
      'Zu viele Versuche für diese Zahlung. Es wurde nichts gesendet; warten Sie eine Minute und versuchen Sie es dann noch einmal.',
    notReached: 'Wir sind gerade nicht erreichbar. Es wurde nichts gesendet; versuchen Sie es gleich noch einmal.',
    unsure:
      'Wir sind nicht erreichbar und wissen deshalb nicht, ob Ihre Zahlung unterwegs ist. Warten Sie, bis diese Seite wieder verbunden ist, bevor Sie noch einmal zahlen.',
    noAccount: '{wallet} hat keine Adresse freigegeben. Entsperren Sie die Wallet und versuchen Sie es noch einmal.',
    wrongNetwork:
      '{wallet} hat nicht zu {network} gewechselt. Es wurde kein Geld bewegt. Wechseln Sie in der Wallet und versuchen Sie es noch einmal, oder zahlen Sie auf anderem Weg.',
    signNetwork:
      '{wallet} hat nicht zu {network} gewechselt. Wechseln Sie in der Wallet und signieren Sie dann noch einmal.',
    reverted:
      '{wallet} meldet, dass die Zahlung fehlgeschlagen ist. Es wurde kein Geld bewegt; versuchen Sie es noch einmal.',
    failed:
      '{wallet} hat die Zahlung nicht gesendet. {reason} Sehen Sie dort die letzten Vorgänge an, bevor Sie es noch einmal versuchen.',
    signWith: 'Mit {wallet} signieren',
    signing: 'Bestätigen Sie mit einer Signatur in {wallet}, dass diese Zahlung von Ihnen ist. Das kostet nichts.',
    otherAccount:
      '{wallet} verwendet eine andere Adresse. Wechseln Sie dort zu {address} und versuchen Sie es noch einmal.',
    paymentNotSigned:
      '{wallet} hat die Zahlung nicht signiert. Es wurde kein Geld bewegt. Versuchen Sie es noch einmal, oder zahlen Sie auf anderem Weg. {reason}',
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
    headingWaiting: 'Gesendet, aber nicht zu sehen?',
    headingEnded: 'Schon gezahlt?',
    hash: 'Transaktions-Hash',
    hashHint: 'Aus Ihrer Wallet oder Börse: 0x und 64 Buchstaben oder Ziffern. Wir sehen sofort nach.',
    look: 'Transaktion suchen',
    elsewhere: 'Anderswo signieren',
    elsewhereRest:
      'Signieren Sie diese strukturierten Daten (EIP-712) mit der Wallet, die gezahlt hat, und fügen Sie die Signatur hier ein.',
    sign: 'Signatur absenden',
    signature: 'Signatur',
    signHeading: 'Aus Ihrer eigenen Wallet gezahlt? Mit einer Signatur bestätigen',
    signHint: 'Nur wem {address} gehört, kann bestätigen, dass diese Zahlung für diese Anforderung ist.',
    malformed: 'Das ist kein Transaktions-Hash. Er besteht aus 0x und 64 Buchstaben oder Ziffern.',
    not_found:
      'Wir finden diese Transaktion noch auf keinem akzeptierten Netzwerk. Prüfen Sie den Hash und das Netzwerk, auf dem Sie gesendet haben.',
    unavailable:
      'Das Netzwerk war gerade nicht zu erreichen. Nichts geht verloren; bitte versuchen Sie es in einer Minute noch einmal.',
    pending_in_mempool: 'Die Transaktion wurde gesendet und wartet auf die Bestätigung. Sie müssen nichts weiter tun.',
    failed:
      'Diese Transaktion ist im Netzwerk fehlgeschlagen, es wurde also kein Geld bewegt. Bitte senden Sie sie noch einmal.',
    wrong_token:
      'Diese Transaktion hat die richtige Adresse erreicht, aber mit dem falschen Token oder Coin. Fragen Sie {merchant} danach.',
    wrong_recipient: 'Diese Transaktion geht nicht an die Adresse dieser Anforderung.',
    wrong_network:
      'Diese Transaktion hat die Adresse auf einem Netzwerk erreicht, auf dem {merchant} keine Zahlungen empfangen kann. Fragen Sie dort nach.',
    before_request: 'Diese Transaktion ist älter als die Anforderung und kann deshalb nicht ihre Zahlung sein.',
    seen: 'Die Transaktion ist im Netzwerk; sie erscheint hier gleich.',
    counted: 'Wir haben diese Zahlung gesehen; sie wird bestätigt.',
    verified: 'Diese Zahlung ist abgeschlossen.',
    underpaid: 'Diese Zahlung zählt, aber es fehlen noch {amount} USDC.',
    already_used: 'Diese Transaktion hat schon eine andere Anforderung bezahlt.',
    given_back: '{merchant} erstattet diese Zahlung, deshalb kann sie nichts mehr bezahlen. Fragen Sie dort nach.',
    already_paid:
      'Eine andere Transaktion hat diese Anforderung schon bezahlt. {merchant} sieht auch diese; fragen Sie dort nach.',
    too_many_parts:
      'Diese Anforderung hat zu viele kleine Zahlungen erhalten. {merchant} sieht auch diese; fragen Sie dort nach.',
    late: 'Diese Transaktion kam mehr als 30 Minuten nach Ablauf der Anforderung an. {merchant} sieht sie; fragen Sie dort nach.',
    voided:
      'Die Anforderung wurde storniert, bevor diese Zahlung gesehen wurde. {merchant} sieht sie; fragen Sie dort nach.',
    minted:
      'Die Zahlung kam direkt von einer Bridge oder vom Herausgeber, deshalb kann keine Wallet bestätigen, dass sie für diese Anforderung ist. {merchant} sieht sie; fragen Sie dort nach.',
    bad_signature: 'Diese Signatur stammt nicht von der Wallet, die die Zahlung gesendet hat.',
    tooMany:
      'Zu viele Versuche für diese Zahlung. Warten Sie eine Minute; eine gesendete Zahlung wird auch automatisch gefunden.',
  },
  test: {
    heading: 'Testzahlungen',
    hint: 'Zahlen Sie aus einer Test-Wallet mit echten Transaktionen auf der Sandbox-Chain, und sehen Sie jedes Ergebnis.',
    working: 'Die Testzahlung wird gesendet …',
    outcomes: {
      exact: 'Genauer Betrag',
      too_little: 'Zu wenig',
      rest: 'Der Rest',
      too_much: 'Zu viel',
      late: 'Verspätet, zählt noch',
      too_late: 'Zu spät',
      wrong_token: 'Falscher Token',
      wrong_network: 'Falsches Netzwerk',
      failed: 'Transaktion schlägt fehl',
      reorganised: 'Vom Netzwerk rückgängig gemacht',
      pending: 'Noch nicht bestätigt',
    },
    sent: 'Gesendet. Die Zahlung zählt hier nicht; in etwa zehn Sekunden sagt die Seite, warum.',
    refused: {
      already_paid: 'Es wurde nichts gesendet: Diese Anforderung ist schon bezahlt.',
      voided: 'Es wurde nichts gesendet: Diese Anforderung wurde storniert.',
      nothing_missing: 'Es wurde nichts gesendet: Es ist nichts mehr offen.',
      busy: 'Gerade laufen andere Testzahlungen. Versuchen Sie es in ein paar Sekunden noch einmal.',
      not_attached:
        'Die Zahlung wurde endgültig, bevor das Netzwerk sie rückgängig machen konnte. Versuchen Sie es mit einer neuen Anforderung.',
    },
  },
};
