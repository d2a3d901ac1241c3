import type { OnboardingTexts } from '../onboarding.ts';

export const de: OnboardingTexts<'de'> = {
  onboard: {
    title: 'Über {partner} Zahlungen empfangen',
    steps: 'Schritte',
    stepEmail: 'E-Mail',
    stepDetails: 'Angaben',
    stepWallet: 'Wallet',
    stepSign: 'Signieren',
    invites: '{partner} lädt Sie ein, Zahlungen in Stablecoins zu empfangen',
    what: 'Ihre Kunden zahlen in USDC, direkt in Ihre eigene Wallet. {partner} erstellt die Anforderungen; nur Sie können das Geld bewegen.',
    coin: 'USDC ist ein digitaler Dollar: Ein USDC soll immer einen US-Dollar wert sein.',
    needs: 'Es dauert zwei Minuten. Sie brauchen eine Wallet, in diesem Browser oder auf Ihrem Handy.',
    makeSure:
      'Zuerst prüfen wir, dass Sie es sind. Wir senden einen Code an {email}, die Adresse, die uns {partner} genannt hat.',
    sendCode: 'Code an mich senden',
    enterCode: 'Geben Sie den Code aus der E-Mail ein',
    code: 'Sechsstelliger Code',
    codeHint: 'Gesendet an {email}. Er gilt 15 Minuten.',
    goOn: 'Weiter',
    notYours: 'Nicht Ihre Adresse? Bitten Sie {partner} um eine neue Einladung.',
    sendAnother: 'Neuen Code senden',
    who: 'Wer empfängt die Zahlungen?',
    whoRest: 'Füllen Sie aus, was Sie möchten. {partner} sieht es, und Ihre Kunden sehen den Firmennamen.',
    name: 'Ihr Name',
    businessName: 'Firmenname',
    businessHint: 'Ihre Kunden sehen ihn auf der Zahlungsseite und auf Belegen.',
    country: 'Land',
    suggested: 'Vorschlag',
    allCurrencies: 'Alle Währungen',
    currencyHint:
      'Ihre Anforderungen lauten darauf. Sprechen Sie eine andere Währung vorher mit {partner} ab, sonst schlagen Anforderungen von dort fehl.',
    later: 'Weitere Angaben, freiwillig',
    laterRest: 'Das hat Zeit: Sie finden es in Ihrem Dashboard unter „Profil“.',
    noCountry: 'Keine Angabe',
    phone: 'Telefon',
    website: 'Website',
    email: 'E-Mail',
    emailHint: 'Wir schreiben dorthin nur wegen Ihrer Wallet und Ihrer Anmeldung.',
    tooLong: 'Höchstens {limit} Zeichen.',
    notACountry: 'Wählen Sie ein Land aus der Liste.',
    notAnEmail: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    goToWallet: 'Weiter zu Ihrer Wallet',
    whichWallet: 'Welche Wallet empfängt die Zahlungen?',
    whichRest: 'Beim Verbinden sehen wir nur ihre Adresse. Im nächsten Schritt signieren Sie mit ihr.',
    announced: '{partner} hat die Wallet {wallet} genannt. Verbinden Sie diese.',
    noWallet: 'Ich habe noch keine Wallet',
    noWalletRest:
      'Eine Wallet ist eine kostenlose App, mit der Sie digitales Geld empfangen und aufbewahren. Nur Sie haben darauf Zugriff.',
    installWallet: 'Installieren Sie eine Wallet-App aus dem App-Store Ihres Handys, zum Beispiel {apps}.',
    createWallet:
      'Legen Sie darin eine neue Wallet an. Zeigt sie Ihnen eine Wiederherstellungsphrase, schreiben Sie sie auf Papier und zeigen Sie sie niemandem: Wer sie hat, kann Ihr Geld nehmen. Wir fragen nie danach.',
    returnWithWallet:
      'Kommen Sie auf diese Seite zurück und öffnen Sie sie in Ihrer Wallet-App. Ihre Eingaben sind gespeichert.',
    noExchange:
      'Ein Konto bei einer Börse eignet sich hier nicht, denn damit können Sie nicht signieren. Später können Sie Geld aus Ihrer Wallet an eine Börse senden und auf Ihr Bankkonto auszahlen lassen.',
    changeDetails: 'Angaben ändern',
    signTitle: 'Melden Sie sich mit Ihrer Wallet an',
    signRest:
      'Das beweist, dass die Wallet Ihnen gehört. Es kostet nichts, bewegt nichts und erlaubt niemandem, Geld von Ihnen zu nehmen.',
    wallet: 'Ihre Wallet',
    changeWallet: 'Andere Wallet verwenden',
    terms: 'Bedingungen, Version {version}',
    termsTranslated:
      'Diese Übersetzung dient nur zum besseren Verständnis. Sie akzeptieren den englischen Text darunter; nur er ist verbindlich.',
    termsBinding: 'Verbindlicher englischer Text',
    accept: 'Ich habe die Bedingungen, Version {version}, gelesen und akzeptiere sie.',
    finish: 'Abschließen',
  },
  terms: {
    get: {
      title: 'Was Sie bekommen',
      text: 'Kunden bezahlen Sie in Stablecoins, direkt in Ihre eigene Wallet. Wir erstellen die Zahlungsseite, beobachten die Blockchain und sagen Ihnen und dem Partner, der Sie eingeladen hat, wann eine Zahlung endgültig ist. Wir verwahren Ihr Geld nie und können es nicht bewegen.',
    },
    wallet: {
      title: 'Ihre Wallet',
      text: 'Sie haben die Verfügung über die Wallet, mit der Sie signieren, und bewahren ihre Schlüssel oder ihre Wiederherstellung sicher auf. Niemand kann eine Zahlung zurückholen, die an eine Wallet ging, deren Schlüssel verloren sind. Eine Wallet gehört nur einem Händler.',
    },
    payments: {
      title: 'Zahlungen',
      text: 'Eine Zahlung auf einer Blockchain können wir nicht rückgängig machen. Erstattungen sind Sache zwischen Ihnen und Ihrem Kunden. Der Preis in Stablecoins steht fest, sobald eine Anforderung erstellt ist, zum Wechselkurs dieses Moments.',
    },
    duties: {
      title: 'Ihre Pflichten',
      text: 'Sie verkaufen nur, was dort erlaubt ist, wo Sie und Ihre Kunden sind, Sie zahlen Ihre Steuern, und was Sie uns über sich sagen, ist wahr. Sie unterliegen keinen Sanktionen.',
    },
    stored: {
      title: 'Was gespeichert wird',
      text: 'Wir speichern die Angaben, die Sie machen, die Adresse Ihrer Wallet und die Anforderungen und Zahlungen an sie. Der Partner, der Sie eingeladen hat, sieht sie. Wenn Sie annehmen, bewahren wir die Version dieser Bedingungen, die Zeit und Ihre Internetadresse auf.',
    },
    ending: {
      title: 'Ende',
      text: 'Sie können jederzeit aufhören. Der Partner oder wir können neue Anforderungen unterbinden; bereits gezahltes Geld bleibt Ihres, denn es lag immer in Ihrer Wallet.',
    },
  },
};
