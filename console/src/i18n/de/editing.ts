/** The texts about changes that were not saved, and sessions that ended, in German. */
import type { editing as en } from '../en/editing';

export const editing: Readonly<Record<keyof typeof en, string>> = {
  rowConflict:
    '{row}: Diese Zeile wurde geändert oder gelöscht, nachdem Sie sie geladen haben. Ihre Änderung wurde nicht gespeichert. Verwerfen Sie Ihre Änderungen, um die aktuellen Werte zu sehen.',
  overwrite: 'Meine Werte trotzdem speichern',
  leaveTitle: 'Ohne Speichern verlassen?',
  leaveText: 'Ungespeicherte Änderungen: {count}. Sie gehen verloren, wenn Sie diese Seite verlassen.',
  discardAndLeave: 'Diese Seite verlassen',
  sessionEnded: 'Ihre Sitzung ist beendet',
  sessionEndedText: 'Melden Sie sich wieder an, um fortzufahren. Die Seite behält Ihre Eingaben.',
  otherPersonText:
    'In diesem Browser ist {name} angemeldet. Wenn Sie fortfahren, gehen der Inhalt dieser Seite und Ihre Eingaben verloren.',
  goOnAs: 'Als {name} fortfahren',
  screenNotLoaded: 'Diese Ansicht konnte nicht geladen werden',
  screenNotLoadedText:
    'Die Konsole wurde aktualisiert, seit diese Seite geöffnet wurde, oder der Server antwortet nicht.',
  reload: 'Seite neu laden',
  listHint:
    'Ein Element je Zeile. Eingabe übernimmt, Umschalt+Eingabe fügt einen Zeilenumbruch ein, Escape bricht ab',
  asList: 'als Liste',
  asText: 'als Text',
  now: 'jetzt',
  useValue: '{value} verwenden',
  noSuchRow: 'Keine Zeile hat diesen Schlüssel, oder diese Identität darf sie nicht sehen.',
  searchSettings: 'Einstellungen durchsuchen',
  everything: 'Alle',
  noConnection: 'Der Server antwortet nicht',
};
