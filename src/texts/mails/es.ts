import type { MailTexts } from '../mails.ts';

export const es: MailTexts<'es'> = {
  code: {
    subject: '{code} es su código',
    body: 'Su código:\n\n{code}\n\nVale 15 minutos. {partner} le invitó a cobrar en stablecoins; escriba el código en la página que abrió.\n\nSi no lo pidió usted, no haga nada: sin el código nadie puede continuar.',
  },
  signIn: 'Iniciar sesión',
  wallet: {
    unnamed: 'Un comercio',
    about: 'Comercio: {merchant}\nNúmero de comercio: {account}\nInvitado por: {partner}',
    stop: 'Detener la recuperación',
    changed: {
      subject: '{merchant}: se cambió la billetera',
      body: 'Las solicitudes de pago nuevas se pagan ahora a esta billetera:\n\n{newWallet}\n\nAntes se pagaban a esta:\n\n{oldWallet}\n\nLas dos billeteras firmaron el cambio. Las solicitudes anteriores se siguen pagando a la billetera de antes.',
    },
    recovery_started: {
      subject: '{merchant}: se inició una recuperación de la billetera',
      body: 'Se dio por perdida esta billetera y por eso se inició su recuperación:\n\n{oldWallet}\n\nTodavía no ha cambiado nada: primero debe firmar una billetera nueva y después deben pasar 48 horas.\n\nSi la billetera no se ha perdido, detenga la recuperación firmando con ella:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: en 48 horas los pagos pasan a otra billetera',
      body: 'El {time} las solicitudes de pago nuevas pasan a esta billetera:\n\n{newWallet}\n\nHasta entonces se pagan a esta:\n\n{oldWallet}\n\nSi no es correcto, deténgalo antes firmando con la billetera actual:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: se recuperó la billetera',
      body: 'Las solicitudes de pago nuevas se pagan ahora a esta billetera:\n\n{newWallet}\n\nAntes se pagaban a esta, que no se opuso en 48 horas:\n\n{oldWallet}\n\nLas solicitudes anteriores se siguen pagando a la billetera de antes.',
    },
    displaced: {
      subject: '{merchant}: otra persona firmó con su billetera',
      body: 'Esta billetera se indicó al crear el comercio y nunca se firmó con ella:\n\n{oldWallet}\n\nAhora otra persona ha firmado con ella, así que es suya. El comercio queda sin billetera: puede terminar el alta con otra. Ningún pago se ve afectado.',
    },
    recovery_stopped: {
      subject: '{merchant}: se detuvo la recuperación de la billetera',
      body: 'No cambia nada. Los pagos siguen yendo a esta billetera:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'La billetera actual detuvo la recuperación.',
      partner: 'Quien inició la recuperación la retiró.',
      time: 'Ninguna billetera nueva firmó mientras valía el enlace de la recuperación.',
    },
  },
  endpoint: {
    testSubject: 'Su webhook de prueba se desactivó',
    liveSubject: 'Su webhook de producción se desactivó',
    body: 'Ya no se envían eventos a esta dirección:\n\n{url}\n\n{reason}\n\nNingún pago se ve afectado y no se pierde ningún evento: los nuevos esperan. Arregle el receptor y después vuelva a activar el webhook o indique de nuevo su URL. Lo que espera sale al instante; los eventos que ya habían agotado sus intentos se pueden volver a enviar.\n\n{link}',
    gone: 'Respondió 410, es decir, que allí ya no hay nada.',
    failing: 'Llevaba 120 horas sin ningún envío correcto.',
    open: 'Abrir la página de webhooks',
  },
};
