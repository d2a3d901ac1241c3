import type { OnboardingTexts } from '../onboarding.ts';

export const fr: OnboardingTexts<'fr'> = {
  onboard: {
    title: 'Être payé par l’intermédiaire de {partner}',
    steps: 'Étapes',
    stepEmail: 'E-mail',
    stepDetails: 'Informations',
    stepWallet: 'Portefeuille',
    stepSign: 'Signature',
    invites: '{partner} vous invite à être payé en stablecoins',
    what: 'Vos clients paient en USDC, directement dans votre propre portefeuille. {partner} demande les paiements ; personne d’autre que vous ne peut déplacer l’argent.',
    needs: 'Cela prend deux minutes. Il vous faut un portefeuille, dans ce navigateur ou sur votre téléphone.',
    makeSure:
      'D’abord, nous vérifions que c’est bien vous. Nous envoyons un code à {email}, l’adresse que {partner} nous a donnée.',
    sendCode: 'M’envoyer le code',
    enterCode: 'Saisissez le code reçu par e-mail',
    code: 'Six chiffres',
    codeHint: 'Envoyé à {email}. Il est valable 15 minutes.',
    goOn: 'Continuer',
    sendAnother: 'Envoyer un autre code',
    who: 'Qui est payé ?',
    whoRest: 'Remplissez ce que vous voulez. {partner} le voit, et vos clients voient le nom commercial.',
    name: 'Votre nom',
    businessName: 'Nom commercial',
    businessHint: 'Vos clients le voient sur la page de paiement et sur les reçus.',
    country: 'Pays',
    noCountry: 'Non précisé',
    phone: 'Téléphone',
    website: 'Site web',
    email: 'E-mail',
    emailHint: 'Nous n’y écrivons qu’au sujet de votre portefeuille et de votre connexion.',
    tooLong: '{limit} caractères au maximum.',
    notACountry: 'Choisissez un pays dans la liste.',
    notAnEmail: 'Cela ne ressemble pas à une adresse e-mail.',
    goToWallet: 'Continuer vers votre portefeuille',
    whichWallet: 'Quel portefeuille est payé ?',
    whichRest: 'La connexion nous montre seulement son adresse. Vous signez avec lui à l’étape suivante.',
    announced: '{partner} a indiqué le portefeuille {wallet}. Connectez celui-ci.',
    changeDetails: 'Modifier vos informations',
    signTitle: 'Connectez-vous avec votre portefeuille',
    signRest:
      'Cela montre que le portefeuille est à vous. Cela ne coûte rien, ne déplace rien et ne permet à personne de vous prendre de l’argent.',
    wallet: 'Votre portefeuille',
    changeWallet: 'Prendre un autre portefeuille',
    terms: 'Les conditions, version {version}',
    termsTranslated:
      'Cette traduction aide à les lire. Le texte anglais qui suit est celui que vous acceptez et qui fait foi.',
    termsBinding: 'Le texte anglais, qui fait foi',
    accept: 'J’ai lu les conditions, version {version}, et je les accepte.',
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
