import type { WalletTexts } from '../wallets.ts';

export const pt: WalletTexts<'pt'> = {
  signing: {
    manual: 'Manualmente',
    address: 'Endereço da carteira',
    addressHint: '0x e 40 dígitos ou letras.',
    network: 'Rede para entrar',
    useAddress: 'Usar este endereço',
    message: 'Mensagem para assinar',
    signHint: 'Assine esta mensagem na sua carteira, letra por letra; as carteiras chamam isso de “assinar mensagem”.',
    signature: 'Assinatura',
    signatureHint: 'O resultado, de 0x até o fim.',
    connectWith: 'Conectar com {wallet}',
    phoneRest: 'Escaneie com a câmera do celular. Esta página abre nele, e você continua com a sua carteira.',
    told: {
      connect: 'Conectar {wallet}',
      sign: 'Assinar com {wallet}',
      browserWallet: 'carteira do navegador',
      none: 'Nenhuma carteira foi encontrada neste navegador. Abra esta página no navegador do aplicativo da sua carteira ou continue manualmente.',
      noneScan:
        'Nenhuma carteira foi encontrada neste navegador. Escaneie o código com o celular para continuar nele, ou continue manualmente.',
      noneOnPhone: 'Este navegador não tem carteira. Abra esta página no aplicativo da sua carteira para continuar.',
      pairing: 'Preparando um código para a sua carteira…',
      away: 'Não é possível alcançar {wallet} no momento. Nada foi alterado. Continue de outra forma ou tente de novo mais tarde.',
      copied: 'Copiado',
      opening: 'Abra {wallet} e permita que esta página veja o seu endereço.',
      waiting: 'Confirme a assinatura em {wallet}.',
      sending: 'Assinado. Um momento.',
      rejected: 'Você recusou em {wallet}. Nada foi assinado nem alterado. Tente de novo quando quiser.',
      pending: 'Uma pergunta anterior ainda espera a sua resposta em {wallet}. Abra e responda lá.',
      noAccount: 'Nenhum endereço veio de {wallet}. Desbloqueie e tente de novo.',
      wrongNetwork: 'A rede de {wallet} não é oferecida aqui. Mude para {networks} na carteira e tente de novo.',
      otherAccount: 'Outra conta está aberta em {wallet}. Escolha {address} lá e tente de novo.',
      failed: 'Não foi possível com {wallet}. Nada foi alterado. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Este link não é nosso',
      rest: 'Abra-o de novo por inteiro, como foi enviado, ou peça um novo a quem o enviou.',
    },
    link_expired: {
      title: 'Este link expirou',
      rest: 'Os links valem sete dias. Peça um novo a quem o enviou; o que você preencheu fica guardado.',
    },
    link_used: {
      title: 'Já está configurado',
      rest: 'O cadastro foi concluído com este link. Entre com a sua carteira para abrir o painel. Se não foi você, pergunte a quem enviou o link.',
    },
    email_code_needed: { title: 'Falta o código do e-mail', rest: 'Primeiro peça um código e digite-o.' },
    email_code_wrong: {
      title: 'Este código não está certo',
      rest: 'Veja o e-mail mais recente e digite os seis dígitos dele.',
    },
    email_code_expired: { title: 'Este código expirou', rest: 'Os códigos valem 15 minutos. Peça um novo.' },
    email_code_exhausted: {
      title: 'Códigos errados demais',
      rest: 'Por segurança, nenhum código é aceito por enquanto. Espere 15 minutos e peça um novo.',
    },
    email_code_just_sent: {
      title: 'Um código acabou de ser enviado',
      rest: 'Olhe no seu e-mail, também na pasta de spam. Depois de um minuto outro pode ser enviado.',
    },
    details_invalid: { title: 'Alguns dados precisam de revisão', rest: 'Eles estão marcados abaixo.' },
    wallet_malformed: {
      title: 'Isto não é um endereço de carteira',
      rest: 'Um endereço é 0x seguido de 40 dígitos e letras de a até f.',
    },
    wallet_differs: {
      title: 'Esta não é a carteira anunciada',
      rest: 'O parceiro que convidou você indicou uma carteira específica. Use essa ou peça a ele que a troque.',
    },
    wallet_taken: {
      title: 'Esta carteira já pertence a outro lojista',
      rest: 'Uma carteira serve a um só lojista. Use outra ou, se esta for sua, peça ajuda a quem convidou você.',
    },
    wallet_same: { title: 'Esta é a carteira que você já tem', rest: 'Informe o endereço da nova.' },
    wallet_unknown: {
      title: 'Nenhum lojista recebe nesta carteira',
      rest: 'Entre com a carteira em que você recebe. Se ainda não tem nenhuma aqui, abra o link do seu convite.',
    },
    wallet_not_deployed: {
      title: 'Esta carteira inteligente ainda não foi implantada',
      rest: 'Precisamos conferir a assinatura dela com o código dela em uma rede. Faça uma primeira transação com ela em uma das redes daqui e assine de novo.',
    },
    chain_unreachable: {
      title: 'Não foi possível consultar a rede sobre esta carteira',
      rest: 'A culpa não é sua. Nada foi alterado; tente de novo em um minuto.',
    },
    chain_unknown: {
      title: 'Sua carteira está em uma rede que não é oferecida aqui',
      rest: 'Mude na carteira para uma rede oferecida e tente de novo.',
    },
    message_changed: {
      title: 'A mensagem assinada não é a que demos',
      rest: 'Assine a nova mensagem exatamente como aparece.',
    },
    message_used: {
      title: 'Esta mensagem já foi usada ou expirou',
      rest: 'Cada mensagem conta uma vez, por 15 minutos. Aqui está uma nova.',
    },
    signature_invalid: {
      title: 'A assinatura não é desta carteira',
      rest: 'Assine a mensagem inteira com a carteira cujo endereço aparece nela.',
    },
    terms_not_accepted: {
      title: 'Os termos não foram aceitos',
      rest: 'Leia e marque a caixa se estiver de acordo.',
    },
    too_many_attempts: { title: 'Tentativas demais', rest: 'Espere um minuto e continue.' },
    merchant_unknown: {
      title: 'Esse lojista não existe',
      rest: 'Nada foi alterado.',
    },
    not_onboarded: {
      title: 'Este lojista ainda não concluiu o cadastro',
      rest: 'O link de cadastro dele aceita qualquer carteira, então não há nada a recuperar.',
    },
    recovery_signed: {
      title: 'Uma nova carteira já assinou',
      rest: 'Ela assume quando passarem as suas 48 horas, a menos que isso seja parado antes.',
    },
    change_over: {
      title: 'Não há nada em andamento aqui',
      rest: 'Esta troca de carteira foi concluída, parada ou expirou. O painel mostra qual carteira recebe.',
    },
  },
  walletChange: {
    title: 'Trocar de carteira',
    heading: 'Troque a carteira em que você recebe',
    now: 'Agora recebe em',
    rest: 'Duas assinaturas: a carteira atual indica a nova e depois a nova aceita. As cobranças abertas continuam sendo pagas na carteira atual.',
    newWallet: 'A nova carteira',
    step1: '1 de 2: assine com a carteira atual',
    step1Rest: 'Ela passa a vez para {wallet}.',
    step2: '2 de 2: assine com a nova carteira',
    step2Rest: 'Depois disso, as novas cobranças são pagas em {wallet}.',
    sign: 'Assinar',
    cancel: 'Deixar tudo como está',
    done: 'Sua carteira foi trocada',
    doneRest: 'As novas cobranças são pagas em {wallet}. As que já estavam abertas continuam sendo pagas na anterior.',
    back: 'Voltar ao painel',
    lost: 'Perdeu a carteira atual? Peça a {partner} que inicie uma recuperação para você.',
    underWay: 'Uma recuperação da sua carteira está em andamento',
    underWayRest: 'Em {time} seus pagamentos passam para {wallet}. Se não foi você, pare agora.',
    started: 'Uma recuperação da sua carteira foi iniciada',
    startedRest:
      '{partner} enviou um link com o qual uma nova carteira pode assinar. 48 horas depois, seus pagamentos passariam para ela. Se não foi você, pare agora.',
    stop: 'Parar a recuperação',
    stopped: 'A recuperação foi parada',
    stoppedRest: 'Nada muda: você recebe em {wallet}.',
    stopHeading: 'Parar a recuperação de uma carteira',
    stopRest: 'Assine com a carteira atual {wallet}. Isso para a recuperação na hora, e nada muda.',
  },
  recovery: {
    title: 'Recuperar uma carteira',
    heading: '{partner} iniciou uma recuperação da sua carteira',
    rest: 'Pegue uma nova carteira e assine com ela. 48 horas depois seus pagamentos passam para ela, a menos que a carteira anterior {wallet} se oponha.',
    signHeading: 'Assine com a nova carteira',
    signRest: 'Depois de 48 horas, as novas cobranças são pagas em {wallet}.',
    sign: 'Assinar',
    waiting: 'Sua nova carteira assinou',
    waitingRest:
      'Em {time} seus pagamentos passam para {wallet}, a menos que a carteira anterior se oponha. Você não precisa fazer mais nada.',
    applied: 'Seus pagamentos vão para a nova carteira',
    appliedRest: 'Entre com {wallet}.',
  },
};
