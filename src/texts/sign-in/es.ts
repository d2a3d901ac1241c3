import type { SignInTexts } from '../sign-in.ts';

export const es: SignInTexts<'es'> = {
  signIn: {
    title: 'Iniciar sesión',
    heading: 'Inicie sesión en su panel',
    rest: 'Use la billetera en la que recibe los pagos.',
    signHeading: 'Firme el mensaje',
    signRest: 'Es gratis y no mueve nada.',
    signIn: 'Iniciar sesión',
    another: 'Usar otra billetera',
    lost: '¿Perdió su billetera? Pida al socio que le invitó que inicie una recuperación.',
    /** After a form was sent without a session. */
    unsaved: 'Su sesión ha terminado y no se guardó nada. Inicie sesión y repita el paso.',
    kept: 'Lo que escribió se guarda 30 minutos en este navegador y volverá a aparecer cuando inicie sesión.',
  },
  signInUser: {
    portalTitle: 'Iniciar sesión en el portal',
    adminTitle: 'Iniciar sesión en la administración',
    rest: 'Le enviamos por correo un enlace de inicio de sesión. No hace falta contraseña.',
    email: 'Correo electrónico',
    notAnEmail: 'Esto no parece una dirección de correo.',
    send: 'Enviarme un enlace',
    sent: 'Revise su bandeja de entrada',
    sentRest:
      'Si esta dirección puede iniciar sesión aquí, hay un enlace en camino. Ábralo en este navegador antes de 15 minutos. ¿No llega? Revise la carpeta de spam o pregunte a quien le invitó.',
    again: 'Pedir otro enlace',
    enough: 'Por ahora hemos enviado suficientes enlaces a esta dirección',
    enoughRest:
      'Abra el más reciente o espere 15 minutos e inténtelo de nuevo. Si no funciona, pida otra invitación a quien le invitó.',
    open: 'Iniciar sesión como {email}',
    openRest: 'Este enlace inicia sesión una sola vez, en este navegador.',
    choose: 'Tiene acceso a más de un espacio. ¿Adónde quiere ir?',
    signIn: 'Iniciar sesión',
    signInTo: 'Iniciar sesión en {partner}',
    unknown: 'Este enlace no es válido',
    unknownRest: 'Quizá esté incompleto o ya no sea válido. Pida otro aquí.',
    used: 'Este enlace ya se ha usado',
    usedRest: 'Cada enlace funciona una sola vez. Pida otro aquí. Si no lo usó usted, avise a quien le invitó.',
    expired: 'Este enlace ha caducado',
    expiredRest: 'Los enlaces caducan a los 15 minutos. Pida otro aquí.',
    otherBrowser: 'Este enlace se pidió en otro navegador',
    otherBrowserRest:
      'Por seguridad, solo funciona en el navegador en el que se pidió. Ábralo allí o pida otro aquí. Si no lo pidió usted, ignórelo.',
    mailSubject: 'Su enlace de inicio de sesión en {place}',
    mailBody:
      'Inicie sesión en {place}:\n\n{link}\n\nEl enlace caduca en 15 minutos y funciona una sola vez, solo en el navegador en el que se pidió.\nSi no lo pidió usted, ignore este correo: nadie puede usarlo en otro navegador.\n',
    inviteSubject: 'Tiene una invitación para {place}',
    inviteBody:
      'Ya puede iniciar sesión en {place}:\n\n{link}\n\nEl enlace caduca en 15 minutos y funciona una sola vez. No lo comparta.\nMás adelante, o si ha caducado, pida un enlace con su correo: {signIn}\n',
  },
  confirmAct: {
    title: 'Confirme que es usted',
    why: 'Este cambio afecta a la seguridad o al destino del dinero y de los eventos, y usted inició sesión hace más de diez minutos. Todavía no ha cambiado nada, y lo que introdujo se conserva en esta página.',
    byMail:
      'Enviaremos un enlace a {email}. Ábralo en este navegador para iniciar sesión, vuelva a esta página y continúe.',
    sendLink: 'Enviarme un enlace por correo',
    goOn: 'Continuar',
  },
  passkey: {
    signIn: 'Iniciar sesión con una llave de acceso',
    none: 'Las llaves de acceso no están disponibles en este navegador o en esta dirección. Abra esta página en un navegador compatible, con JavaScript activado.',
    linkNeedsOne: 'Una llave de acceso protege esta cuenta. Úsela para terminar de iniciar sesión.',
    linkNeedsOneFor: 'Una llave de acceso protege {partners}; el enlace solo no basta.',
    refused: 'Esta llave de acceso no permitió iniciar sesión',
    heading: 'Llaves de acceso',
    rest: 'Una llave de acceso le permite iniciar sesión con la huella, la cara o un PIN. Cuando tenga una, los enlaces por correo dejarán de bastar por sí solos. Añada otra en un segundo dispositivo por si pierde la primera.',
    name: 'Nombre',
    nameHint: 'Para reconocerla después.',
    add: 'Añadir una llave de acceso',
    created: 'Añadida',
    lastUsed: 'Último uso',
    never: 'Nunca',
    remove: {
      label: 'Eliminar',
      title: '¿Eliminar la llave de acceso {name}?',
      rest: 'Ya no podrá iniciar sesión con ella. Bórrela también en su dispositivo.',
      lastRest:
        'Es la única que tiene: sin ella, bastará de nuevo un enlace por correo para iniciar sesión. Bórrela también en su dispositivo.',
    },
    confirm: 'Usar su llave de acceso',
    confirmRest: 'Inició sesión hace un rato. Use una llave de acceso antes de cambiar algo aquí.',
    signInAnew: 'Inició sesión hace un rato. Cierre sesión y vuelva a iniciarla antes de cambiar algo aquí.',
    done: {
      added: 'Se añadió la llave de acceso. Ya puede iniciar sesión con ella.',
      removed: 'Se eliminó la llave de acceso.',
      confirmed: 'Ya puede cambiar sus llaves de acceso durante diez minutos.',
    },
    refusals: {
      unknown: 'No la reconocemos. Quizá se eliminó o pertenece a otra cuenta o a otro servicio.',
      expired: 'Tardó más de cinco minutos o se envió dos veces. Inténtelo de nuevo.',
      copied:
        'Puede que exista una copia, así que se rechazó. Inicie sesión con otra llave de acceso y elimine esta, o pida a un propietario que elimine sus llaves de acceso.',
      not_made: 'No se añadió ninguna llave de acceso: la respuesta del navegador no era válida. Inténtelo de nuevo.',
      stale: 'No se cambió nada: inició sesión hace más de diez minutos.',
      enough: 'No se añadió ninguna llave de acceso: el límite es de veinte. Elimine una primero.',
    },
    browser: {
      waiting: 'Siga las instrucciones de su navegador.',
      declined:
        'No se cambió nada: usted lo rechazó, no hay ninguna llave de acceso para esta dirección o tardó demasiado.',
      known: 'Este dispositivo ya tiene una llave de acceso para su cuenta.',
      failed: 'Algo falló en su navegador. No se cambió nada. Inténtelo de nuevo o use otro dispositivo.',
      unreachable: 'No se pudo conectar con nosotros. No se cambió nada. Inténtelo de nuevo en un momento.',
    },
    mails: {
      added: {
        subject: 'Se añadió una llave de acceso a su cuenta en {place}',
        body: 'Se añadió una llave de acceso a su cuenta en {place}. A partir de ahora es necesaria para iniciar sesión.\n\nSi no fue usted, avise de inmediato a un propietario de {place} o a quien le invitó.\n',
      },
      removed: {
        subject: 'Se eliminaron llaves de acceso de su cuenta en {place}',
        body: 'Se eliminaron una o más llaves de acceso de su cuenta en {place}. Si no queda ninguna, basta un enlace a esta dirección para iniciar sesión.\n\nSi no lo pidió usted, avise de inmediato a un propietario de {place} o a quien le invitó.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} está desactivado. Puede consultar, pero no cambiar nada.',
    notWhileOff: 'No disponible mientras {partner} esté desactivado',
    notAllowed: 'Su rol no permite esto',
    notAllowedRest: 'No se cambió nada. Un propietario de {partner} puede hacerlo o asignarle otro rol.',
    signedInAs: 'Sesión iniciada como {email}',
    sessions: 'Sesiones abiertas',
    browser: 'Navegador',
    from: 'Dirección IP',
    lastSeen: 'Último uso',
    since: 'Inicio de sesión',
    thisOne: 'Este navegador',
    unknownBrowser: 'Navegador desconocido',
    signOutThere: 'Cerrar sesión allí',
    signedOutThere: 'Se cerró la sesión en el otro navegador.',
    roles: { owner: 'Propietario', developer: 'Desarrollador', viewer: 'Lector' },
    refusals: {
      email_invalid: 'Esto no parece una dirección de correo. No se envió ninguna invitación.',
      role_differs:
        'Este usuario ya está en el equipo con otro rol. Cambie el rol allí; no se envió ninguna invitación.',
      user_disabled: 'Se retiró el acceso a este usuario. Restablézcalo primero; no se envió ninguna invitación.',
      user_unknown: 'Este usuario no existe aquí. No se cambió nada.',
      last_owner: 'Es el único propietario. Nombre primero a otro; no se cambió nada.',
      too_many_invitations:
        'Puede enviar diez invitaciones por minuto. Espere un minuto; no se envió ninguna invitación.',
      team_full: 'Un equipo tiene como máximo 1000 personas, contando las que se quitaron. No se ha invitado a nadie.',
      invited_enough:
        'Acabamos de enviar varias invitaciones a esta dirección. Pida que abran la más reciente o inténtelo de nuevo en 15 minutos; no se envió ninguna invitación.',
      invited_today:
        'Por hoy ya se enviaron suficientes invitaciones a esta dirección. Pida que abran la más reciente o inténtelo de nuevo mañana; no se envió ninguna invitación.',
    },
  },
};
