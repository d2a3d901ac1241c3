import type { PayTexts } from '../pay.ts';

export const pt: PayTexts<'pt'> = {
  pay: {
    title: 'Pagar a {merchant}',
    titlePaid: 'Pago: {merchant}',
    dueOn: '{amount} {token} na rede {network}',
    restLeft: 'Falta pagar',
    restOn: 'Falta pagar na rede {network}',
    restOf: 'de {fiat} ({amount} USDC)',
    memo: 'Referente a',
    rateAt: '{rate}, {time}',
    until: 'até {time}',
    left: 'Tempo restante: {time}',
    through: 'Via {partner}',
    straight: 'O pagamento vai direto para {merchant}.',
    details: 'Cobrança {number}',
  },
  statusMessage: {
    waiting: 'Aguardando o seu pagamento',
    waitingRest: 'Ele aparece aqui assim que estiver na rede.',
    seen: 'Pagamento detectado na rede {network}',
    seenRest: 'Aguardando a confirmação. Você não precisa fazer mais nada.',
    seenOpenRest: 'Aguardando a confirmação. Se foi você que enviou, não precisa fazer mais nada. Não pague de novo.',
    sending: 'Enviando o seu pagamento na rede {network}',
    sendingRest:
      'Você assinou e nós enviamos o pagamento por você. Assim que for confirmado, está tudo pronto; você não precisa fazer mais nada.',
    sendingLongRest:
      'Você assinou, mas está demorando mais que o normal. O pagamento ainda pode ser concluído, então não pague de novo por enquanto.',
    unsent: 'O pagamento que você assinou não foi concluído',
    unsentRest: 'Nenhum valor foi movimentado. Pague de novo.',
    unsentHoldsRest:
      'Nenhum valor foi movimentado. A sua assinatura continua válida por alguns minutos. Para não pagar duas vezes, assine de novo com a mesma carteira ou espere antes de pagar de outra forma.',
    confirming: 'Confirmando o seu pagamento',
    confirmingCount: {
      one: '{seen} de {count} confirmação na rede {network}.',
      many: '{seen} de {count} de confirmações na rede {network}.',
      other: '{seen} de {count} confirmações na rede {network}.',
    },
    confirmingTag: 'Aguardando a rede {network} torná-lo definitivo.',
    confirmingRest: 'Você pode fechar esta página.',
    paid: 'Pago',
    paidRest: '{merchant} recebeu o seu pagamento. Você não precisa fazer mais nada.',
    paidOwedRest: '{merchant} recebeu o seu pagamento.',
    paidOver: 'Você pagou {amount} USDC a mais. Peça o reembolso a {merchant}.',
    refunded: '{merchant} reembolsou {amount} USDC.',
    refundedPart: '{merchant} reembolsou {amount} de {due} USDC.',
    refundRest: 'Se o restante não chegou, peça-o a {merchant}.',
    refunding: '{merchant} devolveu {amount} USDC. A rede ainda está confirmando.',
    refundReported: 'Segundo {merchant}, {amount} USDC foram reembolsados.',
    paidLate: 'O pagamento chegou depois que a cobrança expirou, mas conta mesmo assim.',
    partial: 'Faltam {amount} USDC',
    partialRest:
      'Chegaram {paid} de {due} USDC. Pague o restante de qualquer uma das formas abaixo; os pagamentos são somados.',
    expired: 'Esta cobrança expirou',
    expiredRest:
      'Não pague esta cobrança. Peça uma nova a {merchant}. Um pagamento já enviado ainda conta se tiver chegado à rede até 30 minutos depois do vencimento.',
    expiredPartial: 'Chegaram {paid} de {due} USDC. Fale com {merchant}.',
    voided: 'Esta cobrança foi cancelada',
    voidedRest: 'Não pague esta cobrança. Você não deve nada por ela.',
    tooLate: 'Um pagamento chegou tarde demais',
    tooLateRest:
      '{amount} USDC chegaram depois que a cobrança foi encerrada, por isso não contam automaticamente. {merchant} vê o pagamento; entre em contato.',
    voidedPaid: 'Um pagamento chegou depois do cancelamento da cobrança',
    reorged: 'A rede reverteu o pagamento',
    reorgedRest:
      'A rede reescreveu os últimos blocos, e a sua transação não está mais neles. Em geral, ela reaparece sozinha. Confira na sua carteira antes de pagar de novo.',
    failed: 'A sua transação falhou',
    failedRest:
      'Ela foi registrada na rede {network}, mas não movimentou nenhum valor. Veja na sua carteira por que falhou e pague de novo.',
    replaced: 'A sua transação foi substituída',
    replacedRest:
      'Outra transação da sua carteira a substituiu. Se essa outra pagar a cobrança, ela aparecerá aqui sozinha; se não, pague de novo.',
    gone: 'A sua transação não está mais na rede',
    goneRest:
      'Ela foi descartada antes de ser confirmada, então nenhum valor foi movimentado. Confira na sua carteira e pague de novo.',
    wrongToken: 'Chegou o token errado, não USDC',
    wrongTokenRest:
      '{symbol} ({token}) foi enviado na rede {network}. Esta cobrança não pode ser paga com ele, então ele não conta. Fale com {merchant} e pague com {accepted}.',
    fakeToken: 'Um token diz ser {symbol}, mas é outro',
    fakeTokenRest:
      'Chegou na rede {network} um token que diz ser {symbol}, mas o contrato dele ({token}) não é o de {symbol}. Ele não conta e pode não valer nada. Fale com {merchant} e pague com o {accepted} verdadeiro.',
    wrongNetwork: 'O pagamento chegou pela rede errada',
    wrongNetworkRest:
      'Ele foi enviado na rede {network}, que não é aceita aqui, por isso não conta. Fale com {merchant} e pague em {accepted}.',
    alreadyPaid:
      'Chegou um segundo pagamento, de {amount} USDC. Ele não era necessário; peça o reembolso a {merchant}.',
    trouble: 'Não conseguimos acessar a rede {network} no momento',
    troubleRest:
      'Nada se perde. Se você enviou um pagamento, nós o encontraremos assim que conseguirmos ler a rede de novo.',
    offline: 'Você está sem conexão. Esta página continua assim que a conexão voltar.',
    unreachable:
      'Esta página não consegue se conectar a nós no momento e continua tentando. Se você enviou um pagamento, nós o encontraremos.',
    unanswered:
      'Nenhuma resposta chegou. Verifique sua conexão e tente novamente. Se você enviou um pagamento, nós o encontraremos.',
  },
  paymentMethods: {
    heading: 'Como você quer pagar?',
    headingNear: 'Esse pagamento não é seu? Pague aqui',
    none: '{merchant} não pode receber pagamentos em nenhuma destas redes no momento. Entre em contato.',
    feeless: 'Pagar sem taxa de rede',
    feelessRest:
      'Você só assina. Nós enviamos o pagamento por você, e a sua carteira não precisa de moeda para a taxa.',
    twice:
      'Um pagamento que você assinou ainda está a caminho. Se você pagar de outra forma agora, os dois podem ser concluídos.',
    network: 'Rede',
    phone: 'Carteira no celular',
    phoneRest: 'Escaneie com a câmera do celular para abrir esta página nele e pague com a sua carteira.',
    scanAddress: 'Escanear o endereço',
    scanAddressRest:
      'Para corretoras e carteiras físicas: este código contém só o endereço. Digite o valor você mesmo e escolha a rede {network}.',
    phoneDirect: 'Escanear o endereço e o valor',
    phoneDirectRest: 'A sua carteira deve mostrar este endereço e este valor; se não mostrar, pare.',
    openIn: 'Abrir no app da sua carteira',
    walletConnect: 'WalletConnect',
    walletConnectRest: 'Escaneie com qualquer carteira compatível com WalletConnect.',
    manual: 'Pagar manualmente ou por uma corretora',
    amount: 'Valor',
    address: 'Endereço',
    checkToken: 'Conferir o token (nunca envie para este endereço)',
    checkTokenRest:
      'Este é o contrato de {token} na rede {network}. O token na sua carteira deve ter o mesmo endereço de contrato.',
    sendExactly: 'Envie exatamente {amount} {token} na rede {network}',
    copyAmount: 'Copiar o valor',
    copyAddress: 'Copiar o endereço',
    copyLink: 'Copiar o link',
    warning:
      'Envie somente {token}, somente na rede {network}. Qualquer outra coisa não conta para este pagamento e pode se perder para sempre.',
    exactly:
      'Cada dígito conta: o valor exato identifica o seu pagamento, então não arredonde. Se a sua corretora desconta a taxa do valor, some a taxa.',
  },
  wallet: {
    payWith: 'Pagar com {wallet}',
    payRest: 'Pagar o restante com {wallet}',
    browserWallet: 'a carteira do navegador',
    connecting: 'Abra {wallet} e permita que esta página veja o seu endereço.',
    pairing: 'Preparando um código para a sua carteira…',
    away: 'Não conseguimos acessar {wallet} no momento. Nenhum valor foi movimentado. Pague de outra forma ou tente de novo mais tarde.',
    switching: 'Permita em {wallet} a mudança para a rede {network}.',
    confirm: 'Confirme o pagamento em {wallet}.',
    decline: 'Recuse o pagamento em {wallet}: não há mais nada a pagar aqui.',
    declineChanged: 'O valor devido mudou. Recuse o pagamento em {wallet} e depois pague novamente.',
    sent: 'Enviado. Aguardando a rede.',
    unseen: 'Enviado, mas ainda não está na rede. Confira em {wallet} antes de pagar de novo.',
    rejected: 'Você recusou em {wallet}. Nenhum valor foi movimentado.',
    pending: '{wallet} ainda espera a sua resposta a uma solicitação anterior. Abra e responda lá.',
    insufficient:
      'Esta carteira tem {amount} {token} na rede {network}, o que não é suficiente. Nenhum valor foi movimentado.',
    fee: 'Esta carteira não tem {coin} suficiente para a taxa da rede {network}. Nenhum valor foi movimentado.',
    signPayment: 'Assine o pagamento em {wallet}. Não há taxa de rede.',
    noCoin:
      'Esta carteira não tem {coin} para a taxa da rede {network}, então enviamos o pagamento por você, sem taxa. Assine em {wallet}.',
    handingIn: 'Assinado. Enviando o seu pagamento.',
    handedIn: 'Enviado por nós para você. Aguardando a rede.',
    feeInstead:
      'Esta carteira não tem {coin} suficiente para a taxa da rede {network}. Nenhum valor foi movimentado. Tente de novo sem taxa de rede: você só assina.',
    notOffered:
      'Não podemos enviar o pagamento sem taxa de rede no momento. Nenhum valor foi movimentado. Pague com a taxa ou de outra forma.',
    otherUnderWay: 'Outro pagamento desta cobrança já está a caminho. Nada mais foi enviado.',
    alreadyUsed: 'Esta assinatura já foi usada. Se ela pagou esta cobrança, isso aparecerá aqui em instantes.',
    closed: 'Esta cobrança não pode mais ser paga desta forma. Nada foi enviado.',
    changed: 'A cobrança mudou nesse meio-tempo. Nada foi enviado; tente de novo.',
    badSignature:
      'O contrato do token não aceita esta assinatura de {wallet}. Nenhum valor foi movimentado. Pague com a taxa de rede.',
    lowBalance: 'Esta carteira não tem {token} suficiente na rede {network}. Nenhum valor foi movimentado.',
    refused:
      'O contrato do token recusou este pagamento. Nenhum valor foi movimentado. Use outra carteira ou pague de outra forma.',
    noNetwork: 'Não conseguimos acessar a rede {network} no momento. Nada foi enviado; tente de novo em um minuto.',
    tooMany: 'Tentativas demais para este pagamento. Nada foi enviado. Espere um minuto e tente de novo.',
    notReached: 'Esta página não consegue se conectar a nós no momento. Nada foi enviado; tente de novo daqui a pouco.',
    unsure:
      'Esta página não consegue se conectar a nós, então não sabemos se o seu pagamento está a caminho. Espere a página voltar antes de pagar de novo.',
    noAccount: '{wallet} não informou nenhum endereço. Desbloqueie e tente de novo.',
    wrongNetwork:
      '{wallet} não mudou para a rede {network}. Nenhum valor foi movimentado. Mude a rede na carteira e tente de novo, ou pague de outra forma.',
    signNetwork: '{wallet} não mudou para a rede {network}. Mude a rede na carteira e assine de novo.',
    reverted: '{wallet} informa que o pagamento falhou. Nenhum valor foi movimentado; tente de novo.',
    failed: '{wallet} não enviou o pagamento. {reason} Confira a atividade recente lá antes de tentar de novo.',
    signWith: 'Assinar com {wallet}',
    signing: 'Assine em {wallet} para confirmar que este pagamento é seu. Não custa nada.',
    otherAccount: '{wallet} está usando outro endereço. Mude para {address} lá e tente de novo.',
    paymentNotSigned:
      '{wallet} não assinou o pagamento. Nenhum valor foi movimentado. Tente de novo ou pague de outra forma. {reason}',
    notSigned: '{wallet} não assinou. {reason}',
  },
  found: {
    title: 'Chegou um pagamento de {amount} USDC; o valor cobrado era {asked}',
    titleSame: 'Chegou um pagamento de {amount} USDC, mas nada o liga a esta cobrança',
    shortRest:
      'As corretoras costumam descontar a taxa do valor ou arredondá-lo, por isso não sabemos se este pagamento é desta cobrança. Se foi você que o enviou, não pague de novo. Informe a {merchant} a referência abaixo: no painel, dá para vincular o pagamento e cobrar de você o restante.',
    otherRest:
      'Não sabemos se este pagamento é desta cobrança. Se foi você que o enviou, não pague de novo. Informe a {merchant} a referência abaixo: no painel, dá para vincular o pagamento.',
    endedRest:
      'Não sabemos se este pagamento é desta cobrança. Se foi você que o enviou, informe a {merchant} a referência abaixo: o pagamento aparece no painel.',
    reference: 'Referência',
    copyReference: 'Copiar a referência',
  },
  proof: {
    headingWaiting: 'Enviou, mas ainda não aparece?',
    headingEnded: 'Você já pagou?',
    hash: 'Hash da transação',
    hashHint: 'Da sua carteira ou corretora: 0x seguido de 64 letras ou dígitos. Procuramos na hora.',
    look: 'Procurar esta transação',
    elsewhere: 'Assinar em outro lugar',
    elsewhereRest: 'Assine estes dados tipados (EIP-712) com a carteira que pagou e cole a assinatura aqui.',
    sign: 'Enviar a assinatura',
    signature: 'Assinatura',
    signHeading: 'Pagou da sua própria carteira? Confirme com uma assinatura',
    signHint: 'Só o dono de {address} pode confirmar que este pagamento é desta cobrança.',
    malformed: 'Isto não é um hash de transação. Ele deve ser 0x seguido de 64 letras ou dígitos.',
    not_found:
      'Ainda não encontramos esta transação em nenhuma rede aceita. Confira o hash e a rede em que você a enviou.',
    unavailable: 'Não conseguimos acessar a rede. Nada se perde; tente de novo em um minuto.',
    pending_in_mempool: 'A transação foi enviada e aguarda confirmação. Você não precisa fazer mais nada.',
    failed: 'Esta transação falhou na rede, então nenhum valor foi movimentado. Envie de novo.',
    wrong_token: 'Esta transação chegou ao endereço certo, mas com o token ou a moeda errada. Fale com {merchant}.',
    wrong_recipient: 'Esta transação não paga o endereço desta cobrança.',
    wrong_network:
      'Esta transação chegou ao endereço por uma rede em que {merchant} não pode receber pagamentos. Entre em contato.',
    before_request: 'Esta transação é anterior à cobrança, então não pode ser o pagamento dela.',
    seen: 'A transação está na rede. Ela aparecerá aqui em instantes.',
    counted: 'Este pagamento foi detectado e está sendo confirmado.',
    verified: 'Este pagamento está completo.',
    underpaid: 'Este pagamento conta, mas ainda faltam {amount} USDC.',
    already_used: 'Esta transação já pagou outra cobrança.',
    given_back:
      '{merchant} está reembolsando este pagamento, então ele não pode mais pagar nenhuma cobrança. Entre em contato.',
    already_paid: 'Outra transação já pagou esta cobrança. {merchant} também vê esta; entre em contato.',
    too_many_parts:
      'Esta cobrança recebeu um número excessivo de pagamentos pequenos. {merchant} também vê este; entre em contato.',
    late: 'Esta transação chegou mais de 30 minutos depois que a cobrança expirou. {merchant} a vê; entre em contato.',
    voided: 'A cobrança foi cancelada antes de este pagamento ser detectado. {merchant} o vê; entre em contato.',
    minted:
      'O pagamento veio direto de uma ponte ou de um emissor, então nenhuma carteira pode confirmar que ele é desta cobrança. {merchant} o vê; entre em contato.',
    bad_signature: 'Esta assinatura não é da carteira que enviou o pagamento.',
    tooMany:
      'Tentativas demais para este pagamento. Espere um minuto; um pagamento enviado também é encontrado automaticamente.',
  },
  test: {
    heading: 'Pagamentos de teste',
    hint: 'Pague de uma carteira de teste, com transações reais na rede do ambiente de testes, e veja cada resultado.',
    working: 'Enviando o pagamento de teste…',
    outcomes: {
      exact: 'Valor exato',
      too_little: 'Valor a menos',
      rest: 'O restante',
      too_much: 'Valor a mais',
      late: 'Atrasado, mas conta',
      too_late: 'Tarde demais',
      wrong_token: 'Token errado',
      wrong_network: 'Rede errada',
      failed: 'Transação com falha',
      reorganised: 'Revertido pela rede',
      pending: 'Ainda não confirmado',
    },
    sent: 'Enviado. Não conta para esta cobrança; em cerca de dez segundos, a página diz por quê.',
    refused: {
      already_paid: 'Nada foi enviado: esta cobrança já está paga.',
      voided: 'Nada foi enviado: esta cobrança foi cancelada.',
      nothing_missing: 'Nada foi enviado: não falta pagar nada.',
      busy: 'Outros pagamentos de teste estão em andamento. Tente de novo em alguns segundos.',
      not_attached:
        'O pagamento ficou definitivo antes que a rede pudesse revertê-lo. Tente de novo com uma nova cobrança.',
    },
  },
};
