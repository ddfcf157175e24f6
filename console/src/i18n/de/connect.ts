/** Texts of the first steps, of the dialog that connects an application, and of the navigation, in German. */
import type { connect as en } from '../en/connect';

export const connect: Readonly<Record<keyof typeof en, string>> = {
  connect: 'Verbinden',
  connectText:
    'Ein Client braucht die Projekt-URL und den anon-Schlüssel. Row-Level Security entscheidet, welche Zeilen er lesen und ändern darf.',
  connectTitle: 'Mit {name} verbinden',
  databaseRefused:
    'Ihre Rolle darf die Datenbank-URL nicht lesen. Fragen Sie einen Entwickler dieses Projekts.',
  keysRefused:
    'Ihre Rolle darf die Schlüssel nicht lesen. Fragen Sie einen Entwickler dieses Projekts, und ersetzen Sie ANON_KEY durch den anon-Schlüssel.',
  projectUrl: 'Projekt-URL',
  psqlText:
    'Mit der Datenbank-URL verbinden Sie sich als Eigentümer der Datenbank. Policies gelten für ihn nicht.',

  firstSteps: 'Erste Schritte',
  firstStepsText: 'In vier Schritten zum Backend einer Anwendung.',
  hideSteps: 'Schritte ausblenden',
  step_table: 'Tabelle anlegen',
  stepText_table: 'Mit ihren Spalten und einer Policy. Die API stellt sie sofort bereit.',
  step_row: 'Zeile einfügen',
  stepText_row: 'In der Tabelle, aus einer CSV-Datei oder mit SQL.',
  step_user: 'Benutzer anlegen',
  stepText_user: 'Legen Sie ihn an, laden Sie ihn ein, oder lassen Sie Benutzer sich registrieren.',
  step_connect: 'Anwendung verbinden',
  stepText_connect: 'URL, Schlüssel und Code für Ihre Sprache.',

  group_auth: 'Anmeldung',
  group_data: 'Daten',
  group_observe: 'Beobachten',
  group_project: 'Projekt',
  logs: 'Logs',
  metrics: 'Metriken',
  signInSettings: 'Anmeldeverfahren',
  team: 'Team',

  keysScreenText: 'Die beiden Schlüssel der API, ihre URLs und die Verbindung zur Datenbank.',
  backupsNotSetUp: 'Geplante Sicherungen sind nicht eingerichtet',
  backupsNotSetUpText:
    'Setzen Sie BACKUP_PASSPHRASE oder BACKUP_PASSPHRASE_FILE für den Server, und starten Sie ihn neu. Herunterladen lassen sich Sicherungen auch ohne.',
  backupsRefused: 'Ihre Rolle darf Sicherungen dieses Projekts weder lesen noch anlegen.',
  schedulesOfOperators:
    'Betreiber der Installation planen Sicherungen. Herunterladen können Sie jederzeit eine.',
  scheduleSaved: 'Zeitplan der Sicherungen von {name} gespeichert',
  invitedWithoutMail:
    'Die Einladung wurde angelegt, aber es ist kein Mailserver eingerichtet. Fragen Sie einen Betreiber nach dem Link: Die Mail liegt als Datei im Datenverzeichnis des Servers.',
  userInvited: 'Eine Einladung ging an {email}',
  userInvitedWithoutMail:
    'Es ist kein Mailserver eingerichtet: Die Einladung für {email} liegt als Datei im Ordner mail des Datenverzeichnisses, und das Log des Servers zeigt ihren Link.',
  userCreated: 'Benutzer {email} angelegt',
};
