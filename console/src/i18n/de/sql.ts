/** The texts of the SQL editor, in German. */
import type { sql as en } from '../en/sql';

export const sql: Readonly<Record<keyof typeof en, string>> = {
  analyze: 'Explain analyze',
  analyzeHint: 'Führt die Anweisung aus und misst sie',
  cancelled: 'Abgebrochen. Der Server führt die Anweisung vielleicht noch zu Ende.',
  clearHistory: 'Verlauf löschen',
  explain: 'Explain',
  history: 'Verlauf',
  historyText: 'Nur in diesem Browser gespeichert.',
  limitRows: '{count} Zeilen',
  lineColumn: 'Zeile {line}, Spalte {column}',
  noResultRows: 'Die Anweisung lieferte keine Zeilen.',
  planRows: '{rows} Zeilen',
  result: 'Ergebnis',
  rowLimit: 'Zeilenlimit',
  run: 'Ausführen',
  sqlEmpty: 'Eine Anweisung ausführen',
  sqlEmptyText: 'Strg+Eingabe führt die Auswahl oder alles aus, als Eigentümer der Datenbank.',
  sqlForbidden: 'Ihre Rolle darf in diesem Projekt kein SQL ausführen.',
  sqlHint: 'select * from …',
  tookMs: '{ms} ms',
  truncated: 'Nur die ersten {count} Zeilen',
};
