import type { MailTexts } from '../mails.ts';

export const es: MailTexts<'es'> = {
  code: {
    subject: '{code} es su código',
    body: 'Su código:\n\n{code}\n\nCaduca en 15 minutos. {partner} le invitó a recibir pagos en stablecoins; introduzca el código en la página que abrió.\n\nSi no lo pidió usted, ignore este correo: nadie puede continuar sin el código.',
  },
  signIn: 'Iniciar sesión',
  wallet: {
    unnamed: 'Un comercio',
    about: 'Comercio: {merchant}\nID del comercio: {account}\nInvitado por: {partner}',
    stop: 'Detener la recuperación',
    changed: {
      subject: '{merchant}: se cambió su billetera',
      body: 'Las solicitudes nuevas se pagan ahora a esta billetera:\n\n{newWallet}\n\nHasta ahora se pagaban a esta:\n\n{oldWallet}\n\nLas dos billeteras firmaron el cambio. Las solicitudes existentes se siguen pagando a la billetera anterior. Los cobros automáticos se detienen hasta que cada cliente vuelva a aceptar.',
    },
    recovery_started: {
      subject: '{merchant}: se inició una recuperación de la billetera',
      body: 'Se informó de la pérdida de esta billetera y se inició su recuperación:\n\n{oldWallet}\n\nTodavía no ha cambiado nada: primero debe firmar una billetera nueva y después deben pasar 48 horas.\n\nSi la billetera no se ha perdido, firme con ella para detener la recuperación:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: los pagos pasarán a otra billetera en 48 horas',
      body: 'A partir del {time}, las solicitudes nuevas se pagarán a esta billetera:\n\n{newWallet}\n\nHasta entonces se pagan a esta:\n\n{oldWallet}\n\nSi no es correcto, firme antes con la billetera actual para detenerlo:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: se recuperó su billetera',
      body: 'Las solicitudes nuevas se pagan ahora a esta billetera:\n\n{newWallet}\n\nHasta ahora se pagaban a esta, que no se opuso en 48 horas:\n\n{oldWallet}\n\nLas solicitudes existentes se siguen pagando a la billetera anterior. Los cobros automáticos se detienen hasta que cada cliente vuelva a aceptar.',
    },
    displaced: {
      subject: '{merchant}: otra persona inició sesión con su billetera',
      body: 'Al crear este comercio usted indicó esta billetera, pero el comercio nunca inició sesión con ella:\n\n{oldWallet}\n\nAhora lo ha hecho otra persona, así que la billetera es suya. El comercio queda sin billetera y puede terminar el alta con otra. Ningún pago se ve afectado.',
    },
    recovery_stopped: {
      subject: '{merchant}: se detuvo la recuperación de la billetera',
      body: 'No cambia nada. Los pagos siguen llegando a esta billetera:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Se detuvo con la billetera actual.',
      partner: 'La canceló quien la había iniciado.',
      time: 'Ninguna billetera nueva firmó antes de que caducara el enlace de recuperación.',
    },
  },
  endpoint: {
    testSubject: 'Su webhook de prueba se desactivó',
    liveSubject: 'Su webhook real se desactivó',
    body: 'Ya no enviamos eventos a esta URL:\n\n{url}\n\n{reason}\n\nNingún pago se ve afectado y no se pierde ningún evento: los nuevos quedan en espera. Corrija su endpoint y vuelva a activar el webhook o indique otra URL. Los eventos en espera se envían al instante; los fallidos se pueden reenviar.\n\n{link}',
    gone: 'Respondió 410 Gone.',
    failing: 'Ningún envío ha tenido éxito en 120 horas.',
    open: 'Abrir webhooks',
  },
};
