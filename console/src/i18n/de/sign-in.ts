/** The texts of sign-in, set-up and invitations, in German. */
import type { signIn as en } from '../en/sign-in';

export const signIn: Readonly<Record<keyof typeof en, string>> = {
  adminKey: 'Admin-Schlüssel der Plattform',
  adminKeyHint: 'Er bleibt im Speicher dieser Seite.',
  adminKeyWhere:
    'Der erste Start schreibt ihn in die Datei platform-admin-key im Datenverzeichnis, sofern PLATFORM_ADMIN_KEY ihn nicht setzt.',
  adminKeyWrong: 'Das ist nicht der Schlüssel dieser Installation.',
  factorCode: 'Code des zweiten Faktors',
  invitationText: 'Wählen Sie Namen und Passwort, um die Einladung anzunehmen.',
  invitationTitle: 'Willkommen bei Plinth',
  setupNeeded:
    'Diese Installation hat noch keinen Inhaber. Öffnen Sie den Link zum Einrichten, den der Server beim Start ausgegeben hat.',
  setupText: 'Sie werden der erste Inhaber dieser Installation.',
  setupTitle: 'Plinth einrichten',
  directoryLogin: 'Name im Verzeichnis',
  signIn: 'Anmelden',
  signInAsPerson: 'Mit E-Mail und Passwort anmelden',
  signInByKey: 'Admin-Schlüssel der Plattform verwenden',
  signInTitle: 'Bei Plinth anmelden',
  start: 'Konto anlegen',
};
