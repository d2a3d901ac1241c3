import type { SignInTexts } from '../sign-in.ts';

export const pt: SignInTexts<'pt'> = {
  signIn: {
    title: 'Entrar',
    heading: 'Entre no seu painel',
    rest: 'Use a carteira em que você recebe pagamentos.',
    signHeading: 'Assine a mensagem',
    signRest: 'Não custa nada e não movimenta nada.',
    signIn: 'Entrar',
    another: 'Usar outra carteira',
    lost: 'Perdeu a carteira? Peça ao parceiro que convidou você que inicie uma recuperação.',
    /** After a form was sent without a session. */
    unsaved: 'Sua sessão terminou e nada foi salvo. Entre e repita o passo.',
    kept: 'O que você digitou fica guardado neste navegador por 30 minutos e reaparece assim que você entrar.',
  },
  signInUser: {
    portalTitle: 'Entrar no portal',
    adminTitle: 'Entrar na administração',
    rest: 'Enviamos um link de acesso para o seu e-mail. Não é preciso senha.',
    email: 'E-mail',
    notAnEmail: 'Isto não parece um endereço de e-mail.',
    send: 'Enviar um link',
    sent: 'Confira a sua caixa de entrada',
    sentRest:
      'Se este endereço tem acesso, um link está a caminho. Abra-o neste navegador em até 15 minutos. Não chegou? Confira a pasta de spam ou fale com quem convidou você.',
    again: 'Pedir outro link',
    enough: 'Já enviamos links suficientes para este endereço por enquanto',
    enoughRest:
      'Abra o mais recente ou espere 15 minutos e tente de novo. Se não resolver, peça um novo convite a quem convidou você.',
    open: 'Entrar como {email}',
    openRest: 'Este link dá acesso uma vez, neste navegador.',
    choose: 'Você tem acesso a mais de um lugar. Aonde quer ir?',
    signIn: 'Entrar',
    signInTo: 'Entrar em {partner}',
    unknown: 'Este link não é válido',
    unknownRest: 'Ele pode estar incompleto ou não ser mais válido. Peça um novo aqui.',
    used: 'Este link já foi usado',
    usedRest:
      'Cada link funciona só uma vez. Peça um novo aqui. Se não foi você quem o usou, avise quem convidou você.',
    expired: 'Este link expirou',
    expiredRest: 'Os links expiram em 15 minutos. Peça um novo aqui.',
    otherBrowser: 'Este link foi pedido em outro navegador',
    otherBrowserRest:
      'Para a sua segurança, ele só funciona no navegador em que foi pedido. Abra-o lá ou peça um novo aqui. Se não foi você quem pediu, ignore-o.',
    mailSubject: 'Seu link para entrar em {place}',
    mailBody:
      'Entre em {place}:\n\n{link}\n\nO link expira em 15 minutos e só funciona uma vez, no navegador em que foi pedido.\nSe não foi você quem pediu, ignore este e-mail: ninguém pode usá-lo em outro navegador.\n',
    inviteSubject: 'Você foi convidado para {place}',
    inviteBody:
      'Você já pode entrar em {place}:\n\n{link}\n\nO link expira em 15 minutos e só funciona uma vez. Não o compartilhe.\nMais tarde, ou se ele já tiver expirado, peça um link com o seu e-mail: {signIn}\n',
  },
  confirmAct: {
    title: 'Confirme que é você',
    why: 'Esta alteração afeta a segurança ou o destino do dinheiro e dos eventos, e você entrou há mais de dez minutos. Nada mudou ainda, e o que você preencheu nesta página está guardado.',
    byMail:
      'Enviaremos um link para {email}. Abra-o neste navegador para entrar, depois volte a esta página e continue.',
    sendLink: 'Enviar um link por e-mail',
    goOn: 'Continuar',
  },
  passkey: {
    signIn: 'Entrar com uma chave de acesso',
    none: 'As chaves de acesso não estão disponíveis neste navegador ou neste endereço. Abra esta página em um navegador compatível, com o JavaScript ativado.',
    linkNeedsOne: 'Uma chave de acesso protege esta conta. Use-a para concluir o acesso.',
    linkNeedsOneFor: 'Uma chave de acesso protege {partners}; só o link não basta.',
    refused: 'Esta chave de acesso não deu acesso',
    heading: 'Chaves de acesso',
    rest: 'Com uma chave de acesso, você entra com a impressão digital, o rosto ou um PIN. Depois que tiver uma, os links por e-mail sozinhos deixam de funcionar. Adicione uma segunda em outro dispositivo, caso perca a primeira.',
    name: 'Nome',
    nameHint: 'Para reconhecê-la depois.',
    add: 'Adicionar uma chave de acesso',
    created: 'Adicionada',
    lastUsed: 'Último uso',
    never: 'Nunca',
    remove: {
      label: 'Remover',
      title: 'Remover a chave de acesso {name}?',
      rest: 'Você não poderá mais entrar com ela. Apague-a também no dispositivo.',
      lastRest:
        'É a sua única: sem ela, um link por e-mail volta a bastar para entrar. Apague-a também no dispositivo.',
    },
    confirm: 'Usar a chave de acesso',
    confirmRest: 'Você entrou há algum tempo. Use uma chave de acesso antes de alterar algo aqui.',
    signInAnew: 'Você entrou há algum tempo. Saia e entre de novo antes de alterar algo aqui.',
    done: {
      added: 'A chave de acesso foi adicionada. A partir de agora, você pode entrar com ela.',
      removed: 'A chave de acesso foi removida.',
      confirmed: 'Você pode alterar as suas chaves de acesso pelos próximos dez minutos.',
    },
    refusals: {
      unknown: 'Não a reconhecemos. Ela pode ter sido removida ou ser de outra conta ou de outro serviço.',
      expired: 'Demorou mais de cinco minutos ou foi enviada duas vezes. Tente de novo.',
      copied:
        'Pode existir uma cópia dela, por isso foi recusada. Entre com outra chave de acesso e remova esta, ou peça a um proprietário que remova as suas.',
      not_made: 'Nenhuma chave de acesso foi adicionada: a resposta do navegador não era válida. Tente de novo.',
      stale: 'Nada foi alterado: você entrou há mais de dez minutos.',
      enough: 'Nenhuma chave de acesso foi adicionada: o limite é de vinte. Remova uma primeiro.',
    },
    browser: {
      waiting: 'Siga as instruções do navegador.',
      declined: 'Nada foi alterado: você recusou, não há chave de acesso para este endereço ou demorou demais.',
      known: 'Este dispositivo já tem uma chave de acesso para a sua conta.',
      failed: 'Algo deu errado no navegador. Nada foi alterado. Tente de novo ou use outro dispositivo.',
      unreachable: 'Não foi possível se conectar a nós. Nada foi alterado. Tente de novo em instantes.',
    },
    mails: {
      added: {
        subject: 'Uma chave de acesso foi adicionada à sua conta em {place}',
        body: 'Uma chave de acesso foi adicionada à sua conta em {place}. A partir de agora, ela é necessária para entrar.\n\nSe não foi você, avise imediatamente um proprietário de {place} ou quem convidou você.\n',
      },
      removed: {
        subject: 'Chaves de acesso foram removidas da sua conta em {place}',
        body: 'Uma ou mais chaves de acesso foram removidas da sua conta em {place}. Se não restar nenhuma, um link para este endereço basta para entrar.\n\nSe você não pediu isso, avise imediatamente um proprietário de {place} ou quem convidou você.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} está desativado. Você pode consultar, mas não alterar nada.',
    notWhileOff: 'Não disponível enquanto {partner} estiver desativado',
    notAllowed: 'Sua função não permite isto',
    notAllowedRest: 'Nada foi alterado. Um proprietário de {partner} pode fazer isso ou dar a você outra função.',
    signedInAs: 'Conectado como {email}',
    sessions: 'Onde você está conectado',
    browser: 'Navegador',
    from: 'Endereço IP',
    lastSeen: 'Último uso',
    since: 'Acesso em',
    thisOne: 'Este navegador',
    unknownBrowser: 'Navegador desconhecido',
    signOutThere: 'Sair por lá',
    signedOutThere: 'O outro navegador foi desconectado.',
    roles: { owner: 'Proprietário', developer: 'Desenvolvedor', viewer: 'Leitor' },
    refusals: {
      email_invalid: 'Isto não parece um endereço de e-mail. Nenhum convite foi enviado.',
      role_differs:
        'Este usuário já faz parte da equipe, com outra função. Altere a função lá; nenhum convite foi enviado.',
      user_disabled: 'Este usuário foi removido. Restaure o acesso dele primeiro; nenhum convite foi enviado.',
      user_unknown: 'Este usuário não existe aqui. Nada foi alterado.',
      last_owner: 'Este é o único proprietário. Torne outra pessoa proprietária primeiro; nada foi alterado.',
      too_many_invitations: 'O limite é de dez convites por minuto. Espere um minuto; nenhum convite foi enviado.',
      team_full: 'Uma equipe tem no máximo 1000 pessoas, contando as que foram removidas. Ninguém foi convidado.',
      invited_enough:
        'Vários convites acabaram de ser enviados para este endereço. Peça que abram o mais recente ou tente de novo em 15 minutos; nenhum convite foi enviado.',
      invited_today:
        'Este endereço já recebeu convites suficientes por hoje. Peça que abram o mais recente ou tente de novo amanhã; nenhum convite foi enviado.',
    },
  },
};
