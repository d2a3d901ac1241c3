import type { OnboardingTexts } from '../onboarding.ts';

export const de: OnboardingTexts<'de'> = {
  onboard: {
    title: 'Über {partner} bezahlt werden',
    steps: 'Schritte',
    stepEmail: 'E-Mail',
    stepDetails: 'Angaben',
    stepWallet: 'Wallet',
    stepSign: 'Signieren',
    invites: '{partner} lädt Sie ein, sich in Stablecoins bezahlen zu lassen',
    what: 'Ihre Kunden zahlen in USDC, direkt in Ihre eigene Wallet. {partner} fordert die Zahlungen an; bewegen können das Geld nur Sie.',
    needs: 'Es dauert zwei Minuten. Sie brauchen eine Wallet, in diesem Browser oder auf Ihrem Handy.',
    makeSure:
      'Zuerst stellen wir sicher, dass Sie es sind. Wir senden einen Code an {email}, die Adresse, die uns {partner} genannt hat.',
    sendCode: 'Code an mich senden',
    enterCode: 'Geben Sie den Code aus der E-Mail ein',
    code: 'Sechs Ziffern',
    codeHint: 'Gesendet an {email}. Er gilt 15 Minuten.',
    goOn: 'Weiter',
    sendAnother: 'Neuen Code senden',
    who: 'Wer wird bezahlt?',
    whoRest: 'Füllen Sie aus, was Sie möchten. {partner} sieht es, und Ihre Kunden sehen den Firmennamen.',
    name: 'Ihr Name',
    businessName: 'Firmenname',
    businessHint: 'Ihre Kunden sehen ihn auf der Zahlungsseite und auf Belegen.',
    country: 'Land',
    noCountry: 'Keine Angabe',
    phone: 'Telefon',
    website: 'Website',
    email: 'E-Mail',
    emailHint: 'Wir schreiben dorthin nur wegen Ihrer Wallet und Ihrer Anmeldung.',
    tooLong: 'Höchstens {limit} Zeichen.',
    notACountry: 'Wählen Sie ein Land aus der Liste.',
    notAnEmail: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    goToWallet: 'Weiter zu Ihrer Wallet',
    whichWallet: 'Welche Wallet wird bezahlt?',
    whichRest: 'Beim Verbinden sehen wir nur ihre Adresse. Im nächsten Schritt signieren Sie mit ihr.',
    announced: '{partner} hat die Wallet {wallet} genannt. Verbinden Sie diese.',
    changeDetails: 'Angaben ändern',
    signTitle: 'Melden Sie sich mit Ihrer Wallet an',
    signRest:
      'Das zeigt, dass die Wallet Ihnen gehört. Es kostet nichts, bewegt nichts und erlaubt niemandem, Geld von Ihnen zu nehmen.',
    wallet: 'Ihre Wallet',
    changeWallet: 'Andere Wallet nehmen',
    terms: 'Die Bedingungen, Version {version}',
    termsTranslated:
      'Diese Übersetzung hilft beim Lesen. Der englische Text darunter ist der, den Sie annehmen und der gilt.',
    termsBinding: 'Der englische Text, der gilt',
    accept: 'Ich habe die Bedingungen, Version {version}, gelesen und nehme sie an.',
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
