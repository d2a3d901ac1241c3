import type { SignInTexts } from '../sign-in.ts';

export const fr: SignInTexts<'fr'> = {
  signIn: {
    title: 'Connexion',
    heading: 'Connectez-vous à votre tableau de bord',
    rest: 'Utilisez le portefeuille sur lequel vous recevez vos paiements.',
    signHeading: 'Signez le message',
    signRest: 'C’est gratuit et rien n’est déplacé.',
    signIn: 'Se connecter',
    another: 'Utiliser un autre portefeuille',
    lost: 'Portefeuille perdu ? Demandez au partenaire qui vous a invité de lancer une récupération.',
    /** After a form was sent without a session. */
    unsaved: 'Vous n’êtes plus connecté : rien n’a été enregistré. Connectez-vous, puis recommencez.',
    kept: 'Votre saisie est conservée 30 minutes dans ce navigateur et réapparaîtra une fois que vous serez connecté.',
  },
  signInUser: {
    portalTitle: 'Connexion au portail',
    adminTitle: 'Connexion à l’administration',
    rest: 'Nous vous envoyons un lien de connexion par e-mail. Pas besoin de mot de passe.',
    email: 'E-mail',
    notAnEmail: 'Cela ne ressemble pas à une adresse e-mail.',
    send: 'M’envoyer un lien',
    sent: 'Consultez votre boîte de réception',
    sentRest:
      'Si cette adresse peut se connecter ici, un lien est en route. Ouvrez-le dans ce navigateur dans les 15 minutes. Rien reçu ? Vérifiez vos courriers indésirables ou contactez la personne qui vous a invité.',
    again: 'Demander un autre lien',
    enough: 'Nous avons envoyé assez de liens à cette adresse pour l’instant',
    enoughRest:
      'Ouvrez le plus récent, ou attendez 15 minutes et réessayez. Si cela ne suffit pas, demandez une nouvelle invitation à la personne qui vous a invité.',
    open: 'Se connecter en tant que {email}',
    openRest: 'Ce lien vous connecte une seule fois, dans ce navigateur.',
    choose: 'Vous avez accès à plusieurs espaces. Où voulez-vous aller ?',
    signIn: 'Se connecter',
    signInTo: 'Se connecter à {partner}',
    unknown: 'Ce lien n’est pas valide',
    unknownRest: 'Il est peut-être incomplet ou n’est plus valide. Demandez-en un nouveau ici.',
    used: 'Ce lien a déjà été utilisé',
    usedRest:
      'Chaque lien ne fonctionne qu’une fois. Demandez-en un nouveau ici. Si ce n’est pas vous qui l’avez utilisé, prévenez la personne qui vous a invité.',
    expired: 'Ce lien a expiré',
    expiredRest: 'Les liens expirent au bout de 15 minutes. Demandez-en un nouveau ici.',
    otherBrowser: 'Ce lien a été demandé dans un autre navigateur',
    otherBrowserRest:
      'Par sécurité, il ne fonctionne que dans le navigateur où il a été demandé. Ouvrez-le dans ce navigateur, ou demandez-en un nouveau ici. Si vous ne l’avez pas demandé, ignorez-le.',
    mailSubject: 'Votre lien de connexion à {place}',
    mailBody:
      'Connectez-vous à {place} :\n\n{link}\n\nLe lien expire dans 15 minutes et ne fonctionne qu’une fois, uniquement dans le navigateur où il a été demandé.\nSi vous ne l’avez pas demandé, ignorez cet e-mail : personne ne peut l’utiliser dans un autre navigateur.\n',
    inviteSubject: 'Vous êtes invité à rejoindre {place}',
    inviteBody:
      'Vous pouvez maintenant vous connecter à {place} :\n\n{link}\n\nLe lien expire dans 15 minutes et ne fonctionne qu’une fois. Ne le partagez pas.\nPlus tard, ou s’il a expiré, demandez un lien avec votre adresse e-mail : {signIn}\n',
  },
  confirmAct: {
    title: 'Confirmez que c’est bien vous',
    why: 'Ce changement touche à la sécurité ou à la destination de l’argent et des événements, et vous vous êtes connecté il y a plus de dix minutes. Rien n’a encore changé, et votre saisie est conservée sur cette page.',
    byMail:
      'Nous enverrons un lien à {email}. Ouvrez-le dans ce navigateur pour vous connecter, puis revenez sur cette page et continuez.',
    sendLink: 'M’envoyer un lien par e-mail',
    goOn: 'Continuer',
  },
  passkey: {
    signIn: 'Se connecter avec une clé d’accès',
    none: 'Les clés d’accès ne sont pas disponibles dans ce navigateur ou à cette adresse. Ouvrez cette page dans un navigateur compatible, avec JavaScript activé.',
    linkNeedsOne: 'Ce compte est protégé par une clé d’accès. Utilisez-la pour terminer la connexion.',
    linkNeedsOneFor: 'Une clé d’accès protège {partners} ; le lien seul ne suffit pas.',
    refused: 'Cette clé d’accès n’a pas permis de vous connecter',
    heading: 'Clés d’accès',
    rest: 'Une clé d’accès vous connecte avec votre empreinte, votre visage ou un code PIN. Dès que vous en avez une, les liens par e-mail seuls ne suffisent plus. Ajoutez-en une deuxième sur un autre appareil au cas où vous perdriez la première.',
    name: 'Nom',
    nameHint: 'Pour la reconnaître plus tard.',
    add: 'Ajouter une clé d’accès',
    created: 'Ajoutée',
    lastUsed: 'Dernière utilisation',
    never: 'Jamais',
    remove: {
      label: 'Supprimer',
      title: 'Supprimer la clé d’accès {name} ?',
      rest: 'Vous ne pourrez plus vous connecter avec elle. Supprimez-la aussi sur son appareil.',
      lastRest:
        'C’est votre seule clé d’accès : sans elle, un lien par e-mail suffira de nouveau pour vous connecter. Supprimez-la aussi sur son appareil.',
    },
    confirm: 'Utiliser votre clé d’accès',
    confirmRest: 'Votre connexion date d’un moment. Utilisez une clé d’accès avant de modifier quoi que ce soit ici.',
    signInAnew:
      'Votre connexion date d’un moment. Déconnectez-vous et reconnectez-vous avant de modifier quoi que ce soit ici.',
    done: {
      added: 'La clé d’accès a été ajoutée. Vous pouvez désormais vous connecter avec elle.',
      removed: 'La clé d’accès a été supprimée.',
      confirmed: 'Vous pouvez maintenant modifier vos clés d’accès pendant dix minutes.',
    },
    refusals: {
      unknown:
        'Nous ne la reconnaissons pas. Elle a peut-être été supprimée, ou appartient à un autre compte ou à un autre service.',
      expired: 'Cela a pris plus de cinq minutes, ou a été envoyé deux fois. Réessayez.',
      copied:
        'Il en existe peut-être une copie : elle a donc été rejetée. Connectez-vous avec une autre clé d’accès et supprimez celle-ci, ou demandez à un propriétaire de supprimer vos clés d’accès.',
      not_made: 'Aucune clé d’accès n’a été ajoutée : la réponse du navigateur n’était pas valide. Réessayez.',
      stale: 'Rien n’a été modifié : vous vous êtes connecté il y a plus de dix minutes.',
      enough: 'Aucune clé d’accès n’a été ajoutée : la limite est de vingt. Supprimez-en d’abord une.',
    },
    browser: {
      waiting: 'Suivez les instructions de votre navigateur.',
      declined:
        'Rien n’a été modifié : vous avez refusé, il n’y a pas de clé d’accès pour cette adresse, ou cela a pris trop de temps.',
      known: 'Cet appareil a déjà une clé d’accès pour votre compte.',
      failed:
        'Une erreur s’est produite dans votre navigateur. Rien n’a été modifié. Réessayez ou utilisez un autre appareil.',
      unreachable: 'Notre service était injoignable. Rien n’a été modifié. Réessayez dans un instant.',
    },
    mails: {
      added: {
        subject: 'Une clé d’accès a été ajoutée à votre compte {place}',
        body: 'Une clé d’accès a été ajoutée à votre compte {place}. Elle est désormais nécessaire pour vous connecter.\n\nSi ce n’était pas vous, prévenez immédiatement un propriétaire de {place} ou la personne qui vous a invité.\n',
      },
      removed: {
        subject: 'Des clés d’accès ont été supprimées de votre compte {place}',
        body: 'Une ou plusieurs clés d’accès ont été supprimées de votre compte {place}. S’il n’en reste aucune, un lien envoyé à cette adresse suffit pour se connecter.\n\nSi vous ne l’avez pas demandé, prévenez immédiatement un propriétaire de {place} ou la personne qui vous a invité.\n',
      },
    },
  },
  account: {
    partnerOff: '{partner} est désactivé. Vous pouvez consulter, mais rien modifier.',
    notWhileOff: 'Non disponible tant que {partner} est désactivé',
    notAllowed: 'Votre rôle ne le permet pas',
    notAllowedRest: 'Rien n’a été modifié. Un propriétaire de {partner} peut le faire, ou vous donner un autre rôle.',
    signedInAs: 'Connecté en tant que {email}',
    sessions: 'Sessions ouvertes',
    browser: 'Navigateur',
    from: 'Adresse IP',
    lastSeen: 'Dernière utilisation',
    since: 'Connecté',
    thisOne: 'Ce navigateur',
    unknownBrowser: 'Navigateur inconnu',
    signOutThere: 'Déconnecter',
    signedOutThere: 'L’autre navigateur a été déconnecté.',
    roles: { owner: 'Propriétaire', developer: 'Développeur', viewer: 'Lecteur' },
    refusals: {
      email_invalid: 'Cela ne ressemble pas à une adresse e-mail. Aucune invitation n’a été envoyée.',
      role_differs:
        'Cet utilisateur fait déjà partie de l’équipe, avec un autre rôle. Modifiez son rôle ; aucune invitation n’a été envoyée.',
      user_disabled:
        'L’accès de cet utilisateur a été retiré. Rétablissez-le d’abord ; aucune invitation n’a été envoyée.',
      user_unknown: 'Cet utilisateur n’existe pas ici. Rien n’a été modifié.',
      last_owner: 'C’est le seul propriétaire. Nommez d’abord un autre propriétaire ; rien n’a été modifié.',
      too_many_invitations:
        'Vous pouvez envoyer dix invitations par minute. Attendez une minute ; aucune invitation n’a été envoyée.',
      team_full:
        'Une équipe compte au plus 1000 personnes, y compris celles qui ont été retirées. Personne n’a été invité.',
      invited_enough:
        'Cette adresse vient de recevoir plusieurs invitations. Demandez à la personne d’ouvrir la plus récente, ou réessayez dans 15 minutes ; aucune invitation n’a été envoyée.',
      invited_today:
        'Cette adresse a reçu assez d’invitations pour aujourd’hui. Demandez à la personne d’ouvrir la plus récente, ou réessayez demain ; aucune invitation n’a été envoyée.',
    },
  },
};
