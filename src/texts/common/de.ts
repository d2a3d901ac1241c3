import type { CommonTexts } from '../common.ts';

export const de: CommonTexts<'de'> = {
  common: {
    testMode: 'Testmodus.',
    testModeRest: 'Auf dieser Seite fließt kein echtes Geld.',
    language: 'Sprache',
    skip: 'Zum Inhalt springen',
    lessThanAMinute: 'weniger als eine Minute',
    copy: 'Kopieren',
    copied: 'Kopiert',
    qrCode: 'QR-Code',
    titleAndRest: '{title}. {rest}',
    sentence: '{text}.',
    rate: '1 USDC = {rate}',
    rateSource: {
      market: 'Marktkurs von {sources}',
      fixed: 'Fester Kurs der Testumgebung',
      override: 'Vom Betreiber des Dienstes festgelegt',
    },
    payments: { one: '{count} Zahlung', other: '{count} Zahlungen' },
    confirmations: { one: '{seen} von {count} Bestätigung', other: '{seen} von {count} Bestätigungen' },
    every: {
      day: 'jeden Tag',
      week: 'jede Woche',
      month: 'jeden Monat',
      year: 'jedes Jahr',
    },
    everyMany: {
      day: 'alle {period}',
      week: 'alle {period}',
      month: 'alle {period}',
      year: 'alle {period}',
    },
  },
  app: {
    navigation: 'Seiten',
    more: 'Mehr',
    pages: 'Seiten dieser Liste',
    first: 'Zurück zu den neuesten',
    next: 'Ältere',
    apply: 'Anwenden',
    reset: 'Filter zurücksetzen',
    all: 'Alle',
    csv: 'Als CSV herunterladen',
    test: 'Test',
    live: 'Live',
    mode: 'Modus',
    signOut: 'Abmelden',
    figures: 'Als Tabelle anzeigen',
    chartOf: 'Diagramm: {title}',
  },
  errors: {
    notFound: 'Seite nicht gefunden',
    notFoundRest:
      'Vielleicht ist der Link unvollständig. Öffnen Sie ihn noch einmal genau so, wie Sie ihn erhalten haben, oder bitten Sie den Absender um einen neuen.',
    home: 'Zurück zur Übersicht',
    trouble: 'Bei uns ist etwas schiefgegangen',
    troubleRest:
      'Das liegt an uns, und es wurde dabei kein Geld bewegt. Eine schon gesendete Zahlung ist im Netzwerk und wird gefunden. Versuchen Sie es in einer Minute noch einmal.',
    failed: 'Das hat nicht geklappt',
    malformed: 'Das konnten wir nicht lesen',
    malformedRest:
      'Es enthält ungültige Zeichen oder kam nicht von einem unserer Formulare. Es wurde nichts geändert und kein Geld bewegt. Gehen Sie zurück und senden Sie es noch einmal ab.',
    foreignForm: 'Dieses Formular kam von einer anderen Website',
    foreignFormRest:
      'Öffnen Sie Ihren Link noch einmal und verwenden Sie das Formular dort. Es wurde kein Geld bewegt.',
    tooMany: 'Zu viele Versuche',
    tooManyRest:
      'Warten Sie eine Minute und machen Sie dann weiter. Eine schon gesendete Zahlung wird automatisch gefunden.',
    slowDown: 'Zu viele Seiten auf einmal',
    slowDownRest:
      'Warten Sie zehn Sekunden und laden Sie diese Seite dann neu. Eine schon gesendete Zahlung wird automatisch gefunden.',
  },
  found: {
    submitted: {
      seen: 'Transaktion gesehen, noch nicht bestätigt',
      mined: 'Transaktion gesehen, noch nicht bestätigt',
      failed: 'Transaktion fehlgeschlagen',
      replaced: 'Transaktion durch eine andere ersetzt',
      gone: 'Transaktion vom Netzwerk verworfen',
    },
    signed: 'Vom Kunden signiert; wir senden die Zahlung',
    signedFailed: 'Die vom Kunden signierte Zahlung hat kein Geld bewegt',
    near: '{amount} USDC kamen auf {network} an; fällig waren {due} USDC',
    nearRest: 'Börsen ziehen Gebühren ab oder runden Beträge; dies kann also die Zahlung sein.',
    nearOthers: {
      one: 'Auch {count} andere Anforderung könnte gemeint sein.',
      other: 'Auch {count} andere Anforderungen könnten gemeint sein.',
    },
    wrongToken: 'Auf {network} kam der falsche Token an',
    wrongTokenRest: 'Er nennt sich {symbol} ({token}), wird aber nicht angenommen und zählt deshalb nicht.',
    wrongNetwork: 'Eine Zahlung kam auf dem falschen Netzwerk an: {network}',
    wrongNetworkRest: '{symbol} kam an, wo diese Anforderung nicht bezahlt werden kann, und zählt deshalb nicht.',
    silent: 'Wir können {network} gerade nicht lesen',
    silentRest: 'Zahlungen dort erscheinen, sobald wir es wieder lesen können.',
  },
  /** A payment that was given back, for merchants and for their partner. */
  refunded: {
    badges: {
      returning: 'Zu erstatten',
      sent: 'Erstattung läuft',
      confirmed: 'Erstattet',
      other: 'Erstattet',
      failed: 'Nicht erstattet',
      missing: 'Nicht erstattet',
    },
    seenRest: '{amount} USDC an {address}. Warten auf die Bestätigung durch das Netzwerk.',
    confirmedRest: '{amount} USDC an {address}, vom Netzwerk bestätigt.',
  },
  search: {
    hint: 'ID, Betrag, Name, Hash …',
    newest: {
      one: 'Durchsucht wurde die neueste Anforderung. Wählen Sie ein Datum, um weiter zurück zu suchen.',
      other: 'Durchsucht wurden die neuesten {count} Anforderungen. Wählen Sie ein Datum, um weiter zurück zu suchen.',
    },
    most: {
      one: 'Angezeigt wird der neueste Treffer. Wählen Sie ein Datum, um die anderen zu sehen.',
      other: 'Angezeigt werden die neuesten {count} Treffer. Wählen Sie ein Datum, um die anderen zu sehen.',
    },
    by: 'Sie können suchen nach der ID einer Anforderung oder ihren ersten 8 Zeichen, Belegnummer, Betrag, Notiz, Name oder E-Mail-Adresse des Kunden, Idempotenzschlüssel, Wert der Metadaten, Transaktions-Hash oder Zahler.',
  },
};
