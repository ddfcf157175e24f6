/** German. */
import { LanguageTexts, linkMail, noticeMail } from './language';

const GREETING = 'Guten Tag {{ name }},';
const FRAME = {
  greeting: GREETING,
  enterToken: 'Oder geben Sie diesen Code dort ein, wo danach gefragt wird:',
  validity: 'Er gilt {{ hours }} Stunde{% if hours != 1 %}n{% endif %} und nur einmal.',
};

export const GERMAN: LanguageTexts = {
  tag: 'de',
  mails: {
    reset: linkMail(FRAME, {
      subject: 'Neues Passwort für {{ project }}',
      intro: 'für Ihr Konto bei {{ project }} wurde ein neues Passwort angefordert, vermutlich von Ihnen.',
      open: 'Unter dieser Adresse legen Sie es fest:',
      button: 'Neues Passwort festlegen',
      end: 'Wenn Sie das nicht waren, ignorieren Sie diese Mail: Ihr Passwort bleibt, wie es ist.',
    }),
    verify: linkMail(FRAME, {
      subject: 'Bestätigen Sie Ihre E-Mail-Adresse für {{ project }}',
      intro: 'bitte bestätigen Sie, dass {{ email }} Ihre Adresse ist.',
      open: 'Öffnen Sie dazu diese Adresse:',
      button: 'Adresse bestätigen',
      end: 'Wenn Sie sich nicht bei {{ project }} registriert haben, ignorieren Sie diese Mail: Das Passwort dieses Kontos hat dann jemand anderes gewählt.',
    }),
    email_change: linkMail(FRAME, {
      subject: 'Bestätigen Sie Ihre neue E-Mail-Adresse für {{ project }}',
      intro:
        'bitte bestätigen Sie, dass {{ email }} die neue Adresse Ihres Kontos bei {{ project }} werden soll.',
      open: 'Öffnen Sie dazu diese Adresse:',
      button: 'Neue Adresse bestätigen',
      end: 'Wenn Sie das nicht waren, ignorieren Sie diese Mail: Es ändert sich nichts.',
    }),
    email_change_notice: noticeMail(GREETING, 'Ihre E-Mail-Adresse bei {{ project }} soll geändert werden', [
      'die Adresse Ihres Kontos bei {{ project }} soll in {{ new_email }} geändert werden.',
      'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort.',
    ]),
    invite: linkMail(FRAME, {
      subject: 'Einladung zu {{ project }}',
      intro: 'für Sie wurde ein Konto bei {{ project }} angelegt.',
      open: 'Unter dieser Adresse legen Sie Ihr Passwort fest:',
      button: 'Passwort festlegen',
      end: 'Wenn Sie das nicht erwartet haben, ignorieren Sie diese Mail.',
    }),
    magic_link: linkMail(FRAME, {
      subject: 'Anmelden bei {{ project }}',
      intro: 'jemand, vermutlich Sie, möchte sich als {{ email }} bei {{ project }} anmelden.',
      open: 'Öffnen Sie dazu diese Adresse:',
      button: 'Anmelden',
      end: 'Wenn Sie das nicht waren, ignorieren Sie diese Mail: Niemand wird angemeldet.',
    }),
    new_device: noticeMail(GREETING, 'Eine neue Anmeldung bei {{ project }}', [
      'bei Ihrem Konto bei {{ project }} hat sich jemand mit einem bisher unbekannten Gerät angemeldet.',
      'Zeit: {{ signed_in_at }}',
      'Adresse: {{ ip }}',
      'Programm: {{ client }}',
      'Wenn Sie das nicht waren, ändern Sie jetzt Ihr Passwort.',
    ]),
    reauthentication: noticeMail(GREETING, 'Ihr Code für {{ project }}', [
      'Ihr Code für {{ project }} lautet {{ code }}.',
      'Wenn Sie ihn nicht angefordert haben, ändern Sie jetzt Ihr Passwort.',
    ]),
  },
  pages: {
    reset: {
      title: 'Neues Passwort festlegen',
      label: 'Neues Passwort',
      button: 'Passwort speichern',
      done: 'Ihr Passwort wurde geändert. Sie können sich jetzt damit anmelden.',
    },
    verify: {
      title: 'E-Mail-Adresse bestätigen',
      label: 'Ihr Passwort: das von der Registrierung oder ein neues',
      button: 'Bestätigen',
      done: 'Ihre E-Mail-Adresse ist bestätigt.',
      noPassword:
        'Ihre E-Mail-Adresse ist bestätigt. Das Konto hat jetzt kein Passwort: Fordern Sie bei der Anmeldung eines an.',
    },
    link: {
      title: 'Konto verknüpfen',
      button: 'Verknüpfen',
      done: 'Das Konto wurde verknüpft.',
    },
    signIn: {
      title: 'Anmelden',
      button: 'Anmelden',
      done: 'Sie sind angemeldet.',
    },
    invalidToken: 'Dieser Link ist ungültig oder abgelaufen. Fordern Sie eine neue Mail an.',
    tooShort: 'Das Passwort muss mindestens {min} Zeichen haben.',
    tooLong: 'Das Passwort ist zu lang.',
    tooCommon: 'Dieses Passwort ist eines der häufigsten. Wählen Sie ein anderes.',
    failed: 'Das hat nicht geklappt. Versuchen Sie es gleich noch einmal.',
  },
};
