import type { OnboardingTexts } from '../onboarding.ts';

export const pt: OnboardingTexts<'pt'> = {
  onboard: {
    title: 'Receba pagamentos por meio de {partner}',
    steps: 'Etapas',
    stepEmail: 'E-mail',
    stepDetails: 'Dados',
    stepWallet: 'Carteira',
    stepSign: 'Assinatura',
    invites: '{partner} convida você a receber pagamentos em stablecoins',
    what: 'Seus clientes pagam em USDC, direto na sua própria carteira. {partner} cria as cobranças; só você pode movimentar o dinheiro.',
    coin: 'USDC é um dólar digital: cada USDC é feito para valer um dólar americano.',
    needs: 'Leva dois minutos. Você precisa de uma carteira, neste navegador ou no celular.',
    makeSure: 'Primeiro, confirmamos que é você. Enviamos um código para {email}, o endereço que {partner} nos deu.',
    sendCode: 'Enviar o código',
    enterCode: 'Digite o código do e-mail',
    code: 'Código de seis dígitos',
    codeHint: 'Enviado para {email}. Expira em 15 minutos.',
    goOn: 'Continuar',
    sendAnother: 'Enviar outro código',
    who: 'Quem recebe os pagamentos?',
    whoRest: 'Preencha o que quiser. {partner} vê esses dados, e os seus clientes veem o nome comercial.',
    name: 'Seu nome',
    businessName: 'Nome comercial',
    businessHint: 'Os seus clientes o veem na página de pagamento e nos recibos.',
    country: 'País',
    suggested: 'Sugestão',
    allCurrencies: 'Todas as moedas',
    currencyHint:
      'Suas cobranças são feitas nesta moeda. Antes de escolher outra, combine com {partner}: do contrário, as cobranças que fizer para você vão falhar.',
    later: 'Mais dados, opcionais',
    laterRest: 'Tudo aqui pode esperar: você encontra no painel, em “Perfil”.',
    noCountry: 'Não informado',
    phone: 'Telefone',
    website: 'Site',
    email: 'E-mail',
    emailHint: 'Só escrevemos para ele sobre a sua carteira e os seus acessos.',
    tooLong: 'No máximo {limit} caracteres.',
    notACountry: 'Escolha um país da lista.',
    notAnEmail: 'Isto não parece um endereço de e-mail.',
    goToWallet: 'Continuar para a carteira',
    whichWallet: 'Qual carteira recebe os pagamentos?',
    whichRest: 'Conectar só nos mostra o endereço dela. Você assina com ela na próxima etapa.',
    announced: '{partner} indicou a carteira {wallet}. Conecte essa.',
    noWallet: 'Ainda não tenho carteira',
    noWalletRest:
      'Uma carteira é um aplicativo gratuito em que você recebe e guarda dinheiro digital. Só você tem o controle dela.',
    installWallet: 'Instale um aplicativo de carteira pela loja de aplicativos do seu celular, por exemplo {apps}.',
    createWallet:
      'Crie nele uma carteira nova. Se aparecer uma frase de recuperação, anote-a em papel e não a mostre a ninguém: quem tiver a frase pode levar o seu dinheiro. Nós nunca pedimos essa frase.',
    returnWithWallet: 'Volte a esta página e abra-a no aplicativo da carteira. O que você preencheu fica salvo.',
    noExchange:
      'Uma conta em corretora não serve aqui, porque não pode assinar. Depois, você pode enviar o dinheiro da carteira para uma corretora e sacar para a sua conta bancária.',
    changeDetails: 'Editar os dados',
    signTitle: 'Entre com a sua carteira',
    signRest:
      'Isto prova que a carteira é sua. Não custa nada, não movimenta nada e não permite que ninguém tire dinheiro de você.',
    wallet: 'Sua carteira',
    changeWallet: 'Usar outra carteira',
    terms: 'Termos, versão {version}',
    termsTranslated:
      'Esta tradução é só para a sua conveniência. O texto em inglês abaixo é o que você aceita e o que tem validade.',
    termsBinding: 'Texto em inglês, com validade jurídica',
    accept: 'Li e aceito os termos, versão {version}.',
    finish: 'Concluir',
  },
  terms: {
    get: {
      title: 'O que você recebe',
      text: 'Os clientes pagam você em stablecoins, direto na sua própria carteira. Nós criamos a página de pagamento, acompanhamos a blockchain e avisamos você e o parceiro que o convidou quando um pagamento é definitivo. Nunca ficamos com o seu dinheiro e não podemos movimentá-lo.',
    },
    wallet: {
      title: 'Sua carteira',
      text: 'Você controla a carteira com que assina e guarda em segurança as chaves ou o meio de recuperação dela. Ninguém pode recuperar um pagamento feito a uma carteira cujas chaves se perderam. Uma carteira pertence a um só lojista.',
    },
    payments: {
      title: 'Pagamentos',
      text: 'Não podemos reverter um pagamento na blockchain. Os reembolsos são tratados entre você e o seu cliente. O preço em stablecoins é fixado quando a cobrança é criada, pela taxa de câmbio daquele momento.',
    },
    duties: {
      title: 'Seus deveres',
      text: 'Você vende só o que é legal onde você e os seus clientes estão, paga os seus impostos e nos dá informações verdadeiras sobre você. Você não está sujeito a sanções.',
    },
    stored: {
      title: 'O que é armazenado',
      text: 'Armazenamos os dados que você informa, o endereço da sua carteira e as cobranças e os pagamentos feitos a ela. O parceiro que convidou você os vê. Quando você aceita, guardamos a versão destes termos, a data e hora e o seu endereço IP.',
    },
    ending: {
      title: 'Encerramento',
      text: 'Você pode parar a qualquer momento. O parceiro ou nós podemos interromper novas cobranças; o dinheiro já pago continua seu, pois sempre esteve na sua carteira.',
    },
  },
};
