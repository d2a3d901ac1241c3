import type { MailTexts } from '../mails.ts';

export const de: MailTexts<'de'> = {
  code: {
    subject: '{code} ist Ihr Code',
    body: 'Ihr Code:\n\n{code}\n\nEr gilt 15 Minuten. {partner} hat Sie eingeladen, Zahlungen in Stablecoins zu empfangen; geben Sie den Code auf der Seite ein, die Sie geöffnet haben.\n\nWenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail: Ohne den Code kommt niemand weiter.',
  },
  signIn: 'Anmelden',
  wallet: {
    unnamed: 'Ein Händler',
    about: 'Händler: {merchant}\nHändler-ID: {account}\nEingeladen von: {partner}',
    stop: 'Wiederherstellung stoppen',
    changed: {
      subject: '{merchant}: Ihre Wallet wurde gewechselt',
      body: 'Neue Anforderungen werden ab jetzt an diese Wallet bezahlt:\n\n{newWallet}\n\nBisher war es diese:\n\n{oldWallet}\n\nBeide Wallets haben den Wechsel signiert. Bestehende Anforderungen werden weiter an die bisherige Wallet bezahlt. Automatische Abbuchungen ruhen, bis jeder Kunde neu zugestimmt hat.',
    },
    recovery_started: {
      subject: '{merchant}: Eine Wiederherstellung der Wallet wurde gestartet',
      body: 'Diese Wallet wurde als verloren gemeldet, deshalb wurde ihre Wiederherstellung gestartet:\n\n{oldWallet}\n\nNoch hat sich nichts geändert: Zuerst muss eine neue Wallet signieren, danach müssen 48 Stunden vergehen.\n\nWenn die Wallet nicht verloren ist, signieren Sie mit ihr, um die Wiederherstellung zu stoppen:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: Zahlungen gehen in 48 Stunden an eine andere Wallet',
      body: 'Ab {time} werden neue Anforderungen an diese Wallet bezahlt:\n\n{newWallet}\n\nBis dahin werden sie an diese bezahlt:\n\n{oldWallet}\n\nWenn das nicht stimmt, signieren Sie vorher mit der aktuellen Wallet, um es zu stoppen:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: Ihre Wallet wurde wiederhergestellt',
      body: 'Neue Anforderungen werden ab jetzt an diese Wallet bezahlt:\n\n{newWallet}\n\nBisher war es diese, die 48 Stunden lang nicht widersprochen hat:\n\n{oldWallet}\n\nBestehende Anforderungen werden weiter an die bisherige Wallet bezahlt. Automatische Abbuchungen ruhen, bis jeder Kunde neu zugestimmt hat.',
    },
    displaced: {
      subject: '{merchant}: Jemand anders hat mit der Wallet signiert',
      body: 'Diese Wallet wurde beim Anlegen des Händlers genannt, aber der Händler hat nie mit ihr signiert:\n\n{oldWallet}\n\nNun hat jemand anders mit ihr signiert, deshalb gehört sie jetzt dorthin. Der Händler hat zurzeit keine Wallet und kann die Einrichtung mit einer anderen abschließen. Keine Zahlung ist betroffen.',
    },
    recovery_stopped: {
      subject: '{merchant}: Die Wiederherstellung der Wallet wurde gestoppt',
      body: 'Es ändert sich nichts. Zahlungen gehen weiter an diese Wallet:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Sie wurde mit der aktuellen Wallet gestoppt.',
      partner: 'Sie wurde von dem abgebrochen, der sie gestartet hat.',
      time: 'Bis der Link zur Wiederherstellung ablief, hat keine neue Wallet signiert.',
    },
  },
  endpoint: {
    testSubject: 'Ihr Test-Webhook wurde deaktiviert',
    liveSubject: 'Ihr Live-Webhook wurde deaktiviert',
    body: 'An diese URL senden wir keine Ereignisse mehr:\n\n{url}\n\n{reason}\n\nKeine Zahlung ist betroffen und kein Ereignis geht verloren: Neue Ereignisse warten. Beheben Sie das Problem an Ihrem Endpunkt, und aktivieren Sie den Webhook dann wieder oder hinterlegen Sie eine neue URL. Wartende Ereignisse werden sofort gesendet; fehlgeschlagene können erneut gesendet werden.\n\n{link}',
    gone: 'Sie hat mit 410 Gone geantwortet.',
    failing: 'Seit 120 Stunden ist keine Zustellung gelungen.',
    open: 'Webhooks öffnen',
  },
};
