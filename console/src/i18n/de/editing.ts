/** The texts about changes that were not saved, and sessions that ended, in German. */
import type { editing as en } from '../en/editing';

export const editing: Readonly<Record<keyof typeof en, string>> = {
  rowConflict:
    '{row}: Jemand hat diese Zeile geändert oder gelöscht, nachdem Sie sie gelesen haben. Ihre Änderung wurde nicht gespeichert. Die Tabelle zeigt die jetzigen Werte, sobald Sie Ihre Änderungen verwerfen.',
  overwrite: 'Meine Werte trotzdem speichern',
  leaveTitle: 'Ohne Speichern verlassen?',
  leaveText: 'Ungespeicherte Änderungen: {count}. Sie gehen verloren, wenn Sie diese Seite verlassen.',
  discardAndLeave: 'Verlassen',
  sessionEnded: 'Ihre Sitzung ist beendet',
  sessionEndedText: 'Melden Sie sich wieder an, um fortzufahren. Die Seite behält, was Sie eingegeben haben.',
  otherPersonText:
    'In diesem Browser ist {name} angemeldet. Was diese Seite zeigt und was darin eingegeben wurde, wird aufgegeben.',
  goOnAs: 'Weiter als {name}',
  screenNotLoaded: 'Diese Ansicht konnte nicht geladen werden',
  screenNotLoadedText:
    'Die Konsole wurde aktualisiert, seit diese Seite geöffnet wurde, oder der Server antwortet nicht.',
  reload: 'Seite neu laden',
  listHint: 'Ein Element je Zeile. Enter speichert, Umschalt+Enter beginnt eine Zeile, Escape verlässt',
  asList: 'als Liste',
  asText: 'als Text',
  now: 'jetzt',
  useValue: '{value} verwenden',
  noSuchRow: 'Es gibt keine Zeile mit diesem Schlüssel, oder die Identität darf sie nicht sehen.',
  searchSettings: 'Einstellungen durchsuchen',
  everything: 'Alle',
  noConnection: 'Der Server antwortet nicht',
};
