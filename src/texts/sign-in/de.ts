import type { SignInTexts } from '../sign-in.ts';

export const de: SignInTexts<'de'> = {
  signIn: {
    title: 'Anmelden',
    heading: 'Am Dashboard anmelden',
    rest: 'Verwenden Sie die Wallet, in der Sie Zahlungen empfangen.',
    signHeading: 'Signieren Sie die Nachricht',
    signRest: 'Es kostet nichts und bewegt nichts.',
    signIn: 'Anmelden',
    another: 'Andere Wallet verwenden',
    lost: 'Wallet verloren? Bitten Sie den Partner, der Sie eingeladen hat, eine Wiederherstellung zu starten.',
    /** After a form was sent without a session. */
    unsaved:
      'Sie sind nicht mehr angemeldet, deshalb wurde nichts gespeichert. Melden Sie sich an, und wiederholen Sie den Schritt.',
    kept: 'Was Sie eingegeben haben, bleibt 30 Minuten lang in diesem Browser und wird nach der Anmeldung wieder eingetragen.',
  },
  signInUser: {
    portalTitle: 'Am Portal anmelden',
    adminTitle: 'Bei der Verwaltung anmelden',
    rest: 'Wir senden Ihnen einen Anmeldelink per E-Mail. Ein Passwort brauchen Sie nicht.',
    email: 'E-Mail',
    notAnEmail: 'Das sieht nicht wie eine E-Mail-Adresse aus.',
    send: 'Link an mich senden',
    sent: 'Sehen Sie in Ihrem Postfach nach',
    sentRest:
      'Wenn sich diese Adresse hier anmelden darf, ist ein Link unterwegs. Öffnen Sie ihn innerhalb von 15 Minuten in diesem Browser. Nichts da? Sehen Sie im Spam-Ordner nach, oder fragen Sie die Person, die Sie eingeladen hat.',
    again: 'Neuen Link anfordern',
    enough: 'Wir haben vorerst genug Links an diese Adresse gesendet',
    enoughRest:
      'Öffnen Sie den neuesten, oder warten Sie 15 Minuten und versuchen Sie es noch einmal. Hilft das nicht, bitten Sie die Person, die Sie eingeladen hat, um eine neue Einladung.',
    open: 'Als {email} anmelden',
    openRest: 'Dieser Link meldet Sie einmal an, in diesem Browser.',
    choose: 'Sie haben Zugang zu mehreren Bereichen. Wohin möchten Sie?',
    signIn: 'Anmelden',
    signInTo: 'Bei {partner} anmelden',
    unknown: 'Dieser Link ist ungültig',
    unknownRest: 'Vielleicht ist er unvollständig oder nicht mehr gültig. Fordern Sie hier einen neuen an.',
    used: 'Dieser Link wurde schon verwendet',
    usedRest:
      'Jeder Link funktioniert nur einmal. Fordern Sie hier einen neuen an. Wenn Sie ihn nicht verwendet haben, sagen Sie es der Person, die Sie eingeladen hat.',
    expired: 'Dieser Link ist abgelaufen',
    expiredRest: 'Links gelten 15 Minuten. Fordern Sie hier einen neuen an.',
    otherBrowser: 'Dieser Link wurde in einem anderen Browser angefordert',
    otherBrowserRest:
      'Zu Ihrer Sicherheit funktioniert er nur in dem Browser, in dem er angefordert wurde. Öffnen Sie ihn dort, oder fordern Sie hier einen neuen an. Wenn Sie ihn nicht angefordert haben, ignorieren Sie ihn.',
    mailSubject: 'Ihr Anmeldelink für {place}',
    mailBody:
      'Melden Sie sich bei {place} an:\n\n{link}\n\nDer Link gilt 15 Minuten, einmal, und nur in dem Browser, in dem er angefordert wurde.\nWenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail: In einem anderen Browser kann ihn niemand verwenden.\n',
    inviteSubject: 'Sie sind zu {place} eingeladen',
    inviteBody:
      'Sie können sich jetzt bei {place} anmelden:\n\n{link}\n\nDer Link gilt 15 Minuten und einmal. Geben Sie ihn nicht weiter.\nSpäter, oder wenn er abgelaufen ist, fordern Sie mit Ihrer E-Mail-Adresse einen Link an: {signIn}\n',
  },
  confirmAct: {
    title: 'Bestätigen Sie, dass Sie es sind',
    why: 'Diese Änderung betrifft die Sicherheit oder wohin Geld und Ereignisse gehen, und Ihre Anmeldung ist mehr als zehn Minuten her. Noch wurde nichts geändert; Ihre Eingaben auf dieser Seite bleiben erhalten.',
    byMail:
      'Wir senden einen Link an {email}. Öffnen Sie ihn in diesem Browser, um sich anzumelden; kommen Sie dann auf diese Seite zurück und machen Sie weiter.',
    sendLink: 'Link per E-Mail senden',
    goOn: 'Weiter',
  },
  passkey: {
    signIn: 'Mit einem Passkey anmelden',
    none: 'Passkeys sind in diesem Browser oder unter dieser Adresse nicht verfügbar. Öffnen Sie die Seite in einem Browser, der sie unterstützt, mit aktiviertem JavaScript.',
    linkNeedsOne: 'Ein Passkey schützt dieses Konto. Verwenden Sie ihn, um die Anmeldung abzuschließen.',
    linkNeedsOneFor: 'Ein Passkey schützt {partners}; der Link allein genügt nicht.',
    refused: 'Dieser Passkey hat Sie nicht angemeldet',
    heading: 'Passkeys',
    rest: 'Ein Passkey meldet Sie mit Fingerabdruck, Gesicht oder PIN an. Sobald Sie einen haben, funktionieren Links per E-Mail allein nicht mehr. Fügen Sie auf einem anderen Gerät einen zweiten hinzu, falls Sie den ersten verlieren.',
    name: 'Name',
    nameHint: 'Damit Sie ihn später wiedererkennen.',
    add: 'Passkey hinzufügen',
    created: 'Hinzugefügt',
    lastUsed: 'Zuletzt verwendet',
    never: 'Nie',
    remove: {
      label: 'Entfernen',
      title: 'Den Passkey {name} entfernen?',
      rest: 'Sie können sich damit nicht mehr anmelden. Löschen Sie ihn auch auf dem Gerät.',
      lastRest:
        'Es ist Ihr einziger: Ohne ihn genügt wieder ein Link per E-Mail zur Anmeldung. Löschen Sie ihn auch auf dem Gerät.',
    },
    confirm: 'Passkey verwenden',
    confirmRest: 'Ihre Anmeldung ist schon länger her. Verwenden Sie einen Passkey, bevor Sie hier etwas ändern.',
    signInAnew: 'Ihre Anmeldung ist schon länger her. Melden Sie sich ab und wieder an, bevor Sie hier etwas ändern.',
    done: {
      added: 'Der Passkey wurde hinzugefügt. Sie können sich ab jetzt damit anmelden.',
      removed: 'Der Passkey wurde entfernt.',
      confirmed: 'Sie können Ihre Passkeys jetzt zehn Minuten lang ändern.',
    },
    refusals: {
      unknown: 'Wir kennen ihn nicht. Vielleicht wurde er entfernt oder gehört zu einem anderen Konto oder Dienst.',
      expired: 'Das hat länger als fünf Minuten gedauert oder wurde zweimal abgesendet. Versuchen Sie es noch einmal.',
      copied:
        'Möglicherweise gibt es eine Kopie von ihm, deshalb wurde er abgelehnt. Melden Sie sich mit einem anderen Passkey an und entfernen Sie diesen, oder bitten Sie einen Inhaber, Ihre Passkeys zu entfernen.',
      not_made:
        'Es wurde kein Passkey hinzugefügt: Die Antwort des Browsers war ungültig. Versuchen Sie es noch einmal.',
      stale: 'Nichts wurde geändert: Sie haben sich vor mehr als zehn Minuten angemeldet.',
      enough: 'Es wurde kein Passkey hinzugefügt: Mehr als zwanzig sind nicht möglich. Entfernen Sie zuerst einen.',
    },
    browser: {
      waiting: 'Folgen Sie den Anweisungen Ihres Browsers.',
      declined:
        'Es wurde nichts geändert: Sie haben abgelehnt, es gibt keinen Passkey für diese Adresse, oder es hat zu lange gedauert.',
      known: 'Auf diesem Gerät gibt es schon einen Passkey für Ihr Konto.',
      failed:
        'In Ihrem Browser ist etwas schiefgegangen. Es wurde nichts geändert. Versuchen Sie es noch einmal, oder verwenden Sie ein anderes Gerät.',
      unreachable: 'Wir waren nicht erreichbar. Es wurde nichts geändert. Versuchen Sie es gleich noch einmal.',
    },
    mails: {
      added: {
        subject: 'Ihrem Konto bei {place} wurde ein Passkey hinzugefügt',
        body: 'Ihrem Konto bei {place} wurde ein Passkey hinzugefügt. Ab jetzt ist er zum Anmelden erforderlich.\n\nWenn Sie das nicht waren, sagen Sie es sofort einem Inhaber von {place} oder der Person, die Sie eingeladen hat.\n',
      },
      removed: {
        subject: 'Von Ihrem Konto bei {place} wurden Passkeys entfernt',
        body: 'Von Ihrem Konto bei {place} wurden ein oder mehrere Passkeys entfernt. Ist keiner mehr übrig, genügt ein Link an diese Adresse zur Anmeldung.\n\nWenn Sie nicht darum gebeten haben, sagen Sie es sofort einem Inhaber von {place} oder der Person, die Sie eingeladen hat.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} ist deaktiviert. Sie können nachsehen, aber nichts ändern.',
    notWhileOff: 'Nicht verfügbar, solange {partner} deaktiviert ist',
    notAllowed: 'Ihre Rolle erlaubt das nicht',
    notAllowedRest:
      'Es wurde nichts geändert. Ein Inhaber von {partner} kann es tun oder Ihnen eine andere Rolle geben.',
    signedInAs: 'Angemeldet als {email}',
    sessions: 'Wo Sie angemeldet sind',
    browser: 'Browser',
    from: 'IP-Adresse',
    lastSeen: 'Zuletzt verwendet',
    since: 'Angemeldet',
    thisOne: 'Dieser Browser',
    unknownBrowser: 'Unbekannter Browser',
    signOutThere: 'Dort abmelden',
    signedOutThere: 'Der andere Browser ist abgemeldet.',
    roles: { owner: 'Inhaber', developer: 'Entwickler', viewer: 'Betrachter' },
    refusals: {
      email_invalid: 'Das sieht nicht wie eine E-Mail-Adresse aus. Es wurde keine Einladung gesendet.',
      role_differs:
        'Dieser Benutzer gehört schon zum Team, mit einer anderen Rolle. Ändern Sie die Rolle dort; es wurde keine Einladung gesendet.',
      user_disabled:
        'Dieser Benutzer wurde entfernt. Stellen Sie zuerst seinen Zugang wieder her; es wurde keine Einladung gesendet.',
      user_unknown: 'Diesen Benutzer gibt es hier nicht. Es wurde nichts geändert.',
      last_owner:
        'Das ist der einzige Inhaber. Machen Sie zuerst jemand anderen zum Inhaber; es wurde nichts geändert.',
      too_many_invitations:
        'Sie können zehn Einladungen pro Minute senden. Warten Sie eine Minute; es wurde keine Einladung gesendet.',
      team_full: 'Ein Team hat höchstens 1000 Personen, entfernte mitgezählt. Niemand wurde eingeladen.',
      invited_enough:
        'An diese Adresse gingen gerade mehrere Einladungen. Bitten Sie die Person, die neueste zu öffnen, oder versuchen Sie es in 15 Minuten noch einmal; es wurde keine Einladung gesendet.',
      invited_today:
        'An diese Adresse gingen heute genug Einladungen. Bitten Sie die Person, die neueste zu öffnen, oder versuchen Sie es morgen noch einmal; es wurde keine Einladung gesendet.',
    },
  },
};
