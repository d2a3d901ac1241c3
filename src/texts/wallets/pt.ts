import type { WalletTexts } from '../wallets.ts';

export const pt: WalletTexts<'pt'> = {
  signing: {
    manual: 'Digitar manualmente',
    address: 'Endereço da carteira',
    addressHint: '0x seguido de 40 letras ou dígitos.',
    network: 'Rede para entrar',
    useAddress: 'Usar este endereço',
    message: 'Mensagem a assinar',
    signHint: 'Assine exatamente esta mensagem na sua carteira. As carteiras chamam isso de “assinar mensagem”.',
    signature: 'Assinatura',
    signatureHint: 'Cole o resultado completo, a partir de 0x.',
    connectWith: 'Conectar com {wallet}',
    phoneRest: 'Escaneie com a câmera do celular. Esta página abre no celular, e você continua lá com a sua carteira.',
    browser: {
      connect: 'Conectar {wallet}',
      sign: 'Assinar com {wallet}',
      browserWallet: 'a carteira do navegador',
      none: 'Nenhuma carteira foi encontrada neste navegador. Abra esta página no navegador do app da sua carteira ou continue manualmente.',
      noneScan:
        'Nenhuma carteira foi encontrada neste navegador. Escaneie o código com o celular para continuar nele ou digite os dados manualmente.',
      noneOnPhone: 'Este navegador não tem carteira. Abra esta página no app da sua carteira para continuar.',
      pairing: 'Preparando um código para a sua carteira…',
      away: 'Não conseguimos acessar {wallet} no momento. Nada foi alterado. Continue de outra forma ou tente de novo mais tarde.',
      copied: 'Copiado',
      opening: 'Abra {wallet} e permita que esta página veja o seu endereço.',
      waiting: 'Confirme a assinatura em {wallet}.',
      sending: 'Assinado. Um momento.',
      rejected: 'Você recusou em {wallet}. Nada foi assinado nem alterado. Tente de novo quando quiser.',
      pending: '{wallet} ainda espera a sua resposta a uma solicitação anterior. Abra e responda lá.',
      noAccount: '{wallet} não informou nenhum endereço. Desbloqueie e tente de novo.',
      wrongNetwork: '{wallet} está em uma rede que não está disponível aqui. Mude para {networks} e tente de novo.',
      otherAccount: '{wallet} está usando outra conta. Mude para {address} e tente de novo.',
      failed: 'Algo deu errado em {wallet}. Nada foi alterado. {reason}',
    },
  },
  refusals: {
    link_unknown: {
      title: 'Este link não é válido',
      rest: 'Abra de novo o link completo, exatamente como foi enviado a você, ou peça um novo a quem o enviou.',
    },
    link_expired: {
      title: 'Este link expirou',
      rest: 'Os links expiram em sete dias. Peça um novo a quem o enviou; o que você preencheu está salvo.',
    },
    link_replaced: {
      title: 'Este link foi substituído',
      rest: 'O parceiro que convidou você reiniciou o cadastro. Este link não funciona mais, e o que foi preenchido com ele foi descartado. Peça a ele o novo link.',
    },
    link_used: {
      title: 'Já está tudo configurado',
      rest: 'O cadastro foi concluído com este link. Entre com a sua carteira para abrir o painel. Se não foi você quem o concluiu, fale com quem enviou o link.',
    },
    email_code_needed: { title: 'Digite o código do e-mail', rest: 'Primeiro, peça um código e digite-o.' },
    email_code_wrong: {
      title: 'Este código não está correto',
      rest: 'Confira o e-mail mais recente e digite os seis dígitos dele.',
    },
    email_code_expired: { title: 'Este código expirou', rest: 'Os códigos expiram em 15 minutos. Peça um novo.' },
    email_code_exhausted: {
      title: 'Códigos errados demais',
      rest: 'Por segurança, os códigos estão bloqueados por enquanto. Espere 15 minutos e peça um novo.',
    },
    email_code_just_sent: {
      title: 'Acabamos de enviar um código',
      rest: 'Confira a caixa de entrada e a pasta de spam. Você pode pedir outro código depois de um minuto.',
    },
    email_code_too_often: {
      title: 'Códigos demais foram enviados hoje',
      rest: 'O código mais recente vale por 15 minutos após o envio. Você pode pedir outro amanhã.',
    },
    details_invalid: { title: 'Alguns dados precisam de revisão', rest: 'Eles estão marcados abaixo.' },
    wallet_malformed: {
      title: 'Isto não é um endereço de carteira',
      rest: 'Um endereço é 0x seguido de 40 dígitos e letras de a até f.',
    },
    wallet_differs: {
      title: 'Esta não é a carteira esperada',
      rest: 'O parceiro que convidou você indicou uma carteira específica. Use essa ou peça a ele que a troque.',
    },
    wallet_taken: {
      title: 'Esta carteira já pertence a outro lojista',
      rest: 'Uma carteira só pode pertencer a um lojista. Use outra. Se esta for sua, peça ajuda ao parceiro que convidou você.',
    },
    wallet_same: { title: 'Esta já é a sua carteira', rest: 'Informe o endereço da nova.' },
    changed_too_often: {
      title: 'Sua carteira foi trocada vezes demais hoje',
      rest: 'Nada foi alterado. Continue amanhã.',
    },
    wallet_unknown: {
      title: 'Nenhum lojista usa esta carteira',
      rest: 'Entre com a carteira em que você recebe pagamentos. Se ainda não configurou nenhuma, abra o link do seu convite.',
    },
    wallet_not_deployed: {
      title: 'Esta carteira inteligente ainda não foi implantada',
      rest: 'Para verificar a assinatura dela, precisamos do código dela em uma rede. Faça uma primeira transação com ela em uma das redes disponíveis aqui e assine de novo.',
    },
    chain_unreachable: {
      title: 'Não conseguimos acessar a rede para verificar esta carteira',
      rest: 'A culpa não é sua. Nada foi alterado; tente de novo em um minuto.',
    },
    chain_unknown: {
      title: 'A sua carteira está em uma rede que não está disponível aqui',
      rest: 'Mude a carteira para uma das redes disponíveis aqui e tente de novo.',
    },
    message_changed: {
      title: 'A mensagem assinada não é a que foi mostrada',
      rest: 'Assine a nova mensagem exatamente como aparece.',
    },
    message_used: {
      title: 'Esta mensagem já foi usada ou expirou',
      rest: 'Cada mensagem pode ser usada uma vez, em até 15 minutos. Aqui está uma nova.',
    },
    signature_invalid: {
      title: 'A assinatura não é desta carteira',
      rest: 'Assine a mensagem completa com a carteira cujo endereço aparece nela.',
    },
    terms_not_accepted: {
      title: 'Os termos não foram aceitos',
      rest: 'Leia-os e marque a caixa se concordar.',
    },
    too_many_attempts: { title: 'Tentativas demais', rest: 'Espere alguns minutos, no máximo quinze, e continue.' },
    merchant_unknown: {
      title: 'Este lojista não existe',
      rest: 'Nada foi alterado.',
    },
    not_onboarded: {
      title: 'Este lojista ainda não concluiu o cadastro',
      rest: 'O link de cadastro dele aceita qualquer carteira, então não há nada a recuperar.',
    },
    recovery_expired: {
      title: 'Esta recuperação expirou',
      rest: 'Nenhuma carteira nova assinou em sete dias, então nada mudou. Se ainda precisar dela, peça ao parceiro que enviou o link que inicie outra.',
    },
    recovery_signed: {
      title: 'Uma nova carteira já assinou',
      rest: 'Ela assume depois das 48 horas, a menos que a recuperação seja interrompida antes.',
    },
    change_over: {
      title: 'Nada a fazer aqui',
      rest: 'Esta troca de carteira foi concluída, interrompida ou expirou. O painel mostra qual carteira recebe os pagamentos.',
    },
  },
  walletChange: {
    title: 'Trocar de carteira',
    heading: 'Troque a carteira em que você recebe pagamentos',
    now: 'Carteira atual',
    rest: 'São necessárias duas assinaturas: a carteira atual indica a nova, e depois a nova aceita. As cobranças abertas continuam sendo pagas na carteira atual. As cobranças automáticas param até que cada cliente autorize de novo.',
    newWallet: 'Nova carteira',
    step1: '1 de 2: assine com a carteira atual',
    step1Rest: 'Ela passa o recebimento para {wallet}.',
    step2: '2 de 2: assine com a nova carteira',
    step2Rest: 'A partir daí, as novas cobranças são pagas em {wallet}.',
    sign: 'Assinar',
    cancel: 'Cancelar e manter a carteira',
    done: 'A sua carteira foi trocada',
    doneRest:
      'As novas cobranças são pagas em {wallet}. As que já estavam abertas continuam sendo pagas na carteira anterior. As cobranças automáticas param até que cada cliente autorize de novo.',
    back: 'Voltar ao painel',
    lost: 'Perdeu a carteira atual? Peça a {partner} que inicie uma recuperação para você.',
    underWay: 'A sua carteira está sendo recuperada',
    underWayRest: 'Em {time}, os seus pagamentos passam para {wallet}. Se não foi você, interrompa agora.',
    started: 'Foi iniciada uma recuperação da sua carteira',
    startedRest:
      '{partner} enviou um link que permite que uma nova carteira assine. 48 horas depois disso, os seus pagamentos passariam para ela. Se não foi você, interrompa agora.',
    stop: 'Interromper a recuperação',
    stopped: 'A recuperação foi interrompida',
    stoppedRest: 'Nada muda: você continua recebendo pagamentos em {wallet}.',
    stopHeading: 'Interromper a recuperação de uma carteira',
    stopRest: 'Assine com a carteira atual {wallet}. Isso interrompe a recuperação na hora, e nada muda.',
  },
  recovery: {
    title: 'Recuperar uma carteira',
    heading: '{partner} iniciou uma recuperação da sua carteira',
    rest: 'Escolha uma nova carteira e assine com ela. Os seus pagamentos passam para ela 48 horas depois, a menos que a carteira anterior {wallet} se oponha.',
    signHeading: 'Assine com a nova carteira',
    signRest: 'Depois de 48 horas, as novas cobranças são pagas em {wallet}.',
    sign: 'Assinar',
    waiting: 'A sua nova carteira assinou',
    waitingRest:
      'Em {time}, os seus pagamentos passam para {wallet}, a menos que a carteira anterior se oponha. Você não precisa fazer mais nada.',
    applied: 'Os seus pagamentos vão para a nova carteira',
    appliedRest: 'Entre com {wallet}.',
  },
};
