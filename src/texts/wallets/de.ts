import type { WalletTexts } from '../wallets.ts';

export const de: WalletTexts<'de'> = {
  signing: {
    manual: 'Von Hand',
    address: 'Wallet-Adresse',
    addressHint: '0x und 40 Ziffern oder Buchstaben.',
    network: 'Netzwerk für die Anmeldung',
    useAddress: 'Diese Adresse verwenden',
    message: 'Nachricht zum Signieren',
    signHint:
      'Signieren Sie diese Nachricht in Ihrer Wallet, Zeichen für Zeichen; Wallets nennen das „Nachricht signieren“.',
    signature: 'Signatur',
    signatureHint: 'Was dabei herauskommt, von 0x bis zum Ende.',
    connectWith: 'Mit {wallet} verbinden',
    phoneRest:
      'Scannen Sie mit der Kamera Ihres Telefons. Die Seite öffnet sich dort, und Sie machen mit Ihrer Wallet weiter.',
    told: {
      connect: '{wallet} verbinden',
      sign: 'Mit {wallet} signieren',
      browserWallet: 'Browser-Wallet',
      none: 'In diesem Browser wurde keine Wallet gefunden. Öffnen Sie diese Seite im Browser Ihrer Wallet-App oder machen Sie von Hand weiter.',
      noneScan:
        'In diesem Browser wurde keine Wallet gefunden. Scannen Sie den Code mit Ihrem Telefon und machen Sie dort weiter, oder geben Sie die Adresse manuell ein.',
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
        '{wallet} wartet noch auf Ihre Antwort auf eine frühere Frage. Öffnen Sie die Wallet und antworten Sie dort.',
      noAccount: '{wallet} hat keine Adresse genannt. Entsperren Sie die Wallet und versuchen Sie es noch einmal.',
      wrongNetwork:
        '{wallet} ist auf einem Netzwerk, das hier nicht angeboten wird. Wechseln Sie in der Wallet zu {networks} und versuchen Sie es noch einmal.',
      otherAccount: '{wallet} ist auf einem anderen Konto. Wählen Sie dort {address} und versuchen Sie es noch einmal.',
      failed: '{wallet} konnte es nicht ausführen. Es wurde nichts geändert. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Dieser Link ist nicht von uns',
      rest: 'Öffnen Sie ihn noch einmal vollständig, so wie Sie ihn bekommen haben, oder bitten Sie den Absender um einen neuen.',
    },
    link_expired: {
      title: 'Dieser Link ist abgelaufen',
      rest: 'Links gelten sieben Tage. Bitten Sie den Absender um einen neuen; was Sie eingegeben haben, bleibt erhalten.',
    },
    link_used: {
      title: 'Dieser Link hat seinen Dienst getan',
      rest: 'Mit ihm wurde die Einrichtung abgeschlossen, deshalb öffnet er nichts mehr. Wenn Sie das nicht waren, sagen Sie es sofort dem Absender.',
    },
    email_code_needed: {
      title: 'Der Code aus der E-Mail fehlt',
      rest: 'Lassen Sie sich zuerst einen Code senden und geben Sie ihn ein.',
    },
    email_code_wrong: {
      title: 'Dieser Code stimmt nicht',
      rest: 'Nehmen Sie die neueste E-Mail und geben Sie deren sechs Ziffern ein.',
    },
    email_code_expired: {
      title: 'Dieser Code ist abgelaufen',
      rest: 'Codes gelten 15 Minuten. Lassen Sie sich einen neuen senden.',
    },
    email_code_exhausted: {
      title: 'Zu viele falsche Codes',
      rest: 'Zur Sicherheit wird vorerst kein Code angenommen. Warten Sie 15 Minuten und lassen Sie sich dann einen neuen senden.',
    },
    email_code_just_sent: {
      title: 'Eben wurde ein Code gesendet',
      rest: 'Sehen Sie in Ihrem Postfach nach, auch im Spam-Ordner. Nach einer Minute kann ein neuer gesendet werden.',
    },
    details_invalid: { title: 'Einige Angaben stimmen noch nicht', rest: 'Sie sind unten markiert.' },
    wallet_malformed: {
      title: 'Das ist keine Wallet-Adresse',
      rest: 'Eine Adresse besteht aus 0x und 40 Ziffern und Buchstaben von a bis f.',
    },
    wallet_differs: {
      title: 'Das ist nicht die angekündigte Wallet',
      rest: 'Der Partner, der Sie eingeladen hat, hat eine bestimmte Wallet genannt. Nehmen Sie diese, oder bitten Sie ihn, das zu ändern.',
    },
    wallet_taken: {
      title: 'Diese Wallet gehört schon zu einem anderen Händler',
      rest: 'Eine Wallet dient nur einem Händler. Nehmen Sie eine andere, oder wenden Sie sich an den Partner, der Sie eingeladen hat, wenn es Ihre ist.',
    },
    wallet_same: { title: 'Das ist die Wallet, die Sie schon haben', rest: 'Geben Sie die Adresse der neuen an.' },
    wallet_unknown: {
      title: 'Mit dieser Wallet wird kein Händler bezahlt',
      rest: 'Melden Sie sich mit der Wallet an, auf die Sie bezahlt werden. Haben Sie hier noch keine, öffnen Sie den Link Ihrer Einladung.',
    },
    wallet_not_deployed: {
      title: 'Diese Smart Wallet ist noch nicht eingerichtet',
      rest: 'Wir müssen ihre Signatur gegen ihren Code auf einem Netzwerk prüfen. Machen Sie mit ihr eine erste Transaktion auf einem der Netzwerke hier und signieren Sie dann noch einmal.',
    },
    chain_unreachable: {
      title: 'Das Netzwerk war zu dieser Wallet nicht zu erreichen',
      rest: 'Das liegt nicht an Ihnen. Es wurde nichts geändert; versuchen Sie es in einer Minute noch einmal.',
    },
    chain_unknown: {
      title: 'Ihre Wallet ist auf einem Netzwerk, das hier nicht angeboten wird',
      rest: 'Wechseln Sie in Ihrer Wallet zu einem angebotenen Netzwerk und versuchen Sie es noch einmal.',
    },
    message_changed: {
      title: 'Die signierte Nachricht ist nicht die, die wir gegeben haben',
      rest: 'Signieren Sie die neue Nachricht genau so, wie sie da steht.',
    },
    message_used: {
      title: 'Diese Nachricht wurde schon verwendet oder ist abgelaufen',
      rest: 'Jede Nachricht zählt einmal und gilt 15 Minuten. Hier ist eine neue.',
    },
    signature_invalid: {
      title: 'Die Signatur ist nicht von dieser Wallet',
      rest: 'Signieren Sie die ganze Nachricht mit der Wallet, deren Adresse darin steht.',
    },
    terms_not_accepted: {
      title: 'Die Bedingungen wurden nicht angenommen',
      rest: 'Lesen Sie sie und setzen Sie den Haken, wenn Sie einverstanden sind.',
    },
    too_many_attempts: { title: 'Zu viele Versuche', rest: 'Warten Sie eine Minute und machen Sie dann weiter.' },
    merchant_unknown: {
      title: 'Diesen Händler gibt es nicht',
      rest: 'Es wurde nichts geändert.',
    },
    not_onboarded: {
      title: 'Dieser Händler ist noch nicht fertig eingerichtet',
      rest: 'Sein Einrichtungslink nimmt jede Wallet an, deshalb gibt es nichts wiederherzustellen.',
    },
    recovery_signed: {
      title: 'Eine neue Wallet hat schon signiert',
      rest: 'Sie übernimmt, sobald ihre 48 Stunden vergangen sind, wenn das nicht vorher gestoppt wird.',
    },
    change_over: {
      title: 'Hier ist nichts im Gang',
      rest: 'Dieser Wechsel der Wallet ist abgeschlossen, gestoppt oder abgelaufen. Das Dashboard zeigt, welche Wallet bezahlt wird.',
    },
  },
  walletChange: {
    title: 'Wallet wechseln',
    heading: 'Wechseln Sie die Wallet, auf die Sie bezahlt werden',
    now: 'Jetzt bezahlt an',
    rest: 'Zwei Signaturen: Die bisherige Wallet nennt die neue, dann stimmt die neue zu. Offene Anforderungen gehen weiter an die bisherige Wallet.',
    newWallet: 'Die neue Wallet',
    step1: '1 von 2: mit der bisherigen Wallet signieren',
    step1Rest: 'Sie übergibt an {wallet}.',
    step2: '2 von 2: mit der neuen Wallet signieren',
    step2Rest: 'Danach werden neue Anforderungen an {wallet} bezahlt.',
    sign: 'Signieren',
    cancel: 'Alles lassen, wie es ist',
    done: 'Ihre Wallet wurde gewechselt',
    doneRest:
      'Neue Anforderungen werden an {wallet} bezahlt. Anforderungen, die vorher offen waren, gehen weiter an die frühere.',
    back: 'Zurück zum Dashboard',
    lost: 'Bisherige Wallet verloren? Bitten Sie {partner}, für Sie eine Wiederherstellung zu beginnen.',
    underWay: 'Eine Wiederherstellung Ihrer Wallet ist im Gang',
    underWayRest: 'Am {time} gehen Ihre Zahlungen auf {wallet} über. Wenn Sie das nicht waren, stoppen Sie es jetzt.',
    started: 'Eine Wiederherstellung Ihrer Wallet wurde begonnen',
    startedRest:
      '{partner} hat einen Link gesendet, mit dem eine neue Wallet signieren kann. 48 Stunden danach würden Ihre Zahlungen auf sie übergehen. Wenn Sie das nicht waren, stoppen Sie es jetzt.',
    stop: 'Wiederherstellung stoppen',
    stopped: 'Die Wiederherstellung wurde gestoppt',
    stoppedRest: 'Es ändert sich nichts: Sie werden an {wallet} bezahlt.',
    stopHeading: 'Die Wiederherstellung einer Wallet stoppen',
    stopRest:
      'Signieren Sie mit der bisherigen Wallet {wallet}. Das stoppt die Wiederherstellung sofort, und es ändert sich nichts.',
  },
  recovery: {
    title: 'Eine Wallet wiederherstellen',
    heading: '{partner} hat eine Wiederherstellung Ihrer Wallet begonnen',
    rest: 'Nehmen Sie eine neue Wallet und signieren Sie mit ihr. 48 Stunden später gehen Ihre Zahlungen auf sie über, außer die frühere Wallet {wallet} widerspricht.',
    signHeading: 'Mit der neuen Wallet signieren',
    signRest: 'Nach 48 Stunden werden neue Anforderungen an {wallet} bezahlt.',
    sign: 'Signieren',
    waiting: 'Ihre neue Wallet hat signiert',
    waitingRest:
      'Am {time} gehen Ihre Zahlungen auf {wallet} über, außer die frühere Wallet widerspricht. Sie müssen nichts weiter tun.',
    applied: 'Ihre Zahlungen gehen an die neue Wallet',
    appliedRest: 'Melden Sie sich mit {wallet} an.',
  },
};
