/** The texts of the history of requests, in German. */
import type { history as english } from '../en/history';

export const history: Readonly<Record<keyof typeof english, string>> = {
  aroundThisTime: 'Was um diese Zeit geschah',
  chartsOpenHint: 'Ein Klick auf ein Diagramm oder die Eingabetaste zeigt die Anfragen dieser Zeit.',
  duration: 'Dauer',
  historyHint:
    'Bei sehr vielen Anfragen in einer Sekunde wird nur ein Teil aufbewahrt, fehlgeschlagene und langsame zuerst. Die Diagramme zählen alle.',
  historyMore: 'Ältere Einträge laden',
  historySearch: 'Pfad, Status, Rolle, Fehler oder ID',
  historySource: 'Quelle',
  leftOut:
    '{count} weitere Anfrage dieser Sekunde wurde nicht aufbewahrt|{count} weitere Anfragen dieser Sekunde wurden nicht aufbewahrt',
  meaning_22P02: 'Ein Wert passt nicht zum Typ seiner Spalte, etwa Text statt einer Zahl.',
  meaning_23502: 'Eine Pflichtspalte fehlt oder ist null.',
  meaning_23503:
    'Ein Fremdschlüssel verweist auf eine Zeile, die es nicht gibt, oder auf die noch andere verweisen.',
  meaning_23505: 'Eine Zeile mit diesem eindeutigen Wert gibt es schon.',
  meaning_23514: 'Eine Prüfbedingung (CHECK) hat den Wert abgelehnt.',
  meaning_42501: 'Der Rolle fehlt ein Recht, oder keine Policy der Row-Level Security erlaubt die Zeile.',
  meaning_42703: 'Die Tabelle hat keine Spalte mit diesem Namen.',
  meaning_42883: 'Es gibt keine Funktion mit diesem Namen und diesen Parametern.',
  meaning_42P01: 'Es gibt keine Tabelle mit diesem Namen, oder die Rolle darf sie nicht sehen.',
  meaning_57014: 'Die Anweisung dauerte länger, als statement_timeout erlaubt.',
  meaning_PL116: 'Die Anfrage verlangte genau eine Zeile, es gab aber keine oder mehrere.',
  meaning_rate_limited: 'Zu viele Anfragen in kurzer Zeit. Retry-After sagt, wann die nächste erlaubt ist.',
  meaning_unauthorized: 'Ein Schlüssel oder Token fehlt, ist fehlerhaft, abgelaufen oder widerrufen.',
  noHistory: 'Noch keine Einträge',
  noHistoryFiltered: 'Kein Eintrag passt zu den Filtern.',
  noHistoryText:
    'Anfragen, Mails und Webhook-Zustellungen dieses Projekts erscheinen hier eine Sekunde nach ihrem Ende.',
  mailNotSent: 'Nicht gesendet',
  outcome: 'Ergebnis',
  outcome_database: 'Datenbankfehler',
  outcome_failed: 'Fehlgeschlagen (5xx, nicht gesendet)',
  outcome_refused: 'Abgelehnt (4xx)',
  mailSent: 'Gesendet',
  slowerThan: 'Mindestens {ms} ms',
  source_auth: 'Anmeldung',
  source_mail: 'Mail',
  source_other: 'Sonstiges',
  source_realtime: 'Realtime',
  source_rest: 'Table REST',
  source_storage: 'Speicher',
  source_webhook: 'Webhook',
  timesOfRequest: 'Insgesamt {total}, davon {database} in der Datenbank',
};
