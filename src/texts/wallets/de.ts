import type { WalletTexts } from '../wallets.ts';

export const de: WalletTexts<'de'> = {
  signing: {
    manual: 'Manuell eingeben',
    address: 'Wallet-Adresse',
    addressHint: '0x und 40 Ziffern oder Buchstaben.',
    network: 'Netzwerk für die Anmeldung',
    useAddress: 'Diese Adresse verwenden',
    message: 'Nachricht zum Signieren',
    signHint: 'Signieren Sie genau diese Nachricht in Ihrer Wallet. Wallets nennen das „Nachricht signieren“.',
    signature: 'Signatur',
    signatureHint: 'Fügen Sie das vollständige Ergebnis ein, beginnend mit 0x.',
    connectWith: 'Mit {wallet} verbinden',
    phoneRest:
      'Scannen Sie mit der Kamera Ihres Handys. Die Seite öffnet sich dort, und Sie machen mit Ihrer Wallet weiter.',
    browser: {
      connect: '{wallet} verbinden',
      sign: 'Mit {wallet} signieren',
      browserWallet: 'Browser-Wallet',
      none: 'In diesem Browser wurde keine Wallet gefunden. Öffnen Sie diese Seite im Browser Ihrer Wallet-App, oder machen Sie manuell weiter.',
      noneScan:
        'In diesem Browser wurde keine Wallet gefunden. Scannen Sie den Code mit Ihrem Handy und machen Sie dort weiter, oder geben Sie die Adresse manuell ein.',
      noneOnPhone: 'Dieser Browser hat keine Wallet. Öffnen Sie diese Seite in Ihrer Wallet-App, um weiterzumachen.',
      pairing: 'Ein Code für Ihre Wallet wird vorbereitet …',
      away: '{wallet} ist im Moment nicht erreichbar. Nichts wurde geändert. Machen Sie auf einem anderen Weg weiter oder versuchen Sie es später noch einmal.',
      copied: 'Kopiert',
      opening: 'Öffnen Sie {wallet} und erlauben Sie dieser Seite, Ihre Adresse zu sehen.',
      waiting: 'Bestätigen Sie die Signatur in {wallet}.',
      sending: 'Signiert. Einen Moment.',
      rejected:
        'Sie haben in {wallet} abgelehnt. Es wurde nichts signiert oder geändert. Versuchen Sie es noch einmal, wenn Sie so weit sind.',
      pending:
        '{wallet} wartet noch auf Ihre Antwort auf eine frühere Anfrage. Öffnen Sie die Wallet und antworten Sie dort.',
      noAccount: '{wallet} hat keine Adresse freigegeben. Entsperren Sie die Wallet und versuchen Sie es noch einmal.',
      wrongNetwork:
        '{wallet} ist auf einem Netzwerk, das hier nicht verfügbar ist. Wechseln Sie zu {networks} und versuchen Sie es noch einmal.',
      otherAccount: '{wallet} verwendet ein anderes Konto. Wechseln Sie zu {address} und versuchen Sie es noch einmal.',
      failed: 'In {wallet} ist etwas schiefgegangen. Es wurde nichts geändert. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Dieser Link ist ungültig',
      rest: 'Öffnen Sie den vollständigen Link noch einmal genau so, wie Sie ihn erhalten haben, oder bitten Sie den Absender um einen neuen.',
    },
    link_expired: {
      title: 'Dieser Link ist abgelaufen',
      rest: 'Links gelten sieben Tage. Bitten Sie den Absender um einen neuen; was Sie eingegeben haben, bleibt erhalten.',
    },
    link_replaced: {
      title: 'Dieser Link wurde ersetzt',
      rest: 'Der Partner, der Sie eingeladen hat, hat die Einrichtung neu gestartet. Dieser Link gilt nicht mehr, und was damit eingegeben wurde, ist verworfen. Bitten Sie ihn um den neuen Link.',
    },
    link_used: {
      title: 'Bereits eingerichtet',
      rest: 'Mit diesem Link wurde die Einrichtung abgeschlossen. Melden Sie sich mit Ihrer Wallet an, um Ihr Dashboard zu öffnen. Wenn Sie das nicht selbst waren, fragen Sie den Absender des Links.',
    },
    email_code_needed: {
      title: 'Geben Sie den Code aus der E-Mail ein',
      rest: 'Fordern Sie zuerst einen Code an und geben Sie ihn ein.',
    },
    email_code_wrong: {
      title: 'Dieser Code stimmt nicht',
      rest: 'Nehmen Sie die neueste E-Mail und geben Sie deren sechs Ziffern ein.',
    },
    email_code_expired: {
      title: 'Dieser Code ist abgelaufen',
      rest: 'Codes gelten 15 Minuten. Fordern Sie einen neuen an.',
    },
    email_code_exhausted: {
      title: 'Zu viele falsche Codes',
      rest: 'Zur Sicherheit sind Codes vorerst gesperrt. Warten Sie 15 Minuten und fordern Sie dann einen neuen an.',
    },
    email_code_just_sent: {
      title: 'Wir haben Ihnen gerade einen Code gesendet',
      rest: 'Sehen Sie in Ihrem Postfach und im Spam-Ordner nach. Nach einer Minute können Sie einen neuen Code anfordern.',
    },
    email_code_too_often: {
      title: 'Heute wurden zu viele Codes gesendet',
      rest: 'Der neueste Code gilt noch bis 15 Minuten nach dem Versand. Morgen können Sie einen weiteren anfordern.',
    },
    details_invalid: { title: 'Einige Angaben stimmen noch nicht', rest: 'Sie sind unten markiert.' },
    wallet_malformed: {
      title: 'Das ist keine Wallet-Adresse',
      rest: 'Eine Adresse besteht aus 0x und 40 Ziffern und Buchstaben von a bis f.',
    },
    wallet_differs: {
      title: 'Das ist nicht die erwartete Wallet',
      rest: 'Der Partner, der Sie eingeladen hat, hat eine bestimmte Wallet genannt. Verwenden Sie diese, oder bitten Sie ihn, das zu ändern.',
    },
    wallet_taken: {
      title: 'Diese Wallet gehört schon zu einem anderen Händler',
      rest: 'Eine Wallet kann nur zu einem Händler gehören. Verwenden Sie eine andere. Wenn es Ihre ist, wenden Sie sich an den Partner, der Sie eingeladen hat.',
    },
    wallet_same: { title: 'Das ist schon Ihre Wallet', rest: 'Geben Sie die Adresse der neuen ein.' },
    changed_too_often: {
      title: 'Ihre Wallet wurde heute zu oft geändert',
      rest: 'Es wurde nichts geändert. Machen Sie morgen weiter.',
    },
    wallet_unknown: {
      title: 'Kein Händler verwendet diese Wallet',
      rest: 'Melden Sie sich mit der Wallet an, in der Sie Zahlungen empfangen. Haben Sie noch keine eingerichtet, öffnen Sie den Link Ihrer Einladung.',
    },
    wallet_not_deployed: {
      title: 'Diese Smart Wallet ist noch nicht eingerichtet',
      rest: 'Um ihre Signatur zu prüfen, brauchen wir ihren Code auf einem Netzwerk. Führen Sie mit ihr eine erste Transaktion auf einem der Netzwerke hier aus und signieren Sie dann noch einmal.',
    },
    chain_unreachable: {
      title: 'Das Netzwerk war für die Prüfung dieser Wallet nicht erreichbar',
      rest: 'Das liegt nicht an Ihnen. Es wurde nichts geändert; versuchen Sie es in einer Minute noch einmal.',
    },
    chain_unknown: {
      title: 'Ihre Wallet ist auf einem Netzwerk, das hier nicht verfügbar ist',
      rest: 'Wechseln Sie in Ihrer Wallet zu einem der hier verfügbaren Netzwerke und versuchen Sie es noch einmal.',
    },
    message_changed: {
      title: 'Die signierte Nachricht ist nicht die angezeigte',
      rest: 'Signieren Sie die neue Nachricht genau so, wie sie angezeigt wird.',
    },
    message_used: {
      title: 'Diese Nachricht wurde schon verwendet oder ist abgelaufen',
      rest: 'Jede Nachricht kann einmal verwendet werden, innerhalb von 15 Minuten. Hier ist eine neue.',
    },
    signature_invalid: {
      title: 'Die Signatur ist nicht von dieser Wallet',
      rest: 'Signieren Sie die vollständige Nachricht mit der Wallet, deren Adresse darin steht.',
    },
    terms_not_accepted: {
      title: 'Die Bedingungen wurden nicht angenommen',
      rest: 'Lesen Sie sie und setzen Sie den Haken, wenn Sie einverstanden sind.',
    },
    too_many_attempts: {
      title: 'Zu viele Versuche',
      rest: 'Warten Sie einige Minuten, höchstens eine Viertelstunde, und machen Sie dann weiter.',
    },
    merchant_unknown: {
      title: 'Diesen Händler gibt es nicht',
      rest: 'Es wurde nichts geändert.',
    },
    not_onboarded: {
      title: 'Dieser Händler hat die Einrichtung noch nicht abgeschlossen',
      rest: 'Sein Einrichtungslink nimmt jede Wallet an, deshalb gibt es nichts wiederherzustellen.',
    },
    recovery_expired: {
      title: 'Diese Wiederherstellung ist abgelaufen',
      rest: 'Innerhalb von sieben Tagen hat keine neue Wallet signiert; es wurde nichts geändert. Brauchen Sie sie noch, bitten Sie den Partner, der den Link gesendet hat, eine neue zu starten.',
    },
    recovery_signed: {
      title: 'Eine neue Wallet hat schon signiert',
      rest: 'Sie übernimmt nach ihren 48 Stunden, wenn die Wiederherstellung nicht vorher gestoppt wird.',
    },
    change_over: {
      title: 'Hier ist nichts zu tun',
      rest: 'Dieser Wallet-Wechsel ist abgeschlossen, gestoppt oder abgelaufen. Das Dashboard zeigt, welche Wallet Zahlungen empfängt.',
    },
  },
  walletChange: {
    title: 'Wallet wechseln',
    heading: 'Wallet für Ihre Zahlungen wechseln',
    now: 'Aktuelle Wallet',
    rest: 'Dafür braucht es zwei Signaturen: Die aktuelle Wallet nennt die neue, dann stimmt die neue zu. Offene Anforderungen werden weiter an die aktuelle Wallet bezahlt. Automatische Abbuchungen ruhen, bis jeder Kunde neu zugestimmt hat.',
    newWallet: 'Neue Wallet',
    step1: '1 von 2: mit der aktuellen Wallet signieren',
    step1Rest: 'Sie übergibt an {wallet}.',
    step2: '2 von 2: mit der neuen Wallet signieren',
    step2Rest: 'Von da an werden neue Anforderungen an {wallet} bezahlt.',
    sign: 'Signieren',
    cancel: 'Abbrechen, Wallet behalten',
    done: 'Ihre Wallet wurde gewechselt',
    doneRest:
      'Neue Anforderungen werden an {wallet} bezahlt. Anforderungen, die schon offen waren, werden weiter an die bisherige Wallet bezahlt. Automatische Abbuchungen ruhen, bis jeder Kunde neu zugestimmt hat.',
    back: 'Zurück zum Dashboard',
    lost: 'Aktuelle Wallet verloren? Bitten Sie {partner}, eine Wiederherstellung zu starten.',
    underWay: 'Ihre Wallet wird wiederhergestellt',
    underWayRest: 'Am {time} gehen Ihre Zahlungen auf {wallet} über. Wenn Sie das nicht waren, stoppen Sie es jetzt.',
    started: 'Eine Wiederherstellung Ihrer Wallet wurde gestartet',
    startedRest:
      '{partner} hat einen Link gesendet, mit dem eine neue Wallet signieren kann. 48 Stunden danach würden Ihre Zahlungen auf sie übergehen. Wenn Sie das nicht waren, stoppen Sie es jetzt.',
    stop: 'Wiederherstellung stoppen',
    stopped: 'Die Wiederherstellung wurde gestoppt',
    stoppedRest: 'Es ändert sich nichts: Sie empfangen Zahlungen weiter in {wallet}.',
    stopHeading: 'Wiederherstellung einer Wallet stoppen',
    stopRest:
      'Signieren Sie mit der aktuellen Wallet {wallet}. Das stoppt die Wiederherstellung sofort, und es ändert sich nichts.',
  },
  recovery: {
    title: 'Wallet wiederherstellen',
    heading: '{partner} hat eine Wiederherstellung Ihrer Wallet gestartet',
    rest: 'Wählen Sie eine neue Wallet und signieren Sie mit ihr. 48 Stunden später gehen Ihre Zahlungen auf sie über, wenn die bisherige Wallet {wallet} nicht widerspricht.',
    signHeading: 'Mit der neuen Wallet signieren',
    signRest: 'Nach 48 Stunden werden neue Anforderungen an {wallet} bezahlt.',
    sign: 'Signieren',
    waiting: 'Ihre neue Wallet hat signiert',
    waitingRest:
      'Am {time} gehen Ihre Zahlungen auf {wallet} über, wenn die bisherige Wallet nicht widerspricht. Sie müssen nichts weiter tun.',
    applied: 'Ihre Zahlungen gehen an die neue Wallet',
    appliedRest: 'Melden Sie sich mit {wallet} an.',
  },
};
