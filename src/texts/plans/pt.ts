import type { PlanTexts } from '../plans.ts';

export const pt: PlanTexts<'pt'> = {
  planMail: {
    subject: '{merchant} cobra {amount} de você',
    testSubject: 'Teste: {merchant} cobra {amount} de você',
    asks: '{merchant} cobra {amount} de você',
    test: 'Isto é um teste. Você não deve nenhum dinheiro real.',
    amount: 'Valor',
    until: 'Pagar até',
    payTo: 'Para',
    pay: 'Ver e pagar',
    linkRest: 'Ver e pagar: {link}',
    why: '{merchant} envia a você um link de pagamento em cada data combinada. Se você não reconhece esta cobrança, não pague. As respostas a este e-mail não são lidas.',
    for: 'Referente a',
    unexpected: 'Não esperava esta cobrança? Avise {merchant}.',
    stop: 'Parar de receber estes e-mails',
  },
  planStop: {
    title: 'Parar de receber estes e-mails?',
    asked: '{merchant} envia a você um link de pagamento de “{plan}” em cada data.',
    rest: 'Você não receberá mais e-mails deste plano. O plano em si continua: para encerrá-lo, fale com {merchant}.',
    done: 'Você não receberá mais estes e-mails',
    doneRest:
      'Você não receberá mais e-mails deste plano, e {merchant} pode ver isso. O plano em si continua até que {merchant} o encerre.',
  },
};
