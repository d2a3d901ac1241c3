import type { PlanTexts } from '../plans.ts';

export const es: PlanTexts<'es'> = {
  planMail: {
    subject: '{merchant} le pide {amount}',
    testSubject: 'Prueba: {merchant} le pide {amount}',
    asks: '{merchant} le pide {amount}',
    test: 'Esto es una prueba. No debe dinero real.',
    amount: 'Importe',
    until: 'Pagar antes del',
    payTo: 'A',
    pay: 'Ver y pagar',
    linkRest: 'Ver y pagar: {link}',
    why: '{merchant} le envía un enlace de pago en cada fecha acordada. Si no lo reconoce, no pague. No se leen las respuestas a este correo.',
    for: 'Concepto',
    unexpected: '¿No lo esperaba? Avise a {merchant}.',
    stop: 'Dejar de recibir estos correos',
  },
  planStop: {
    title: '¿Dejar de recibir estos correos?',
    asked: '{merchant} le envía un enlace de pago por «{plan}» en cada fecha.',
    rest: 'Ya no recibirá correos de este plan. El plan en sí continúa: para terminarlo, avise a {merchant}.',
    done: 'Se ha dado de baja',
    doneRest:
      'Ya no recibirá correos de este plan, y {merchant} puede verlo. El plan en sí continúa hasta que {merchant} lo termine.',
  },
};
