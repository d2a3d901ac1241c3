import type { WalletTexts } from '../wallets.ts';

export const es: WalletTexts<'es'> = {
  signing: {
    manual: 'Introducir manualmente',
    address: 'Dirección de la billetera',
    addressHint: '0x seguido de 40 letras o cifras.',
    network: 'Red para iniciar sesión',
    useAddress: 'Usar esta dirección',
    message: 'Mensaje para firmar',
    signHint: 'Firme exactamente este mensaje en su billetera. Las billeteras lo llaman «firmar mensaje».',
    signature: 'Firma',
    signatureHint: 'Pegue el resultado completo, desde 0x.',
    connectWith: 'Conectar con {wallet}',
    phoneRest: 'Escanee con la cámara del teléfono. Esta página se abre allí y usted continúa con su billetera.',
    browser: {
      connect: 'Conectar {wallet}',
      sign: 'Firmar con {wallet}',
      browserWallet: 'la billetera de su navegador',
      none: 'No se encontró ninguna billetera en este navegador. Abra esta página en el navegador de su aplicación de billetera o continúe manualmente.',
      noneScan:
        'No se encontró ninguna billetera en este navegador. Escanee el código con el teléfono para continuar allí o introduzca los datos manualmente.',
      noneOnPhone: 'Este navegador no tiene billetera. Abra esta página en su aplicación de billetera para continuar.',
      pairing: 'Preparando un código para su billetera…',
      away: 'No se puede conectar con {wallet} en este momento. No se cambió nada. Continúe de otra forma o inténtelo más tarde.',
      copied: 'Copiado',
      opening: 'Abra {wallet} y permita que esta página vea su dirección.',
      waiting: 'Confirme la firma en {wallet}.',
      sending: 'Firmado. Un momento.',
      rejected: 'Usted lo rechazó en {wallet}. No se firmó ni cambió nada. Inténtelo de nuevo cuando quiera.',
      pending: '{wallet} sigue esperando su respuesta a una petición anterior. Ábrala y responda allí.',
      noAccount: '{wallet} no compartió ninguna dirección. Desbloquéela e inténtelo de nuevo.',
      wrongNetwork: '{wallet} está en una red que no está disponible aquí. Cámbiela a {networks} e inténtelo de nuevo.',
      otherAccount: '{wallet} está usando otra cuenta. Cambie a {address} e inténtelo de nuevo.',
      failed: 'Algo falló en {wallet}. No se cambió nada. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Este enlace no es válido',
      rest: 'Abra el enlace completo tal como lo recibió o pida otro a quien se lo envió.',
    },
    link_expired: {
      title: 'Este enlace ha caducado',
      rest: 'Los enlaces caducan a los siete días. Pida otro a quien se lo envió; lo que introdujo está guardado.',
    },
    link_replaced: {
      title: 'Este enlace se ha sustituido',
      rest: 'El socio que le invitó ha reiniciado el alta. Este enlace ya no funciona y lo que se introdujo con él se descartó. Pídale el nuevo enlace.',
    },
    link_used: {
      title: 'Ya está configurado',
      rest: 'El alta se completó con este enlace. Inicie sesión con su billetera para abrir su panel. Si no la completó usted, pregunte a quien le envió el enlace.',
    },
    email_code_needed: {
      title: 'Introduzca el código del correo',
      rest: 'Primero pida un código e introdúzcalo.',
    },
    email_code_wrong: {
      title: 'Este código es incorrecto',
      rest: 'Compruebe el correo más reciente e introduzca sus seis cifras.',
    },
    email_code_expired: {
      title: 'Este código ha caducado',
      rest: 'Los códigos caducan a los 15 minutos. Pida otro.',
    },
    email_code_exhausted: {
      title: 'Demasiados códigos incorrectos',
      rest: 'Por seguridad, los códigos están bloqueados por ahora. Espere 15 minutos y pida otro.',
    },
    email_code_just_sent: {
      title: 'Acabamos de enviarle un código',
      rest: 'Revise su bandeja de entrada y la carpeta de spam. Podrá pedir otro código en un minuto.',
    },
    email_code_too_often: {
      title: 'Hoy se han enviado demasiados códigos',
      rest: 'El código más reciente vale hasta 15 minutos después de enviarse. Podrá pedir otro mañana.',
    },
    details_invalid: { title: 'Hay datos que debe revisar', rest: 'Están marcados abajo.' },
    wallet_malformed: {
      title: 'Esto no es una dirección de billetera',
      rest: 'Una dirección es 0x seguido de 40 cifras y letras de la a a la f.',
    },
    wallet_differs: {
      title: 'No es la billetera esperada',
      rest: 'El socio que le invitó indicó una billetera concreta. Use esa o pídale que la cambie.',
    },
    wallet_taken: {
      title: 'Esta billetera ya pertenece a otro comercio',
      rest: 'Una billetera solo puede pertenecer a un comercio. Use otra. Si esta es suya, pida ayuda al socio que le invitó.',
    },
    wallet_same: { title: 'Esta ya es su billetera', rest: 'Introduzca la dirección de la nueva.' },
    changed_too_often: {
      title: 'Su billetera se ha cambiado demasiadas veces hoy',
      rest: 'No se ha cambiado nada. Continúe mañana.',
    },
    wallet_unknown: {
      title: 'Ningún comercio usa esta billetera',
      rest: 'Inicie sesión con la billetera en la que recibe los pagos. Si aún no ha configurado ninguna, abra el enlace de su invitación.',
    },
    wallet_not_deployed: {
      title: 'Esta billetera inteligente aún no está desplegada',
      rest: 'Para verificar su firma necesitamos su código en una red. Haga con ella una primera transacción en una de las redes disponibles aquí y vuelva a firmar.',
    },
    chain_unreachable: {
      title: 'No pudimos conectar con la red para comprobar esta billetera',
      rest: 'No es culpa suya. No se cambió nada; inténtelo de nuevo en un minuto.',
    },
    chain_unknown: {
      title: 'Su billetera está en una red que no está disponible aquí',
      rest: 'Cambie su billetera a una de las redes disponibles aquí e inténtelo de nuevo.',
    },
    message_changed: {
      title: 'El mensaje firmado no es el que se mostró',
      rest: 'Firme el mensaje nuevo exactamente como se muestra.',
    },
    message_used: {
      title: 'Este mensaje ya se usó o ha caducado',
      rest: 'Cada mensaje se puede usar una sola vez, en un plazo de 15 minutos. Aquí tiene uno nuevo.',
    },
    signature_invalid: {
      title: 'La firma no es de esta billetera',
      rest: 'Firme el mensaje completo con la billetera cuya dirección muestra.',
    },
    terms_not_accepted: {
      title: 'No se aceptaron las condiciones',
      rest: 'Léalas y marque la casilla si está de acuerdo.',
    },
    too_many_attempts: {
      title: 'Demasiados intentos',
      rest: 'Espere unos minutos, un cuarto de hora como mucho, y continúe.',
    },
    merchant_unknown: {
      title: 'Este comercio no existe',
      rest: 'No se cambió nada.',
    },
    not_onboarded: {
      title: 'Este comercio no ha terminado el alta',
      rest: 'Su enlace de alta acepta cualquier billetera, así que no hay nada que recuperar.',
    },
    recovery_expired: {
      title: 'Esta recuperación ha caducado',
      rest: 'Ninguna billetera nueva firmó en siete días, así que no cambió nada. Si aún la necesita, pida al socio que le envió el enlace que inicie otra.',
    },
    recovery_signed: {
      title: 'Ya firmó una billetera nueva',
      rest: 'Tomará el relevo cuando pasen sus 48 horas, salvo que antes se detenga la recuperación.',
    },
    change_over: {
      title: 'No hay nada que hacer aquí',
      rest: 'Este cambio de billetera se completó, se detuvo o caducó. El panel muestra qué billetera recibe los pagos.',
    },
  },
  walletChange: {
    title: 'Cambiar de billetera',
    heading: 'Cambiar la billetera en la que recibe los pagos',
    now: 'Billetera actual',
    rest: 'Hacen falta dos firmas: la billetera actual designa a la nueva y después la nueva acepta. Las solicitudes abiertas se siguen pagando a la billetera actual. Los cobros automáticos se detienen hasta que cada cliente vuelva a aceptar.',
    newWallet: 'Billetera nueva',
    step1: '1 de 2: firme con su billetera actual',
    step1Rest: 'Cede el paso a {wallet}.',
    step2: '2 de 2: firme con la billetera nueva',
    step2Rest: 'A partir de entonces, las solicitudes nuevas se pagan a {wallet}.',
    sign: 'Firmar',
    cancel: 'Cancelar y conservar mi billetera',
    done: 'Se cambió su billetera',
    doneRest:
      'Las solicitudes nuevas se pagan a {wallet}. Las que ya estaban abiertas se siguen pagando a la billetera anterior. Los cobros automáticos se detienen hasta que cada cliente vuelva a aceptar.',
    back: 'Volver al panel',
    lost: '¿Perdió su billetera actual? Pida a {partner} que inicie una recuperación.',
    underWay: 'Su billetera se está recuperando',
    underWayRest: 'El {time} sus pagos pasarán a {wallet}. Si no fue usted, deténgala ahora.',
    started: 'Se inició una recuperación de su billetera',
    startedRest:
      '{partner} envió un enlace con el que puede firmar una billetera nueva. 48 horas después, sus pagos pasarían a ella. Si no fue usted, deténgala ahora.',
    stop: 'Detener la recuperación',
    stopped: 'Se detuvo la recuperación',
    stoppedRest: 'No cambia nada: sigue recibiendo los pagos en {wallet}.',
    stopHeading: 'Detener la recuperación de una billetera',
    stopRest: 'Firme con la billetera actual, {wallet}. La recuperación se detiene al instante y no cambia nada.',
  },
  recovery: {
    title: 'Recuperar una billetera',
    heading: '{partner} inició una recuperación de su billetera',
    rest: 'Elija una billetera nueva y firme con ella. Sus pagos pasarán a ella 48 horas después, salvo que la anterior, {wallet}, se oponga.',
    signHeading: 'Firme con la billetera nueva',
    signRest: 'A las 48 horas, las solicitudes nuevas se pagarán a {wallet}.',
    sign: 'Firmar',
    waiting: 'Su billetera nueva ha firmado',
    waitingRest:
      'El {time} sus pagos pasarán a {wallet}, salvo que la billetera anterior se oponga. No tiene que hacer nada más.',
    applied: 'Sus pagos llegan a la billetera nueva',
    appliedRest: 'Inicie sesión con {wallet}.',
  },
};
