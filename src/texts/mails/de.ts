import type { MailTexts } from '../mails.ts';

export const de: MailTexts<'de'> = {
  code: {
    subject: '{code} ist Ihr Code',
    body: 'Ihr Code:\n\n{code}\n\nEr gilt 15 Minuten. {partner} hat Sie eingeladen, Zahlungen in Stablecoins zu empfangen; geben Sie den Code auf der Seite ein, die Sie geöffnet haben.\n\nWenn Sie ihn nicht angefordert haben, tun Sie nichts: Ohne den Code kommt niemand weiter.',
  },
  signIn: 'Anmelden',
  wallet: {
    unnamed: 'Ein Händler',
    about: 'Händler: {merchant}\nHändlernummer: {account}\nEingeladen von: {partner}',
    stop: 'Wiederherstellung stoppen',
    changed: {
      subject: '{merchant}: Die Wallet wurde gewechselt',
      body: 'Neue Zahlungsanforderungen werden ab jetzt an diese Wallet bezahlt:\n\n{newWallet}\n\nBisher war es diese:\n\n{oldWallet}\n\nBeide Wallets haben den Wechsel signiert. Anforderungen von vorher werden weiter an die frühere Wallet bezahlt.',
    },
    recovery_started: {
      subject: '{merchant}: Eine Wiederherstellung der Wallet wurde begonnen',
      body: 'Diese Wallet soll verloren sein, deshalb wurde ihre Wiederherstellung begonnen:\n\n{oldWallet}\n\nNoch hat sich nichts geändert: Zuerst muss eine neue Wallet signieren, danach müssen 48 Stunden vergehen.\n\nWenn die Wallet nicht verloren ist, stoppen Sie die Wiederherstellung, indem Sie mit ihr signieren:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: Zahlungen gehen in 48 Stunden an eine andere Wallet',
      body: 'Am {time} gehen neue Zahlungsanforderungen auf diese Wallet über:\n\n{newWallet}\n\nBis dahin werden sie an diese bezahlt:\n\n{oldWallet}\n\nWenn das nicht stimmt, stoppen Sie es vorher, indem Sie mit der jetzigen Wallet signieren:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: Die Wallet wurde wiederhergestellt',
      body: 'Neue Zahlungsanforderungen werden ab jetzt an diese Wallet bezahlt:\n\n{newWallet}\n\nBisher war es diese, und sie hat 48 Stunden lang nicht widersprochen:\n\n{oldWallet}\n\nAnforderungen von vorher werden weiter an die frühere Wallet bezahlt.',
    },
    displaced: {
      subject: '{merchant}: Jemand anders hat mit der Wallet signiert',
      body: 'Diese Wallet wurde beim Anlegen des Händlers genannt, und mit ihr wurde nie signiert:\n\n{oldWallet}\n\nNun hat jemand anders mit ihr signiert, also gehört sie dorthin. Der Händler steht ohne Wallet da: Er kann die Einrichtung mit einer anderen abschließen. Keine Zahlung ist betroffen.',
    },
    recovery_stopped: {
      subject: '{merchant}: Die Wiederherstellung der Wallet wurde gestoppt',
      body: 'Es ändert sich nichts. Zahlungen gehen weiter an diese Wallet:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Die jetzige Wallet hat die Wiederherstellung gestoppt.',
      partner: 'Wer die Wiederherstellung begonnen hat, hat sie zurückgenommen.',
      time: 'Solange der Link der Wiederherstellung galt, hat keine neue Wallet signiert.',
    },
  },
  endpoint: {
    testSubject: 'Ihr Webhook im Testmodus wurde abgeschaltet',
    liveSubject: 'Ihr Webhook im Live-Modus wurde abgeschaltet',
    body: 'An diese Adresse werden keine Ereignisse mehr gesendet:\n\n{url}\n\n{reason}\n\nKeine Zahlung ist betroffen und kein Ereignis verloren: Neue Ereignisse warten. Bringen Sie den Empfänger in Ordnung und schalten Sie den Webhook dann wieder ein, oder hinterlegen Sie seine URL neu. Was wartet, geht sofort hinaus; Ereignisse, deren Versuche vorher aufgebraucht waren, lassen sich noch einmal senden.\n\n{link}',
    gone: 'Sie hat mit 410 geantwortet: Dort ist nichts mehr.',
    failing: 'Seit 120 Stunden ist keine Zustellung gelungen.',
    open: 'Seite der Webhooks öffnen',
  },
};
