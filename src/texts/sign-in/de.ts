import type { SignInTexts } from '../sign-in.ts';

export const de: SignInTexts<'de'> = {
  signIn: {
    title: 'Anmelden',
    heading: 'Am Dashboard anmelden',
    rest: 'Mit der Wallet, auf die Sie bezahlt werden.',
    signHeading: 'Signieren Sie die Nachricht',
    signRest: 'Es kostet nichts und bewegt nichts.',
    signIn: 'Anmelden',
    another: 'Andere Wallet nehmen',
    lost: 'Wallet verloren? Bitten Sie den Partner, der Sie eingeladen hat, eine Wiederherstellung zu beginnen.',
  },
  signInUser: {
    portalTitle: 'Am Portal anmelden',
    adminTitle: 'An der Verwaltung anmelden',
    rest: 'Wir senden einen Link an Ihre E-Mail-Adresse. Er meldet Sie an; ein Passwort gibt es nicht.',
    email: 'E-Mail',
    notAnEmail: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    send: 'Link an mich senden',
    sent: 'Sehen Sie in Ihr Postfach',
    sentRest:
      'Wenn sich diese Adresse hier anmelden darf, ist ein Link unterwegs. Öffnen Sie ihn innerhalb von 15 Minuten in diesem Browser. Nichts da? Sehen Sie im Spam-Ordner nach, oder fragen Sie, wer Sie eingeladen hat.',
    again: 'Um einen neuen Link bitten',
    enough: 'An diese Adresse gingen vorerst genug Links',
    enoughRest:
      'Öffnen Sie den neuesten, oder warten Sie 15 Minuten und bitten Sie dann noch einmal. Hilft das nicht, lassen Sie sich noch einmal einladen.',
    open: 'Als {email} anmelden',
    openRest: 'Dieser Link meldet Sie einmal an, in diesem Browser.',
    choose: 'Sie gehören zu mehreren Orten. Wohin möchten Sie?',
    signIn: 'Anmelden',
    signInTo: 'Bei {partner} anmelden',
    unknown: 'Dieser Link ist nicht von uns',
    unknownRest: 'Vielleicht ist er unvollständig, oder wofür er war, ist vorbei. Bitten Sie hier um einen neuen.',
    used: 'Dieser Link hat seinen Dienst getan',
    usedRest:
      'Jeder Link meldet einmal an. Bitten Sie hier um einen neuen. Wenn nicht Sie ihn verwendet haben, fragen Sie, wer Sie eingeladen hat.',
    expired: 'Dieser Link ist abgelaufen',
    expiredRest: 'Links gelten 15 Minuten. Bitten Sie hier um einen neuen.',
    otherBrowser: 'Um diesen Link wurde in einem anderen Browser gebeten',
    otherBrowserRest:
      'Er gilt nur dort, damit sich niemand mit einem Link anmelden kann, der Ihnen gesendet wurde. Öffnen Sie ihn dort, oder bitten Sie hier um einen neuen. Wenn Sie nicht darum gebeten haben, tun Sie nichts.',
    mailSubject: 'Ihr Link zur Anmeldung bei {place}',
    mailBody:
      'Melden Sie sich bei {place} an:\n\n{link}\n\nDer Link gilt 15 Minuten, einmal, und nur in dem Browser, in dem um ihn gebeten wurde.\nWenn Sie nicht um ihn gebeten haben, tun Sie nichts: Anderswo kann sich niemand damit anmelden.\n',
    inviteSubject: 'Sie sind zu {place} eingeladen',
    inviteBody:
      'Sie können sich jetzt bei {place} anmelden:\n\n{link}\n\nDer Link gilt 15 Minuten und einmal. Geben Sie ihn nicht weiter.\nSpäter, oder wenn er abgelaufen ist, bitten Sie mit Ihrer E-Mail-Adresse um einen Link: {signIn}\n',
  },
  confirmAct: {
    title: 'Bestätigen Sie, dass Sie es sind',
    why: 'Das ändert, wer handeln darf oder wohin Geld und Ereignisse gehen, und Ihre Anmeldung ist mehr als zehn Minuten her. Noch ist nichts geschehen; was Sie gesendet haben, bleibt auf dieser Seite.',
    byMail:
      'Lassen Sie sich einen Link an {email} schicken und melden Sie sich damit in diesem Browser an. Kommen Sie dann auf diese Seite zurück und machen Sie weiter.',
    sendLink: 'Link schicken',
    goOn: 'Weiter',
  },
  passkey: {
    signIn: 'Mit einem Passkey anmelden',
    none: 'Passkeys gehen in diesem Browser oder unter dieser Adresse nicht. Öffnen Sie die Seite in einem Browser, der sie kennt, mit eingeschaltetem JavaScript.',
    linkNeedsOne: 'Zu diesem Konto gehört ein Passkey, der Link allein öffnet es nicht. Zeigen Sie auch Ihren Passkey.',
    linkNeedsOneFor: '{partners} öffnet ein Passkey, der Link allein nicht.',
    refused: 'Dieser Passkey hat Sie nicht angemeldet',
    heading: 'Passkeys',
    rest: 'Ein Passkey meldet Sie mit Finger, Gesicht oder PIN an. Sobald Sie einen haben, meldet ein Link per E-Mail allein Sie nicht mehr an. Fügen Sie auf einem anderen Gerät einen zweiten hinzu, dann schadet es nicht, einen zu verlieren.',
    name: 'Name',
    nameHint: 'Damit Sie ihn wiedererkennen.',
    add: 'Passkey hinzufügen',
    created: 'Hinzugefügt',
    lastUsed: 'Zuletzt benutzt',
    never: 'Nie',
    remove: {
      label: 'Entfernen',
      title: 'Den Passkey {name} entfernen?',
      rest: 'Er meldet Sie dann nicht mehr an. Löschen Sie ihn auch auf dem Gerät.',
      lastRest:
        'Es ist Ihr einziger: Danach meldet Sie wieder ein Link per E-Mail allein an. Löschen Sie ihn auch auf dem Gerät.',
    },
    confirm: 'Passkey zeigen',
    confirmRest: 'Sie haben sich vor einer Weile angemeldet. Zeigen Sie einen Passkey, bevor Sie hier etwas ändern.',
    signInAnew:
      'Sie haben sich vor einer Weile angemeldet. Melden Sie sich ab und neu an, bevor Sie hier etwas ändern.',
    done: {
      added: 'Der Passkey ist hinzugefügt. Er meldet Sie von jetzt an an.',
      removed: 'Der Passkey ist entfernt.',
      confirmed: 'Sie können Ihre Passkeys jetzt zehn Minuten lang ändern.',
    },
    refusals: {
      unknown: 'Er ist hier nicht bekannt. Vielleicht wurde er entfernt oder gehört zu einem anderen Konto oder Ort.',
      expired: 'Das hat länger als fünf Minuten gedauert oder wurde zweimal gesendet. Versuchen Sie es noch einmal.',
      copied:
        'Es scheint eine Kopie von ihm zu geben, deshalb wurde er abgelehnt. Melden Sie sich mit einem anderen Passkey an und entfernen Sie ihn, oder bitten Sie einen Inhaber, Ihre Passkeys zu entfernen.',
      not_made:
        'Es wurde kein Passkey hinzugefügt: Was der Browser gesendet hat, war nicht richtig. Versuchen Sie es noch einmal.',
      stale: 'Nichts wurde geändert: Sie haben sich vor mehr als zehn Minuten angemeldet.',
      enough: 'Es wurde kein Passkey hinzugefügt: Zwanzig sind das Höchste. Entfernen Sie zuerst einen.',
    },
    browser: {
      waiting: 'Ihr Browser fragt Sie jetzt.',
      declined:
        'Nichts ist geschehen: Sie haben abgelehnt, es gab keinen Passkey für diese Adresse, oder es hat zu lange gedauert.',
      known: 'Dieses Gerät hat schon einen Passkey von Ihnen.',
      failed:
        'Ihr Browser konnte es nicht. Nichts wurde geändert. Versuchen Sie es noch einmal oder mit einem anderen Gerät.',
      unreachable: 'Wir haben nicht geantwortet. Nichts wurde geändert. Versuchen Sie es gleich noch einmal.',
    },
    mails: {
      added: {
        subject: 'Ihrem Konto bei {place} wurde ein Passkey hinzugefügt',
        body: 'Ihrem Konto bei {place} wurde ein Passkey hinzugefügt. Von jetzt an ist er zum Anmelden nötig.\n\nWenn Sie das nicht waren, sagen Sie es sofort einem Inhaber von {place} oder wem Sie die Einladung verdanken.\n',
      },
      removed: {
        subject: 'Von Ihrem Konto bei {place} wurde ein Passkey entfernt',
        body: 'Von Ihrem Konto bei {place} wurde ein Passkey entfernt, oder alle. Ohne Passkey meldet ein Link an diese Adresse an.\n\nWenn Sie nicht darum gebeten haben, sagen Sie es sofort einem Inhaber von {place} oder wem Sie die Einladung verdanken.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} ist abgeschaltet. Alles kann noch gelesen und nichts geändert werden.',
    notAllowed: 'Ihre Rolle erlaubt das nicht',
    notAllowedRest:
      'Es wurde nichts geändert. Ein Inhaber von {partner} kann es tun oder Ihnen eine andere Rolle geben.',
    signedInAs: 'Angemeldet als {email}',
    sessions: 'Wo Sie angemeldet sind',
    browser: 'Browser',
    from: 'Von',
    lastSeen: 'Zuletzt verwendet',
    since: 'Angemeldet',
    thisOne: 'Dieser Browser',
    unknownBrowser: 'Keine Angabe',
    signOutThere: 'Dort abmelden',
    signedOutThere: 'Der andere Browser ist abgemeldet.',
    roles: { owner: 'Inhaber', developer: 'Entwickler', viewer: 'Betrachter' },
    refusals: {
      email_invalid: 'Das sieht nicht wie eine E-Mail-Adresse aus. Es wurde niemand eingeladen.',
      role_differs:
        'Diese Person gehört schon zum Team, mit einer anderen Rolle. Ändern Sie die Rolle dort; es wurde niemand eingeladen.',
      user_disabled:
        'Diese Person wurde abgeschaltet. Schalten Sie sie zuerst wieder ein; es wurde niemand eingeladen.',
      user_unknown: 'Diese Person gibt es hier nicht. Es wurde nichts geändert.',
      last_owner:
        'Das ist der einzige Inhaber. Machen Sie zuerst jemand anderen zum Inhaber; es wurde nichts geändert.',
      too_many_invitations:
        'Mehr als zehn Einladungen in der Minute gehen nicht. Warten Sie eine Minute; es wurde niemand eingeladen.',
      invited_enough:
        'An diese Adresse gingen eben schon mehrere Einladungen. Bitten Sie darum, die neueste zu öffnen, oder versuchen Sie es in 15 Minuten wieder; es wurde keine weitere gesendet.',
    },
  },
};
