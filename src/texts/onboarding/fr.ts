import type { OnboardingTexts } from '../onboarding.ts';

export const fr: OnboardingTexts<'fr'> = {
  onboard: {
    title: 'Recevoir des paiements via {partner}',
    steps: 'Étapes',
    stepEmail: 'E-mail',
    stepDetails: 'Informations',
    stepWallet: 'Portefeuille',
    stepSign: 'Signature',
    invites: '{partner} vous invite à recevoir des paiements en stablecoins',
    what: 'Vos clients paient en USDC, directement dans votre propre portefeuille. {partner} crée les demandes ; vous seul pouvez déplacer l’argent.',
    coin: 'L’USDC est un dollar numérique : un USDC est conçu pour valoir un dollar américain.',
    needs: 'Cela prend deux minutes. Il vous faut un portefeuille, dans ce navigateur ou sur votre téléphone.',
    makeSure:
      'Vérifions d’abord que c’est bien vous. Nous envoyons un code à {email}, l’adresse que {partner} nous a donnée.',
    sendCode: 'M’envoyer un code',
    enterCode: 'Saisissez le code reçu par e-mail',
    code: 'Code à six chiffres',
    codeHint: 'Envoyé à {email}. Il expire dans 15 minutes.',
    goOn: 'Continuer',
    notYours: 'Ce n’est pas votre adresse ? Demandez une nouvelle invitation à {partner}.',
    sendAnother: 'Envoyer un autre code',
    who: 'Qui reçoit les paiements ?',
    whoRest: 'Tout est facultatif. {partner} voit ces informations, et vos clients voient le nom commercial.',
    name: 'Votre nom',
    businessName: 'Nom commercial',
    businessHint: 'Vos clients le voient sur la page de paiement et sur les reçus.',
    country: 'Pays',
    suggested: 'Suggestion',
    allCurrencies: 'Toutes les devises',
    currencyHint:
      'Vos demandes sont établies dans cette devise. Avant d’en choisir une autre, mettez-vous d’accord avec {partner} : sinon, ses demandes pour vous échoueront.',
    later: 'Autres informations, facultatives',
    laterRest: 'Tout ceci peut attendre : vous le retrouverez dans votre tableau de bord, sous « Profil ».',
    noCountry: 'Non indiqué',
    phone: 'Téléphone',
    website: 'Site web',
    email: 'E-mail',
    emailHint: 'Nous n’y écrivons qu’au sujet de votre portefeuille et de vos connexions.',
    tooLong: '{limit} caractères au maximum.',
    notACountry: 'Choisissez un pays dans la liste.',
    notAnEmail: 'Cela ne ressemble pas à une adresse e-mail.',
    goToWallet: 'Continuer vers votre portefeuille',
    whichWallet: 'Quel portefeuille reçoit les paiements ?',
    whichRest: 'La connexion ne nous montre que son adresse. Vous signerez avec lui à l’étape suivante.',
    announced: '{partner} a indiqué le portefeuille {wallet}. Connectez celui-ci.',
    noWallet: 'Je n’ai pas encore de portefeuille',
    noWalletRest:
      'Un portefeuille est une application gratuite pour recevoir et conserver de l’argent numérique. Vous seul en avez le contrôle.',
    installWallet:
      'Installez une application de portefeuille depuis la boutique d’applications de votre téléphone, par exemple {apps}.',
    createWallet:
      'Créez-y un nouveau portefeuille. Si l’application affiche une phrase de récupération, notez-la sur papier et ne la montrez à personne : quiconque la possède peut prendre votre argent. Nous ne la demandons jamais.',
    returnWithWallet:
      'Revenez sur cette page et ouvrez-la dans l’application de votre portefeuille. Ce que vous avez saisi est enregistré.',
    noExchange:
      'Un compte sur une plateforme d’échange ne convient pas ici, car il ne peut pas signer. Plus tard, vous pourrez envoyer de l’argent de votre portefeuille vers une plateforme d’échange et le faire verser sur votre compte bancaire.',
    changeDetails: 'Modifier vos informations',
    signTitle: 'Connectez-vous avec votre portefeuille',
    signRest:
      'Cela prouve que le portefeuille est à vous. C’est gratuit, rien n’est déplacé, et personne ne peut ainsi vous prendre de l’argent.',
    wallet: 'Votre portefeuille',
    changeWallet: 'Utiliser un autre portefeuille',
    terms: 'Conditions, version {version}',
    termsTranslated:
      'Cette traduction est fournie pour votre commodité. C’est le texte anglais ci-dessous que vous acceptez et qui fait foi.',
    termsBinding: 'Texte anglais faisant foi',
    accept: 'J’ai lu et j’accepte les conditions, version {version}.',
    finish: 'Terminer',
  },
  terms: {
    get: {
      title: 'Ce que vous obtenez',
      text: 'Vos clients vous paient en stablecoins, directement dans votre propre portefeuille. Nous créons la page de paiement, observons la chaîne de blocs et vous disons, ainsi qu’au partenaire qui vous a invité, quand un paiement est définitif. Nous ne détenons jamais votre argent et ne pouvons pas le déplacer.',
    },
    wallet: {
      title: 'Votre portefeuille',
      text: 'Vous contrôlez le portefeuille avec lequel vous signez et gardez en sûreté ses clés ou son moyen de récupération. Personne ne peut faire revenir un paiement versé sur un portefeuille dont les clés sont perdues. Un portefeuille n’appartient qu’à un seul commerçant.',
    },
    payments: {
      title: 'Paiements',
      text: 'Nous ne pouvons pas annuler un paiement sur une chaîne de blocs. Les remboursements se règlent entre vous et votre client. Le prix en stablecoins est fixé à la création de la demande, au taux de change de ce moment.',
    },
    duties: {
      title: 'Vos obligations',
      text: 'Vous ne vendez que ce qui est légal là où vous et vos clients vous trouvez, vous payez vos impôts, et ce que vous nous dites de vous est vrai. Vous ne faites pas l’objet de sanctions.',
    },
    stored: {
      title: 'Ce qui est conservé',
      text: 'Nous conservons les informations que vous donnez, l’adresse de votre portefeuille, ainsi que les demandes et les paiements qui y sont faits. Le partenaire qui vous a invité les voit. Quand vous acceptez, nous gardons la version de ces conditions, l’heure et votre adresse internet.',
    },
    ending: {
      title: 'Fin',
      text: 'Vous pouvez arrêter à tout moment. Le partenaire ou nous pouvons arrêter les nouvelles demandes ; l’argent déjà payé reste le vôtre, puisqu’il a toujours été dans votre portefeuille.',
    },
  },
};
