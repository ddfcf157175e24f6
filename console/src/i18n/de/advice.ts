/** The reasons of the advisor, in German. In English they come from the server. */
import type { Schema } from '../../api/client';

export const advice: Readonly<Record<Schema<'AdviceResponse'>['reason'], string>> = {
  rls_off_open:
    'Row-Level Security ist aus, und Rollen von Clients haben Rechte auf die Tabelle: Alle, die den anon-Schlüssel haben, können ihre Zeilen lesen oder schreiben.',
  rls_off:
    'Row-Level Security ist aus. Keine Rolle von Clients hat ein Recht auf die Tabelle, aber das nächste GRANT öffnet alle ihre Zeilen.',
  policy_true_writes:
    'Die Policy erlaubt anon {command} auf jeder Zeile: Alle, die den anon-Schlüssel haben, können die Tabelle ändern.',
  policy_true: 'Die Policy zeigt anon jede Zeile. Das passt nur für öffentliche Daten.',
  definer_view:
    'Die Sicht liest mit den Rechten ihres Eigentümers und zeigt darum Zeilen, die die Policies ihrer Tabellen verbergen.',
  definer_function:
    'Die Funktion läuft mit den Rechten ihres Eigentümers und sucht Namen im search_path des Aufrufers, der andere Objekte davorsetzen kann.',
  foreign_key_without_index:
    'Der Fremdschlüssel hat keinen Index: Jedes Löschen und jede Änderung des Schlüssels in der referenzierten Tabelle liest diese Tabelle ganz, ebenso eingebettete Anfragen.',
  policy_column_without_index:
    'Die Policy {policy} vergleicht diese Spalte in jeder Anfrage, und kein Index beginnt mit ihr.',
  policy_call_per_row:
    'Die Policy ruft eine Funktion von auth für jede Zeile auf. In einer skalaren Unterabfrage wird sie einmal je Anweisung aufgerufen.',
  duplicate_index:
    'Der Index hat dieselben Spalten wie {other}: Er kostet {megabytes} MiB und Zeit bei jedem Schreiben und hilft keiner Abfrage.',
  unused_index:
    'Keine Abfrage hat den Index benutzt, seit die Statistik begann. Er kostet {megabytes} MiB und Zeit bei jedem Schreiben. Abfragen einer Replik zählen nicht mit.',
  unused_index_since:
    'Keine Abfrage hat den Index benutzt, seit die Statistik begann ({since}). Er kostet {megabytes} MiB und Zeit bei jedem Schreiben. Abfragen einer Replik zählen nicht mit.',
  bloat:
    '{percent} % der Zeilen ({dead}) sind tote Versionen, die jeder Scan liest. Autovacuum ist für die Tabelle abgeschaltet, kommt nicht nach oder wartet auf eine lange Transaktion.',
  sequence_near_end:
    'Die Sequenz hat {percent} % ihres größten Werts oder des größten Werts ihrer Spalte erreicht. Am Ende scheitert jedes INSERT.',
  backup_never:
    'Das Projekt ist {days} Tage alt, und Plinth hat es noch nie gesichert. Wird sein Server anders gesichert, ist das ohne Belang.',
  backup_old: 'Die neueste Sicherung durch Plinth ist {days} Tage alt.',
};
