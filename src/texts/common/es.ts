import type { CommonTexts } from '../common.ts';

export const es: CommonTexts<'es'> = {
  common: {
    testMode: 'Modo de prueba.',
    testModeRest: 'En esta página no se mueve dinero real.',
    language: 'Idioma',
    skip: 'Ir al contenido',
    lessThanAMinute: 'menos de un minuto',
    copy: 'Copiar',
    copied: 'Copiado',
    qrCode: 'Código QR',
    titleAndRest: '{title}. {rest}',
    sentence: '{text}.',
    rate: '1 USDC = {rate}',
    payments: { one: '{count} pago', many: '{count} de pagos', other: '{count} pagos' },
    confirmations: {
      one: '{seen} de {count} confirmación',
      many: '{seen} de {count} de confirmaciones',
      other: '{seen} de {count} confirmaciones',
    },
    every: {
      day: 'cada día',
      week: 'cada semana',
      month: 'cada mes',
      year: 'cada año',
    },
    everyMany: {
      day: 'cada {period}',
      week: 'cada {period}',
      month: 'cada {period}',
      year: 'cada {period}',
    },
  },
  app: {
    navigation: 'Páginas',
    more: 'Más',
    pages: 'Páginas de esta lista',
    first: 'Volver a lo más reciente',
    next: 'Anteriores',
    apply: 'Mostrar',
    reset: 'Mostrar todo',
    all: 'Todo',
    csv: 'Descargar como CSV',
    test: 'Prueba',
    live: 'Real',
    mode: 'Modo',
    signOut: 'Cerrar sesión',
    figures: 'Ver las cifras',
    chartOf: 'Gráfico: {title}',
  },
  errors: {
    notFound: 'Aquí no hay nada',
    notFoundRest:
      'Quizá el enlace esté incompleto. Ábralo de nuevo tal como lo recibió o pida uno nuevo a quien se lo envió.',
    home: 'Volver al resumen',
    trouble: 'Algo no funciona por nuestra parte',
    troubleRest:
      'La culpa es nuestra y no se movió dinero por ello. Un pago ya enviado está en la cadena y se encontrará. Vuelva a intentarlo en un minuto.',
    failed: 'No ha funcionado',
    malformed: 'Esto no se pudo leer',
    malformedRest:
      'Contiene caracteres que ningún texto tiene, o no es un formulario nuestro. No se cambió nada ni se movió dinero. Vuelva atrás y envíelo de nuevo.',
    foreignForm: 'Este formulario venía de otro sitio',
    foreignFormRest: 'Abra de nuevo su enlace y use el formulario de allí. No se movió dinero.',
    tooMany: 'Demasiados intentos',
    tooManyRest: 'Espere un minuto y continúe. Un pago ya enviado se encuentra por sí solo.',
    slowDown: 'Demasiadas páginas a la vez',
    slowDownRest: 'Espere diez segundos y vuelva a cargar esta página. Un pago ya enviado se encuentra por sí solo.',
  },
  /** A payment that was given back, for merchants and for their partner. */
  refunded: {
    badges: {
      returning: 'Por devolver',
      sent: 'Devolviéndose',
      confirmed: 'Devuelto',
      other: 'Devuelto',
      failed: 'Sin devolver',
      missing: 'Sin devolver',
    },
    seenRest: '{amount} USDC a {address}. Estará hecho cuando la red lo confirme.',
    confirmedRest: '{amount} USDC a {address}, confirmado por la red.',
  },
};
