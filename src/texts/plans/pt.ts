import type { PlanTexts } from '../plans.ts';

export const pt: PlanTexts<'pt'> = {
  planMail: {
    subject: '{merchant} pede {amount} a você',
    testSubject: 'Teste: {merchant} pede {amount} a você',
    asks: '{merchant} pede {amount} a você',
    test: 'Isto é um teste: nenhum dinheiro real é pedido.',
    amount: 'Valor',
    until: 'Pagar até',
    payTo: 'Para',
    pay: 'Ver e pagar',
    linkRest: 'Veja e pague aqui: {link}',
    why: '{merchant} envia a você um link de pagamento em cada data combinada. Se você não sabe de nada, não pague. Ninguém lê as respostas a este e-mail.',
    for: 'Referente a',
    unexpected: 'Não esperava este e-mail? Avise {merchant}.',
    stop: 'Parar de receber estes e-mails',
  },
  planStop: {
    title: 'Parar de receber estes e-mails?',
    asked: '{merchant} envia a você um link de pagamento de “{plan}” em cada data.',
    rest: 'Depois disso não chegam mais e-mails sobre ele. O plano em si continua: para encerrá-lo, fale com {merchant}.',
    done: 'Os e-mails foram interrompidos',
    doneRest:
      'Você não recebe mais e-mails deste plano, e {merchant} vê isso. O plano em si continua até que {merchant} o encerre.',
  },
};
