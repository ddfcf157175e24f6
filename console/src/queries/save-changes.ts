/** Saves the changes of a grid through the project's own table REST. */
import { rowParameters, unchangedRowParameters } from '../lib/grid-query';
import { type Pending, saved, type Update } from '../lib/pending-changes';
import type { Relation } from './catalog-types';
import type { Project } from './projects';
import { callRows, rowBody } from './rows';

/** The row was changed or deleted since it was read. The change was not stored. */
export class RowConflict extends Error {
  /** @param key columns and values that identify the row */
  constructor(readonly key: string) {
    super(`${key} was changed or deleted`);
  }
}

interface Save {
  readonly project: Project;
  readonly relation: Relation;
  readonly pending: Pending;
  /** True to replace values that another staff member changed since the rows were read. */
  readonly overwrites: boolean;
  /** Called after each step with the saved change, so that only unsaved changes remain after a failure. */
  readonly onSaved: (drop: (now: Pending) => Pending) => void;
}

const NOTHING = { Prefer: 'return=minimal' };
/** Refuses to change more than one row: the key may match several rows if the primary key was dropped from the table. */
const ONE_ROW = { Prefer: 'return=minimal, max-affected=1, handling=strict' };

/**
 * Saves the changes one by one.
 * @throws ApiError if the server refuses, RowConflict if a row was changed or deleted in the meantime
 */
export async function saveChanges({ project, relation, pending, overwrites, onSaved }: Save): Promise<void> {
  const place = { project, relation };
  for (const [key, row] of pending.deletes) {
    const parameters = rowParameters(relation.primaryKey, row);
    await callRows({ ...place, method: 'DELETE', headers: ONE_ROW, parameters });
    onSaved((now) => saved(now, 'delete', key));
  }
  for (const [key, update] of pending.updates) {
    if (!pending.deletes.has(key)) await saveUpdate(place, update, overwrites);
    onSaved((now) => saved(now, 'update', key, update));
  }
  for (const { id, values } of pending.inserts) {
    const body = rowBody(relation.columns, values);
    await callRows({ ...place, method: 'POST', headers: NOTHING, body });
    onSaved((now) => saved(now, 'insert', id));
  }
}

async function saveUpdate(
  place: Pick<Save, 'project' | 'relation'>,
  { row, values }: Update,
  overwrites: boolean,
): Promise<void> {
  const { columns, primaryKey } = place.relation;
  const parameters = overwrites
    ? rowParameters(primaryKey, row)
    : unchangedRowParameters(place.relation, row, Object.keys(values));
  const body = rowBody(columns, values);
  const response = await callRows({ ...place, method: 'PATCH', headers: ONE_ROW, parameters, body });
  // The range of the changed rows: `0-0/*`, or `*/*` if there is none.
  if (response.headers.get('content-range')?.startsWith('*'))
    throw new RowConflict(primaryKey.map((column) => `${column} = ${row[column] ?? 'null'}`).join(', '));
}
