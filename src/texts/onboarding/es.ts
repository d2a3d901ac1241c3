import type { OnboardingTexts } from '../onboarding.ts';

export const es: OnboardingTexts<'es'> = {
  onboard: {
    title: 'Recibir pagos a través de {partner}',
    steps: 'Pasos',
    stepEmail: 'Correo',
    stepDetails: 'Datos',
    stepWallet: 'Billetera',
    stepSign: 'Firma',
    invites: '{partner} le invita a recibir pagos en stablecoins',
    what: 'Sus clientes pagan en USDC, directamente a su propia billetera. {partner} crea las solicitudes; solo usted puede mover el dinero.',
    coin: 'USDC es un dólar digital: cada USDC está pensado para valer un dólar estadounidense.',
    needs: 'Solo lleva dos minutos. Necesita una billetera, en este navegador o en el teléfono.',
    makeSure: 'Primero comprobamos que es usted. Enviamos un código a {email}, la dirección que nos dio {partner}.',
    sendCode: 'Enviarme un código',
    enterCode: 'Introduzca el código del correo',
    code: 'Código de seis cifras',
    codeHint: 'Enviado a {email}. Caduca en 15 minutos.',
    goOn: 'Continuar',
    notYours: '¿No es su dirección? Pida a {partner} una nueva invitación.',
    sendAnother: 'Enviar otro código',
    who: '¿Quién recibe los pagos?',
    whoRest: 'Rellene lo que quiera. {partner} lo verá, y sus clientes verán el nombre comercial.',
    name: 'Su nombre',
    businessName: 'Nombre comercial',
    businessHint: 'Sus clientes lo ven en la página de pago y en los recibos.',
    country: 'País',
    suggested: 'Sugerida',
    allCurrencies: 'Todas las monedas',
    currencyHint:
      'Sus solicitudes se hacen en esta moneda. Antes de elegir otra, acuérdela con {partner}: de lo contrario, sus solicitudes para usted fallarán.',
    later: 'Más datos, opcionales',
    laterRest: 'Puede completarlo después: está en su panel, en «Perfil».',
    noCountry: 'Sin indicar',
    phone: 'Teléfono',
    website: 'Sitio web',
    email: 'Correo electrónico',
    emailHint: 'Solo escribimos sobre su billetera y sus inicios de sesión.',
    tooLong: 'Como máximo {limit} caracteres.',
    notACountry: 'Elija un país de la lista.',
    notAnEmail: 'Esto no parece una dirección de correo.',
    goToWallet: 'Continuar a la billetera',
    whichWallet: '¿Qué billetera recibe los pagos?',
    whichRest: 'Al conectarla solo vemos su dirección. Firmará con ella en el paso siguiente.',
    announced: '{partner} indicó la billetera {wallet}. Conecte esa.',
    noWallet: 'Todavía no tengo billetera',
    noWalletRest:
      'Una billetera es una aplicación gratuita con la que recibe y guarda dinero digital. Solo usted la controla.',
    installWallet:
      'Instale una aplicación de billetera desde la tienda de aplicaciones de su teléfono, por ejemplo {apps}.',
    createWallet:
      'Cree en ella una billetera nueva. Si le muestra una frase de recuperación, anótela en papel y no se la enseñe a nadie: quien la tenga puede llevarse su dinero. Nosotros nunca se la pediremos.',
    returnWithWallet:
      'Vuelva a esta página y ábrala en la aplicación de su billetera. Lo que ha introducido queda guardado.',
    noExchange:
      'Una cuenta en un exchange no sirve aquí, porque no puede firmar. Más adelante puede enviar dinero de su billetera a un exchange y retirarlo a su cuenta bancaria.',
    changeDetails: 'Editar sus datos',
    signTitle: 'Inicie sesión con su billetera',
    signRest: 'Esto demuestra que la billetera es suya. Es gratis, no mueve nada y no permite a nadie quitarle dinero.',
    wallet: 'Su billetera',
    changeWallet: 'Usar otra billetera',
    terms: 'Condiciones, versión {version}',
    termsTranslated:
      'Esta traducción es solo orientativa. El texto en inglés de abajo es el que usted acepta y el que es vinculante.',
    termsBinding: 'Texto vinculante en inglés',
    accept: 'He leído y acepto las condiciones, versión {version}.',
    finish: 'Finalizar',
  },
  terms: {
    get: {
      title: 'Qué obtiene usted',
      text: 'Sus clientes le pagan en stablecoins, directamente a su propia billetera. Nosotros creamos la página de pago, observamos la cadena de bloques y les avisamos a usted y al socio que le invitó cuando un pago es definitivo. Nunca tenemos su dinero y no podemos moverlo.',
    },
    wallet: {
      title: 'Su billetera',
      text: 'Usted controla la billetera con la que firma y guarda bien sus claves o su recuperación. Nadie puede recuperar un pago hecho a una billetera cuyas claves se perdieron. Cada billetera pertenece a un solo comercio.',
    },
    payments: {
      title: 'Pagos',
      text: 'No podemos revertir un pago en una cadena de bloques. Las devoluciones son asunto de usted y su cliente. El precio en stablecoins queda fijado al crear la solicitud, al tipo de cambio de ese momento.',
    },
    duties: {
      title: 'Sus obligaciones',
      text: 'Vende solo lo que es legal donde están usted y sus clientes, paga sus impuestos y lo que nos dice de sí es cierto. No está sujeto a sanciones.',
    },
    stored: {
      title: 'Qué se guarda',
      text: 'Guardamos los datos que usted da, la dirección de su billetera y las solicitudes y pagos hechos a ella. El socio que le invitó los ve. Cuando acepta, conservamos la versión de estas condiciones, la hora y su dirección de internet.',
    },
    ending: {
      title: 'Fin',
      text: 'Puede dejarlo cuando quiera. El socio o nosotros podemos detener las solicitudes nuevas; el dinero ya pagado sigue siendo suyo, porque siempre estuvo en su billetera.',
    },
  },
};
