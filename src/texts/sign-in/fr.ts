import type { SignInTexts } from '../sign-in.ts';

export const fr: SignInTexts<'fr'> = {
  signIn: {
    title: 'Connexion',
    heading: 'Connectez-vous à votre tableau de bord',
    rest: 'Avec le portefeuille sur lequel vous êtes payé.',
    signHeading: 'Signez le message',
    signRest: 'Cela ne coûte rien et ne déplace rien.',
    signIn: 'Se connecter',
    another: 'Prendre un autre portefeuille',
    lost: 'Portefeuille perdu ? Demandez au partenaire qui vous a invité de lancer une récupération.',
  },
  signInUser: {
    portalTitle: 'Connexion au portail',
    adminTitle: 'Connexion à l’administration',
    rest: 'Nous envoyons un lien à votre adresse e-mail. Il vous connecte ; il n’y a pas de mot de passe.',
    email: 'E-mail',
    notAnEmail: 'Cela ne ressemble pas à une adresse e-mail.',
    send: 'M’envoyer un lien',
    sent: 'Regardez dans votre boîte',
    sentRest:
      'Si cette adresse peut se connecter ici, un lien est en route. Ouvrez-le dans ce navigateur sous 15 minutes. Rien reçu ? Regardez dans les indésirables, ou demandez à qui vous a invité.',
    again: 'Demander un autre lien',
    enough: 'Assez de liens ont été envoyés à cette adresse pour l’instant',
    enoughRest:
      'Ouvrez le plus récent, ou attendez 15 minutes et demandez-en un autre. Si cela ne suffit pas, demandez une nouvelle invitation à qui vous a invité.',
    open: 'Se connecter comme {email}',
    openRest: 'Ce lien vous connecte une fois, dans ce navigateur.',
    choose: 'Vous avez accès à plusieurs espaces. Où voulez-vous aller ?',
    signIn: 'Se connecter',
    signInTo: 'Se connecter à {partner}',
    unknown: 'Ce lien n’est pas un des nôtres',
    unknownRest: 'Il est peut-être incomplet, ou ce à quoi il servait est terminé. Demandez-en un nouveau ici.',
    used: 'Ce lien a fait son travail',
    usedRest:
      'Chaque lien connecte une fois. Demandez-en un nouveau ici. Si ce n’est pas vous qui l’avez utilisé, parlez-en à qui vous a invité.',
    expired: 'Ce lien a expiré',
    expiredRest: 'Les liens sont valables 15 minutes. Demandez-en un nouveau ici.',
    otherBrowser: 'Ce lien a été demandé dans un autre navigateur',
    otherBrowserRest:
      'Il ne fonctionne que là, pour que personne ne se connecte avec un lien qui vous a été envoyé. Ouvrez-le là-bas, ou demandez-en un nouveau ici. Si vous n’avez rien demandé, ne faites rien.',
    mailSubject: 'Votre lien de connexion à {place}',
    mailBody:
      'Connectez-vous à {place} :\n\n{link}\n\nLe lien est valable 15 minutes, une seule fois, et uniquement dans le navigateur où il a été demandé.\nSi vous ne l’avez pas demandé, ne faites rien : personne ne peut se connecter avec ailleurs.\n',
    inviteSubject: 'Vous êtes invité à {place}',
    inviteBody:
      'Vous pouvez maintenant vous connecter à {place} :\n\n{link}\n\nLe lien est valable 15 minutes et une seule fois. Ne le transmettez pas.\nPlus tard, ou quand il aura expiré, demandez un lien avec votre adresse e-mail : {signIn}\n',
  },
  confirmAct: {
    title: 'Confirmez que c’est bien vous',
    why: 'Cela change qui peut agir, ou la destination de l’argent et des événements, et vous vous êtes connecté il y a plus de dix minutes. Rien n’est encore fait ; ce que vous avez envoyé est gardé sur cette page.',
    byMail:
      'Faites-vous envoyer un lien à {email} et connectez-vous avec lui dans ce navigateur. Revenez ensuite sur cette page et continuez.',
    sendLink: 'M’envoyer un lien',
    goOn: 'Continuer',
  },
  passkey: {
    signIn: 'Se connecter avec une clé d’accès',
    none: 'Les clés d’accès ne fonctionnent pas dans ce navigateur, ou pas à cette adresse. Ouvrez cette page dans un navigateur qui les connaît, avec JavaScript activé.',
    linkNeedsOne: 'Ce compte a une clé d’accès, le lien seul ne l’ouvre donc pas. Montrez aussi votre clé.',
    linkNeedsOneFor: '{partners} s’ouvre avec une clé d’accès ; le lien seul ne suffit pas.',
    refused: 'Cette clé d’accès ne vous a pas connecté',
    heading: 'Clés d’accès',
    rest: 'Une clé d’accès vous connecte avec votre doigt, votre visage ou un code. Dès que vous en avez une, un lien par e-mail ne suffit plus. Ajoutez-en une deuxième sur un autre appareil : en perdre une n’aura alors pas de conséquence.',
    name: 'Nom',
    nameHint: 'Pour que vous la reconnaissiez.',
    add: 'Ajouter une clé d’accès',
    created: 'Ajoutée',
    lastUsed: 'Dernière utilisation',
    never: 'Jamais',
    remove: {
      label: 'Retirer',
      title: 'Retirer la clé d’accès {name} ?',
      rest: 'Elle ne vous connecte plus. Supprimez-la aussi sur son appareil.',
      lastRest:
        'C’est votre seule clé : ensuite, un lien par e-mail suffit de nouveau. Supprimez-la aussi sur son appareil.',
    },
    confirm: 'Montrer votre clé d’accès',
    confirmRest:
      'Vous vous êtes connecté il y a un moment. Montrez une clé d’accès avant de changer quelque chose ici.',
    signInAnew:
      'Vous vous êtes connecté il y a un moment. Déconnectez-vous et reconnectez-vous avant de changer quelque chose ici.',
    done: {
      added: 'La clé d’accès est ajoutée. Elle vous connecte désormais.',
      removed: 'La clé d’accès est retirée.',
      confirmed: 'Vous pouvez changer vos clés d’accès pendant dix minutes.',
    },
    refusals: {
      unknown:
        'Elle n’est pas connue ici. Elle a peut-être été retirée, ou appartient à un autre compte ou à un autre lieu.',
      expired: 'Cela a pris plus de cinq minutes, ou a été envoyé deux fois. Réessayez.',
      copied:
        'Il semble en exister une copie, elle a donc été refusée. Connectez-vous avec une autre clé et retirez celle-ci, ou demandez à un propriétaire de retirer vos clés.',
      not_made: 'Aucune clé d’accès n’a été ajoutée : ce que le navigateur a envoyé n’était pas juste. Réessayez.',
      stale: 'Rien n’a été changé : vous vous êtes connecté il y a plus de dix minutes.',
      enough: 'Aucune clé d’accès n’a été ajoutée : vingt est la limite. Retirez-en une d’abord.',
    },
    browser: {
      waiting: 'Votre navigateur vous le demande maintenant.',
      declined:
        'Rien n’a été fait : vous avez refusé, il n’y avait pas de clé pour cette adresse, ou cela a pris trop de temps.',
      known: 'Cet appareil a déjà une clé d’accès à vous.',
      failed: 'Votre navigateur n’a pas pu le faire. Rien n’a été changé. Réessayez, ou prenez un autre appareil.',
      unreachable: 'Nous n’avons pas répondu. Rien n’a été changé. Réessayez dans un instant.',
    },
    mails: {
      added: {
        subject: 'Une clé d’accès a été ajoutée à votre compte chez {place}',
        body: 'Une clé d’accès a été ajoutée à votre compte chez {place}. Elle est désormais nécessaire pour se connecter.\n\nSi ce n’était pas vous, prévenez tout de suite un propriétaire de {place} ou la personne qui vous a invité.\n',
      },
      removed: {
        subject: 'Une clé d’accès a été retirée de votre compte chez {place}',
        body: 'Une clé d’accès, ou toutes, a été retirée de votre compte chez {place}. Sans clé, un lien envoyé à cette adresse suffit pour se connecter.\n\nSi vous ne l’avez pas demandé, prévenez tout de suite un propriétaire de {place} ou la personne qui vous a invité.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} est désactivé. Tout reste lisible, et rien ne peut être modifié.',
    notAllowed: 'Votre rôle ne le permet pas',
    notAllowedRest: 'Rien n’a été modifié. Un propriétaire de {partner} peut le faire, ou vous donner un autre rôle.',
    signedInAs: 'Connecté comme {email}',
    sessions: 'Où vous êtes connecté',
    browser: 'Navigateur',
    from: 'Depuis',
    lastSeen: 'Dernière utilisation',
    since: 'Connecté',
    thisOne: 'Ce navigateur',
    unknownBrowser: 'Non précisé',
    signOutThere: 'Se déconnecter là-bas',
    signedOutThere: 'L’autre navigateur est déconnecté.',
    roles: { owner: 'Propriétaire', developer: 'Développeur', viewer: 'Lecteur' },
    refusals: {
      email_invalid: 'Cela ne ressemble pas à une adresse e-mail. Personne n’a été invité.',
      role_differs:
        'Cette personne fait déjà partie de l’équipe, avec un autre rôle. Changez le rôle là-bas ; personne n’a été invité.',
      user_disabled: 'Cette personne a été désactivée. Réactivez-la d’abord ; personne n’a été invité.',
      user_unknown: 'Cette personne n’existe pas ici. Rien n’a été modifié.',
      last_owner: 'C’est le seul propriétaire. Nommez d’abord un autre propriétaire ; rien n’a été modifié.',
      too_many_invitations:
        'La limite est de dix invitations par minute. Attendez une minute ; personne n’a été invité.',
      invited_enough:
        'Plusieurs invitations viennent d’être envoyées à cette adresse. Demandez d’ouvrir la plus récente, ou réessayez dans 15 minutes ; aucune autre n’a été envoyée.',
    },
  },
};
