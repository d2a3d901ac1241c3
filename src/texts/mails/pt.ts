import type { MailTexts } from '../mails.ts';

export const pt: MailTexts<'pt'> = {
  code: {
    subject: '{code} é o seu código',
    body: 'Seu código:\n\n{code}\n\nEle vale por 15 minutos. {partner} convidou você a receber em stablecoins; digite o código na página que você abriu.\n\nSe não foi você quem pediu, não faça nada: sem o código ninguém pode continuar.',
  },
  signIn: 'Entrar',
  wallet: {
    unnamed: 'Um lojista',
    about: 'Lojista: {merchant}\nNúmero do lojista: {account}\nConvidado por: {partner}',
    stop: 'Parar a recuperação',
    changed: {
      subject: '{merchant}: a carteira foi trocada',
      body: 'As novas cobranças agora são pagas nesta carteira:\n\n{newWallet}\n\nAntes eram pagas nesta:\n\n{oldWallet}\n\nAs duas carteiras assinaram a troca. As cobranças anteriores continuam sendo pagas na carteira de antes.',
    },
    recovery_started: {
      subject: '{merchant}: uma recuperação da carteira foi iniciada',
      body: 'Esta carteira foi dada como perdida, por isso a recuperação dela foi iniciada:\n\n{oldWallet}\n\nNada mudou ainda: primeiro uma nova carteira precisa assinar e, depois disso, precisam passar 48 horas.\n\nSe a carteira não se perdeu, pare a recuperação assinando com ela:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: em 48 horas os pagamentos passam para outra carteira',
      body: 'Em {time} as novas cobranças passam para esta carteira:\n\n{newWallet}\n\nAté lá são pagas nesta:\n\n{oldWallet}\n\nSe isso estiver errado, pare antes assinando com a carteira atual:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: a carteira foi recuperada',
      body: 'As novas cobranças agora são pagas nesta carteira:\n\n{newWallet}\n\nAntes eram pagas nesta, que não se opôs em 48 horas:\n\n{oldWallet}\n\nAs cobranças anteriores continuam sendo pagas na carteira de antes.',
    },
    displaced: {
      subject: '{merchant}: outra pessoa assinou com a carteira',
      body: 'Esta carteira foi indicada quando o lojista foi criado e nunca assinou:\n\n{oldWallet}\n\nAgora outra pessoa assinou com ela, então ela é dessa pessoa. O lojista fica sem carteira: pode concluir o cadastro com outra. Nenhum pagamento é afetado.',
    },
    recovery_stopped: {
      subject: '{merchant}: a recuperação da carteira foi parada',
      body: 'Nada muda. Os pagamentos continuam indo para esta carteira:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'A carteira atual parou a recuperação.',
      partner: 'Quem iniciou a recuperação a retirou.',
      time: 'Nenhuma nova carteira assinou enquanto o link da recuperação valia.',
    },
  },
  endpoint: {
    testSubject: 'Seu webhook de teste foi desativado',
    liveSubject: 'Seu webhook de produção foi desativado',
    body: 'Não são mais enviados eventos para este endereço:\n\n{url}\n\n{reason}\n\nNenhum pagamento é afetado e nenhum evento se perde: os novos esperam. Conserte o receptor e depois ative o webhook de novo ou defina outra vez a URL. O que espera sai na hora; os eventos que já tinham esgotado as tentativas podem ser reenviados.\n\n{link}',
    gone: 'Ele respondeu 410, ou seja, não há mais nada lá.',
    failing: 'Fazia 120 horas que nenhum envio dava certo.',
    open: 'Abrir a página de webhooks',
  },
};
