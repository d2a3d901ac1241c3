import type { WalletTexts } from '../wallets.ts';

export const es: WalletTexts<'es'> = {
  signing: {
    manual: 'A mano',
    address: 'Dirección de la billetera',
    addressHint: '0x y 40 cifras o letras.',
    network: 'Red para iniciar sesión',
    useAddress: 'Usar esta dirección',
    message: 'Mensaje que se firma',
    signHint: 'Firme este mensaje en su billetera, letra por letra; las billeteras lo llaman «firmar mensaje».',
    signature: 'Firma',
    signatureHint: 'El resultado, desde 0x hasta el final.',
    connectWith: 'Conectar con {wallet}',
    phoneRest: 'Escanee con la cámara de su teléfono. Esta página se abre allí y usted continúa con su billetera.',
    told: {
      connect: 'Conectar {wallet}',
      sign: 'Firmar con {wallet}',
      browserWallet: 'la billetera del navegador',
      none: 'No se encontró ninguna billetera en este navegador. Abra esta página en el navegador de la aplicación de su billetera o continúe a mano.',
      noneScan:
        'No se encontró ninguna billetera en este navegador. Escanee el código con su teléfono para continuar allí, o continúe a mano.',
      noneOnPhone:
        'Este navegador no tiene billetera. Abra esta página en la aplicación de su billetera para continuar.',
      pairing: 'Preparando un código para su billetera…',
      away: 'No se puede conectar con {wallet} en este momento. No se ha cambiado nada. Continúe de otra forma o vuelva a intentarlo más tarde.',
      copied: 'Copiado',
      opening: 'Abra {wallet} y permita que esta página vea su dirección.',
      waiting: 'Confirme la firma en {wallet}.',
      sending: 'Firmado. Un momento.',
      rejected: 'Se rechazó en {wallet}. No se firmó ni cambió nada. Vuelva a intentarlo cuando quiera.',
      pending: 'Hay una pregunta anterior sin responder en {wallet}. Ábrala y responda allí.',
      noAccount: 'No se recibió ninguna dirección de {wallet}. Desbloquéela y vuelva a intentarlo.',
      wrongNetwork:
        'La red de {wallet} no se ofrece aquí. Cámbiela a {networks} en la billetera y vuelva a intentarlo.',
      otherAccount: 'Hay otra cuenta abierta en {wallet}. Elija {address} y vuelva a intentarlo.',
      failed: 'No se pudo hacer con {wallet}. No se cambió nada. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Este enlace no es nuestro',
      rest: 'Ábralo de nuevo completo, tal como lo recibió, o pida uno nuevo a quien se lo envió.',
    },
    link_expired: {
      title: 'Este enlace ha caducado',
      rest: 'Los enlaces valen siete días. Pida uno nuevo a quien se lo envió; lo que escribió se conserva.',
    },
    link_used: {
      title: 'Ya está configurado',
      rest: 'El alta se completó con este enlace. Inicie sesión con su billetera para abrir su panel. Si no la completó usted, pregunte a quien le envió el enlace.',
    },
    email_code_needed: {
      title: 'Falta el código del correo',
      rest: 'Primero pida que se le envíe un código y escríbalo.',
    },
    email_code_wrong: {
      title: 'Este código no es correcto',
      rest: 'Mire el correo más reciente y escriba sus seis cifras.',
    },
    email_code_expired: {
      title: 'Este código ha caducado',
      rest: 'Los códigos valen 15 minutos. Pida que se le envíe uno nuevo.',
    },
    email_code_exhausted: {
      title: 'Demasiados códigos incorrectos',
      rest: 'Por seguridad, de momento no se acepta ningún código. Espere 15 minutos y pida uno nuevo.',
    },
    email_code_just_sent: {
      title: 'Se acaba de enviar un código',
      rest: 'Mire en su correo, también en la carpeta de spam. Pasado un minuto se puede enviar otro.',
    },
    details_invalid: { title: 'Hay datos que revisar', rest: 'Están marcados abajo.' },
    wallet_malformed: {
      title: 'Esto no es una dirección de billetera',
      rest: 'Una dirección es 0x seguido de 40 cifras y letras de la a a la f.',
    },
    wallet_differs: {
      title: 'No es la billetera que se anunció',
      rest: 'El socio que le invitó indicó una billetera concreta. Use esa o pídale que la cambie.',
    },
    wallet_taken: {
      title: 'Esta billetera ya pertenece a otro comercio',
      rest: 'Una billetera sirve a un solo comercio. Use otra o, si esta es suya, pida ayuda a quien le invitó.',
    },
    wallet_same: { title: 'Es la billetera que ya tiene', rest: 'Indique la dirección de la nueva.' },
    wallet_unknown: {
      title: 'Ningún comercio cobra en esta billetera',
      rest: 'Inicie sesión con la billetera en la que cobra. Si aún no tiene ninguna aquí, abra el enlace de su invitación.',
    },
    wallet_not_deployed: {
      title: 'Esta billetera inteligente aún no está desplegada',
      rest: 'Tenemos que comprobar su firma con su código en una red. Haga con ella una primera transacción en una de las redes de aquí y vuelva a firmar.',
    },
    chain_unreachable: {
      title: 'No se pudo consultar la red sobre esta billetera',
      rest: 'No es culpa suya. No se cambió nada; vuelva a intentarlo en un minuto.',
    },
    chain_unknown: {
      title: 'Su billetera está en una red que no se ofrece aquí',
      rest: 'Cambie en la billetera a una de las redes que se ofrecen y vuelva a intentarlo.',
    },
    message_changed: {
      title: 'El mensaje firmado no es el que dimos',
      rest: 'Firme el mensaje nuevo exactamente como se muestra.',
    },
    message_used: {
      title: 'Este mensaje ya se usó o ha caducado',
      rest: 'Cada mensaje cuenta una vez y durante 15 minutos. Aquí hay uno nuevo.',
    },
    signature_invalid: {
      title: 'La firma no es de esta billetera',
      rest: 'Firme el mensaje entero con la billetera cuya dirección aparece en él.',
    },
    terms_not_accepted: {
      title: 'No se aceptaron las condiciones',
      rest: 'Léalas y marque la casilla si está de acuerdo.',
    },
    too_many_attempts: { title: 'Demasiados intentos', rest: 'Espere un minuto y continúe.' },
    merchant_unknown: {
      title: 'Ese comercio no existe',
      rest: 'No se cambió nada.',
    },
    not_onboarded: {
      title: 'Este comercio no ha terminado el alta',
      rest: 'Su enlace de alta acepta cualquier billetera, así que no hay nada que recuperar.',
    },
    recovery_signed: {
      title: 'Una billetera nueva ya ha firmado',
      rest: 'La sustituye cuando pasen sus 48 horas, salvo que antes se detenga.',
    },
    change_over: {
      title: 'Aquí no hay nada en curso',
      rest: 'Este cambio de billetera se completó, se detuvo o caducó. El panel muestra en qué billetera se cobra.',
    },
  },
  walletChange: {
    title: 'Cambiar de billetera',
    heading: 'Cambie la billetera en la que cobra',
    now: 'Ahora se cobra en',
    rest: 'Dos firmas: la billetera actual nombra a la nueva y después la nueva acepta. Las solicitudes abiertas se siguen pagando a la actual.',
    newWallet: 'La billetera nueva',
    step1: '1 de 2: firme con la billetera actual',
    step1Rest: 'Cede el paso a {wallet}.',
    step2: '2 de 2: firme con la billetera nueva',
    step2Rest: 'Después, las solicitudes nuevas se pagan a {wallet}.',
    sign: 'Firmar',
    cancel: 'Dejar todo como está',
    done: 'Su billetera se cambió',
    doneRest:
      'Las solicitudes nuevas se pagan a {wallet}. Las que ya estaban abiertas se siguen pagando a la anterior.',
    back: 'Volver al panel',
    lost: '¿Perdió la billetera actual? Pida a {partner} que inicie una recuperación.',
    underWay: 'Hay una recuperación de su billetera en curso',
    underWayRest: 'El {time} sus pagos pasan a {wallet}. Si no fue usted, deténgalo ahora.',
    started: 'Se inició una recuperación de su billetera',
    startedRest:
      '{partner} envió un enlace con el que puede firmar una billetera nueva. 48 horas después, sus pagos pasarían a ella. Si no fue usted, deténgalo ahora.',
    stop: 'Detener la recuperación',
    stopped: 'La recuperación se detuvo',
    stoppedRest: 'No cambia nada: se cobra en {wallet}.',
    stopHeading: 'Detener la recuperación de una billetera',
    stopRest: 'Firme con la billetera actual {wallet}. La recuperación se detiene al instante y no cambia nada.',
  },
  recovery: {
    title: 'Recuperar una billetera',
    heading: '{partner} inició una recuperación de su billetera',
    rest: 'Tome una billetera nueva y firme con ella. 48 horas después sus pagos pasan a ella, salvo que la anterior, {wallet}, se oponga.',
    signHeading: 'Firme con la billetera nueva',
    signRest: 'Pasadas 48 horas, las solicitudes nuevas se pagan a {wallet}.',
    sign: 'Firmar',
    waiting: 'Su billetera nueva ha firmado',
    waitingRest:
      'El {time} sus pagos pasan a {wallet}, salvo que la billetera anterior se oponga. No hay que hacer nada más.',
    applied: 'Sus pagos van a la billetera nueva',
    appliedRest: 'Inicie sesión con {wallet}.',
  },
};
