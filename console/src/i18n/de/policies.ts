/** The texts of the policies, in German. */
import type { policies as en } from '../en/policies';

export const policies: Readonly<Record<keyof typeof en, string>> = {
  allSchemas: 'Alle Schemas',
  checkHint: 'Welche neuen Werte erlaubt sind. Leer: wie bei using.',
  disableRls: 'RLS ausschalten',
  dropPolicy: 'Policy {name} löschen',
  editPolicy: 'Policy {name} bearbeiten',
  enableRls: 'RLS einschalten',
  enableRlsText: 'Clients sehen dann nur Zeilen, die eine Policy erlaubt.',
  newPolicy: 'Neue Policy',
  noPolicies: 'Keine Policy: Clients sehen keine Zeilen.',
  noPoliciesText: 'Legen Sie zuerst eine Tabelle an. Ihre Policies stehen dann hier.',
  policiesText: 'Row-Level Security legt fest, welche Zeilen eine Rolle lesen und ändern darf.',
  policiesHidden: 'Ihre Rolle darf Policies nicht lesen.',
  restrictive: 'einschränkend',
  rlsOffText:
    'Ohne Row-Level Security liest und ändert jeder Client mit einem Schlüssel alle Zeilen, die seine Rechte erlauben.',
  template_claim: 'Nach einem Claim des Tokens',
  template_insertSignedIn: 'Benutzer dürfen eigene Zeilen hinzufügen',
  template_own: 'Benutzer verwalten ihre eigenen Zeilen',
  template_readAll: 'Alle dürfen lesen',
  template_readSignedIn: 'Angemeldete dürfen lesen',
  templates: 'Vorlagen',
  usingHint: 'Welche vorhandenen Zeilen die Policy umfasst.',
  viewRows: 'Zeilen ansehen',
};
