import type { MailTexts } from '../mails.ts';

export const pt: MailTexts<'pt'> = {
  code: {
    subject: '{code} é o seu código',
    body: 'Seu código:\n\n{code}\n\nEle expira em 15 minutos. {partner} convidou você a receber pagamentos em stablecoins; digite o código na página que você abriu.\n\nSe não foi você quem pediu, ignore este e-mail: sem o código, ninguém pode continuar.',
  },
  signIn: 'Entrar',
  wallet: {
    unnamed: 'Um lojista',
    about: 'Lojista: {merchant}\nID do lojista: {account}\nConvidado por: {partner}',
    stop: 'Interromper a recuperação',
    changed: {
      subject: '{merchant}: a sua carteira foi trocada',
      body: 'A partir de agora, as novas cobranças são pagas nesta carteira:\n\n{newWallet}\n\nAté agora, eram pagas nesta:\n\n{oldWallet}\n\nAs duas carteiras assinaram a troca. As cobranças já existentes continuam sendo pagas na carteira anterior. As cobranças automáticas param até que cada cliente autorize de novo.',
    },
    recovery_started: {
      subject: '{merchant}: foi iniciada uma recuperação de carteira',
      body: 'Esta carteira foi informada como perdida, por isso a recuperação dela foi iniciada:\n\n{oldWallet}\n\nNada mudou ainda: primeiro, uma nova carteira precisa assinar; depois, precisam passar 48 horas.\n\nSe a carteira não foi perdida, assine com ela para interromper a recuperação:\n\n{link}',
    },
    recovery_signed: {
      subject: '{merchant}: em 48 horas, os pagamentos passam para outra carteira',
      body: 'A partir de {time}, as novas cobranças serão pagas nesta carteira:\n\n{newWallet}\n\nAté lá, são pagas nesta:\n\n{oldWallet}\n\nSe isso estiver errado, assine antes com a carteira atual para interromper:\n\n{link}',
    },
    recovered: {
      subject: '{merchant}: a sua carteira foi recuperada',
      body: 'A partir de agora, as novas cobranças são pagas nesta carteira:\n\n{newWallet}\n\nAté agora, eram pagas nesta, que não se opôs em 48 horas:\n\n{oldWallet}\n\nAs cobranças já existentes continuam sendo pagas na carteira anterior. As cobranças automáticas param até que cada cliente autorize de novo.',
    },
    displaced: {
      subject: '{merchant}: outra pessoa entrou com a carteira deste lojista',
      body: 'Ao criar este lojista, você indicou esta carteira, mas o lojista nunca entrou com ela:\n\n{oldWallet}\n\nAgora outra pessoa entrou, então a carteira é dela. O lojista está sem carteira e pode concluir o cadastro com outra. Nenhum pagamento é afetado.',
    },
    recovery_stopped: {
      subject: '{merchant}: a recuperação da carteira foi interrompida',
      body: 'Nada muda. Os pagamentos continuam indo para esta carteira:\n\n{oldWallet}\n\n{reason}',
    },
    stoppedBy: {
      merchant: 'Ela foi interrompida com a carteira atual.',
      partner: 'Ela foi cancelada por quem a iniciou.',
      time: 'Nenhuma nova carteira assinou antes de o link de recuperação expirar.',
    },
  },
  endpoint: {
    testSubject: 'Seu webhook de teste foi desativado',
    liveSubject: 'Seu webhook de produção foi desativado',
    body: 'Não enviamos mais eventos para esta URL:\n\n{url}\n\n{reason}\n\nNenhum pagamento é afetado e nenhum evento se perde: os novos eventos ficam aguardando. Corrija o seu endpoint e depois ative o webhook de novo ou defina uma nova URL. Os eventos que estão aguardando são enviados na hora; os que falharam podem ser reenviados.\n\n{link}',
    gone: 'Ela respondeu 410 Gone.',
    failing: 'Nenhuma entrega teve sucesso durante 120 horas.',
    open: 'Abrir Webhooks',
  },
};
