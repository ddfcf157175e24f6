/** The texts of schedules, in German. */
import type { schedules as en } from '../en/schedules';

export const schedules: Readonly<Record<keyof typeof en, string>> = {
  createSchedule: 'Zeitplan anlegen',
  cron: 'Zeiten (cron)',
  cronHint: 'Minute, Stunde, Tag, Monat, Wochentag: 0 3 * * * ist täglich um 3:00 Uhr',
  deleteSchedule: 'Zeitplan {name} löschen',
  deleteScheduleText: 'Auch der Verlauf wird gelöscht. Ein begonnener Lauf geht weiter.',
  editSchedule: 'Zeitplan {name} ändern',
  noScheduleRuns: 'Noch nicht ausgeführt.',
  noSchedules: 'Noch keine Zeitpläne',
  noSchedulesText:
    'Ein Zeitplan führt zu bestimmten Zeiten SQL aus oder sendet eine Anfrage, einmal für alle Prozesse.',
  request: 'Anfrage',
  runDue: 'Fällig',
  runsOf: 'Läufe von {name}',
  runsOfSchedule: 'Verlauf',
  scheduleBody: 'Inhalt (JSON)',
  scheduleCreated: 'Zeitplan {name} angelegt',
  scheduleDeleted: 'Zeitplan {name} gelöscht',
  scheduleEnabled: 'Zu diesen Zeiten ausführen',
  scheduleRuns: 'Aktion',
  scheduleStored: 'Zeitplan {name} gespeichert',
  scheduleSqlHint: 'Läuft als Eigentümer, höchstens fünf Minuten.',
  scheduleUrlHint: 'Signiert mit dem Secret des Webhooks für http_post, den es geben muss.',
  schedules: 'Zeitpläne',
  schedulesText: 'Was zu bestimmten Zeiten läuft.',
};
