/** French. */
import { LanguageTexts, linkMail, noticeMail } from './language';

const GREETING = 'Bonjour {{ name }},';
const FRAME = {
  greeting: GREETING,
  enterToken: 'Ou saisissez ce code là où il vous est demandé :',
  validity: 'Il est valable {{ hours }} heure{% if hours > 1 %}s{% endif %} et ne sert qu’une fois.',
};

export const FRENCH: LanguageTexts = {
  tag: 'fr',
  mails: {
    reset: linkMail(FRAME, {
      subject: 'Réinitialisation de votre mot de passe pour {{ project }}',
      intro:
        'Quelqu’un, sans doute vous, a demandé un nouveau mot de passe pour votre compte chez {{ project }}.',
      open: 'Ouvrez cette adresse pour le choisir :',
      button: 'Choisir un nouveau mot de passe',
      end: 'Si ce n’était pas vous, ignorez ce message : votre mot de passe reste inchangé.',
    }),
    verify: linkMail(FRAME, {
      subject: 'Confirmez votre adresse e-mail pour {{ project }}',
      intro: 'Veuillez confirmer que {{ email }} est bien votre adresse.',
      open: 'Ouvrez cette adresse pour le faire :',
      button: 'Confirmer l’adresse',
      end: 'Si vous ne vous êtes pas inscrit chez {{ project }}, ignorez ce message : une autre personne a choisi le mot de passe de ce compte.',
    }),
    email_change: linkMail(FRAME, {
      subject: 'Confirmez votre nouvelle adresse e-mail pour {{ project }}',
      intro:
        'Veuillez confirmer que {{ email }} doit devenir la nouvelle adresse de votre compte chez {{ project }}.',
      open: 'Ouvrez cette adresse pour le faire :',
      button: 'Confirmer la nouvelle adresse',
      end: 'Si ce n’était pas vous, ignorez ce message : rien ne change.',
    }),
    email_change_notice: noticeMail(GREETING, 'Votre adresse e-mail pour {{ project }} va changer', [
      'L’adresse de votre compte chez {{ project }} va être remplacée par {{ new_email }}.',
      'Si ce n’était pas vous, changez votre mot de passe dès maintenant.',
    ]),
    invite: linkMail(FRAME, {
      subject: 'Vous êtes invité(e) à rejoindre {{ project }}',
      intro: 'Un compte a été créé pour vous chez {{ project }}.',
      open: 'Ouvrez cette adresse pour choisir un mot de passe :',
      button: 'Choisir un mot de passe',
      end: 'Si vous ne vous y attendiez pas, ignorez ce message.',
    }),
    magic_link: linkMail(FRAME, {
      subject: 'Connexion à {{ project }}',
      intro: 'Quelqu’un, probablement vous, souhaite se connecter à {{ project }} en tant que {{ email }}.',
      open: 'Ouvrez cette adresse pour vous connecter :',
      button: 'Se connecter',
      end: 'Si ce n’était pas vous, ignorez ce message : personne ne sera connecté.',
    }),
    new_device: noticeMail(GREETING, 'Une nouvelle connexion à {{ project }}', [
      'Quelqu’un s’est connecté à votre compte chez {{ project }} depuis un appareil inconnu.',
      'Heure : {{ signed_in_at }}',
      'Adresse : {{ ip }}',
      'Programme : {{ client }}',
      'Si ce n’était pas vous, changez votre mot de passe dès maintenant.',
    ]),
    reauthentication: noticeMail(GREETING, 'Votre code pour {{ project }}', [
      'Votre code pour {{ project }} est {{ code }}.',
      'Si vous ne l’avez pas demandé, changez votre mot de passe maintenant.',
    ]),
  },
  pages: {
    reset: {
      title: 'Choisir un nouveau mot de passe',
      label: 'Nouveau mot de passe',
      button: 'Enregistrer le mot de passe',
      done: 'Votre mot de passe a été modifié. Vous pouvez maintenant vous connecter avec celui-ci.',
    },
    verify: {
      title: 'Confirmer votre adresse e-mail',
      label: 'Votre mot de passe : celui de l’inscription ou un nouveau',
      button: 'Confirmer',
      done: 'Votre adresse e-mail est confirmée.',
      noPassword:
        'Votre adresse e-mail est confirmée. Le compte n’a plus de mot de passe : demandez-en un à la connexion.',
    },
    link: {
      title: 'Associer un compte',
      button: 'Associer',
      done: 'Le compte a été associé.',
    },
    signIn: {
      title: 'Se connecter',
      button: 'Se connecter',
      done: 'Vous êtes connecté.',
    },
    invalidToken: 'Ce lien n’est pas ou plus valable. Demandez un nouveau message.',
    tooShort: 'Le mot de passe doit compter au moins {min} caractères.',
    tooLong: 'Le mot de passe est trop long.',
    tooCommon: 'Ce mot de passe est l’un des plus courants. Choisissez-en un autre.',
    failed: 'Cela n’a pas fonctionné. Réessayez dans un instant.',
  },
};
