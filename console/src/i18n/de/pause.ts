/** The texts about paused projects, in German. */
import type { pause as english } from '../en/pause';

export const pause: Readonly<Record<keyof typeof english, string>> = {
  lifecycle: 'Pausieren und löschen',
  pauseProject: 'Projekt pausieren',
  pauseProjectQuestion:
    'Clients von {name} erhalten 503, bis Sie es fortsetzen. Zeilen, Benutzer, Dateien und Schlüssel bleiben, und Sicherungen laufen weiter.',
  pauseProjectText:
    'Ein pausiertes Projekt beantwortet Anfragen mit 503 und behält alle Daten. Es lässt sich jederzeit fortsetzen.',
  paused: 'Pausiert',
  pausedSince: 'Das Projekt ist seit {time} pausiert',
  pausedText: 'Seine API antwortet mit 503. SQL, Einstellungen, Sicherungen und Ratgeber bleiben verfügbar.',
  resume: 'Projekt fortsetzen',
  resumed: 'Projekt {name} nimmt wieder Anfragen an',
};
