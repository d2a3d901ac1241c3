import type { PlanTexts } from '../plans.ts';

export const es: PlanTexts<'es'> = {
  planMail: {
    subject: '{merchant} le pide {amount}',
    testSubject: 'Prueba: {merchant} le pide {amount}',
    asks: '{merchant} le pide {amount}',
    test: 'Esto es una prueba: no se pide dinero real.',
    amount: 'Importe',
    until: 'A pagar hasta',
    payTo: 'A',
    pay: 'Ver y pagar',
    linkRest: 'Véalo y pague aquí: {link}',
    why: '{merchant} le envía un enlace de pago en cada fecha acordada. Si no sabe nada de esto, no pague. Nadie lee lo que se responda a este correo.',
    for: 'Para',
    unexpected: '¿No esperaba este correo? Dígaselo a {merchant}.',
    stop: 'Dejar de recibir estos correos',
  },
  planStop: {
    title: '¿Dejar de recibir estos correos?',
    asked: '{merchant} le envía un enlace de pago por «{plan}» en cada fecha.',
    rest: 'Después ya no le llegan correos por ello. El plan sigue: para terminarlo, dígaselo a {merchant}.',
    done: 'Ya no recibirá estos correos',
    doneRest:
      'No le llegan más correos por este plan, y {merchant} lo ve. El plan sigue hasta que {merchant} lo termine.',
  },
};
