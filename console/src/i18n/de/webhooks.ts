/** The texts of webhooks, in German. */
import type { webhooks as en } from '../en/webhooks';

export const webhooks: Readonly<Record<keyof typeof en, string>> = {
  answerOf: 'Antwort auf Versuch {number}',
  attempt: 'Versuch {number}',
  createWebhook: 'Webhook anlegen',
  deleteWebhook: 'Webhook {name} löschen',
  deleteWebhookText: 'Es wird nichts mehr gesendet. Auch die Zustellungen werden gelöscht.',
  deliveries: 'Zustellungen',
  deliveriesOf: 'Zustellungen von {name}',
  deliveryBody: 'Inhalt',
  delivery_delivered: 'Zugestellt',
  delivery_failed: 'Fehlgeschlagen',
  delivery_waiting: 'Wartet',
  editWebhook: 'Webhook {name} ändern',
  events: 'Ereignisse',
  newSecret: 'Neues Secret erzeugen',
  nextAttempt: 'Nächster Versuch: {time}',
  noAnswer: 'keine Antwort',
  noDeliveries: 'Es wurde noch nichts gesendet.',
  noWebhooks: 'Noch keine Webhooks',
  noWebhooksText:
    'Ein Webhook sendet nach einer Änderung einer Tabelle, eines Benutzers oder einer Datei eine signierte Anfrage an Ihren Server.',
  otherEvents: 'Keine Tabelle: Benutzer, Dateien und Anfragen aus SQL',
  queuedAgain: 'Die Zustellung des Webhooks {name} wird erneut gesendet',
  rotateWebhook: 'Neues Secret für den Webhook {name}',
  rotateWebhookText:
    'Einen Tag lang tragen Zustellungen Signaturen beider Secrets. Danach gilt nur noch das neue.',
  since: 'Seit {time}',
  statusIs: 'Status {status}',
  webhook: 'Webhook',
  webhookColumnsHint:
    'Ein UPDATE wird nur gesendet, wenn sich eine dieser Spalten ändert. Leer: jedes UPDATE wird gesendet.',
  webhookConditionHint: 'SQL über die Zeile, etwa new.total > 100',
  webhookCreated: 'Webhook {name} angelegt',
  webhookDeleted: 'Webhook {name} gelöscht',
  webhookEnabled: 'Anfragen senden',
  webhookFailing: 'Schlägt fehl',
  webhookIncomplete: 'Unvollständig',
  webhookIncompleteText:
    'Die Tabelle oder ein Trigger wurde gelöscht. Speichern Sie den Webhook, um die Trigger wieder anzulegen.',
  webhookSaved: 'Webhook {name} gespeichert',
  webhookSecret: 'Secret des Webhooks {name}',
  webhookSecretText:
    'Ihr Server prüft damit Signaturen. Kopieren Sie es jetzt: es wird nicht wieder angezeigt.',
  webhookUrlHint: 'Eine öffentliche Adresse Ihres Servers',
  webhooks: 'Webhooks',
  webhooksHidden: 'Sie dürfen Webhooks nicht sehen',
  webhooksHiddenText: 'Entwickler und Administratoren des Projekts können es.',
  webhooksScreenText: 'Was dieses Projekt an Ihre Server sendet und zu bestimmten Zeiten ausführt.',
  webhooksText: 'Signierte Anfragen nach Änderungen, drei Tage lang wiederholt.',
};
