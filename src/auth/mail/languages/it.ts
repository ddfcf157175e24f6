/** Italian. */
import { LanguageTexts, linkMail, noticeMail } from './language';

const GREETING = 'Salve {{ name }},';
const FRAME = {
  greeting: GREETING,
  enterToken: 'Oppure inserisca questo codice dove le viene richiesto:',
  validity:
    'È valido per {{ hours }} or{% if hours == 1 %}a{% else %}e{% endif %} e può essere usato una sola volta.',
};

export const ITALIAN: LanguageTexts = {
  tag: 'it',
  mails: {
    reset: linkMail(FRAME, {
      subject: 'Reimposti la password di {{ project }}',
      intro:
        'qualcuno, probabilmente lei, ha chiesto una nuova password per il suo account su {{ project }}.',
      open: 'Apra questo indirizzo per sceglierla:',
      button: 'Scegli una nuova password',
      end: 'Se non è stato lei, ignori questo messaggio: la sua password resta invariata.',
    }),
    verify: linkMail(FRAME, {
      subject: 'Confermi il suo indirizzo e-mail per {{ project }}',
      intro: 'la preghiamo di confermare che {{ email }} è il suo indirizzo.',
      open: 'Apra questo indirizzo per farlo:',
      button: 'Conferma l’indirizzo',
      end: 'Se non si è registrato su {{ project }}, ignori questo messaggio: la password di quell’account è stata scelta da un’altra persona.',
    }),
    email_change: linkMail(FRAME, {
      subject: 'Confermi il suo nuovo indirizzo e-mail per {{ project }}',
      intro:
        'la preghiamo di confermare che {{ email }} sarà il nuovo indirizzo del suo account su {{ project }}.',
      open: 'Apra questo indirizzo per farlo:',
      button: 'Conferma il nuovo indirizzo',
      end: 'Se non è stato lei, ignori questo messaggio: non cambia nulla.',
    }),
    email_change_notice: noticeMail(GREETING, 'Il suo indirizzo e-mail su {{ project }} sta per cambiare', [
      'l’indirizzo del suo account su {{ project }} sta per diventare {{ new_email }}.',
      'Se non è stato lei, cambi subito la sua password.',
    ]),
    invite: linkMail(FRAME, {
      subject: 'Invito a {{ project }}',
      intro: 'è stato creato per lei un account su {{ project }}.',
      open: 'Apra questo indirizzo per scegliere una password:',
      button: 'Scegli una password',
      end: 'Se non si aspettava questo messaggio, lo ignori.',
    }),
    magic_link: linkMail(FRAME, {
      subject: 'Accesso a {{ project }}',
      intro: 'Qualcuno, probabilmente lei, vuole accedere a {{ project }} come {{ email }}.',
      open: 'Apra questo indirizzo per accedere:',
      button: 'Accedi',
      end: 'Se non è stato lei, ignori questo messaggio: nessuno accederà.',
    }),
    new_device: noticeMail(GREETING, 'Un nuovo accesso a {{ project }}', [
      'qualcuno ha effettuato l’accesso al suo account su {{ project }} da un dispositivo sconosciuto.',
      'Ora: {{ signed_in_at }}',
      'Indirizzo: {{ ip }}',
      'Programma: {{ client }}',
      'Se non è stato lei, cambi subito la sua password.',
    ]),
    reauthentication: noticeMail(GREETING, 'Il suo codice per {{ project }}', [
      'Il suo codice per {{ project }} è {{ code }}.',
      'Se non l’ha richiesto, cambi subito la password.',
    ]),
  },
  pages: {
    reset: {
      title: 'Scelga una nuova password',
      label: 'Nuova password',
      button: 'Salva la password',
      done: 'La password è stata cambiata. Ora può accedere con quella nuova.',
    },
    verify: {
      title: 'Confermi il suo indirizzo e-mail',
      label: 'La sua password: quella della registrazione o una nuova',
      button: 'Conferma',
      done: 'Il suo indirizzo e-mail è confermato.',
      noPassword:
        'Il suo indirizzo e-mail è confermato. L’account ora non ha una password: ne richieda una all’accesso.',
    },
    link: {
      title: 'Collega un account',
      button: 'Collega',
      done: "L'account è stato collegato.",
    },
    signIn: {
      title: 'Accedi',
      button: 'Accedi',
      done: 'Accesso effettuato.',
    },
    invalidToken: 'Questo link non è valido o è scaduto. Richieda un nuovo messaggio.',
    tooShort: 'La password deve avere almeno {min} caratteri.',
    tooLong: 'La password è troppo lunga.',
    tooCommon: 'Questa password è una delle più comuni. Ne scelga un’altra.',
    failed: 'Non ha funzionato. Riprovi tra un momento.',
  },
};
