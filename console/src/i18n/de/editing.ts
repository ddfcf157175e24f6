/** The texts about changes that were not saved, and sessions that ended, in German. */
import type { editing as en } from '../en/editing';

export const editing: Readonly<Record<keyof typeof en, string>> = {
  rowConflict:
    '{row}: Jemand hat diese Zeile geändert oder gelöscht, nachdem Sie sie gelesen haben. Ihre Änderung wurde nicht gespeichert. Die Tabelle zeigt die jetzigen Werte, sobald Sie Ihre Änderungen verwerfen.',
  overwrite: 'Meine Werte trotzdem speichern',
  leaveTitle: 'Ohne Speichern verlassen?',
  leaveText: 'Ungespeicherte Änderungen: {count}. Sie gehen verloren, wenn Sie diese Tabelle verlassen.',
  discardAndLeave: 'Verlassen',
  sessionEnded: 'Ihre Sitzung ist beendet',
  sessionEndedText: 'Melden Sie sich wieder an, um fortzufahren. Die Seite behält, was Sie eingegeben haben.',
  screenNotLoaded: 'Diese Ansicht konnte nicht geladen werden',
  screenNotLoadedText:
    'Die Konsole wurde aktualisiert, seit diese Seite geöffnet wurde, oder der Server antwortet nicht.',
  reload: 'Seite neu laden',
};
