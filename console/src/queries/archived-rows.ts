/** Archives of a project, and rows of their tables. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, type Schema } from '../api/client';
import { comparedColumns, comparisonOf, type ComparedColumn, type TextRow } from '../lib/restore-row';
import type { Relation } from './catalog-types';
import { type Project, runSql } from './projects';

export type FoundRows = Omit<Schema<'ArchivedRowsResponse'>, 'rows'> & { readonly rows: readonly TextRow[] };

export interface RowSearch {
  readonly backup: string;
  /** `schema.name` */
  readonly table: string;
  /** Empty to search for the text in all columns; otherwise the value of this column must equal the text. */
  readonly column: string;
  readonly text: string;
}

export const archivesQuery = ({ id }: Project) =>
  queryOptions({
    queryKey: ['backups', 'archives', id],
    queryFn: () => dataOf(api.GET('/admin/v1/projects/{id}/backups', { params: { path: { id } } })),
  });

export const archivedTablesQuery = ({ id }: Project, backup: string) =>
  queryOptions({
    queryKey: ['backups', 'tables', id, backup],
    queryFn: () =>
      dataOf(
        api.GET('/admin/v1/projects/{id}/backups/{backup_id}/tables', {
          params: { path: { id, backup_id: backup } },
        }),
      ),
    staleTime: 60_000,
  });

export async function findArchivedRows({ id }: Project, search: RowSearch): Promise<FoundRows> {
  const { backup, table, column, text } = search;
  const query = text === '' ? {} : column === '' ? { search: text } : { column, value: text };
  const path = { id, backup_id: backup, table };
  const url = '/admin/v1/projects/{id}/backups/{backup_id}/tables/{table}/rows';
  return dataOf(api.GET(url, { params: { path, query } }));
}

/** The archived row compared with the current row. */
export const comparisonQuery = (project: Project, relation: Relation, row: TextRow) =>
  queryOptions({
    queryKey: ['rows', project.id, 'archived', relation.schema, relation.name, row],
    queryFn: async (): Promise<ComparedColumn[]> => {
      const comparison = comparisonOf(relation, row);
      if (!comparison) return comparedColumns(relation, row, []);
      const { query, parameters } = comparison;
      const options = { parameters, read_only: true, text_values: true };
      return comparedColumns(relation, row, (await runSql(project.id, query, options)).rows);
    },
    // Read again each time, because the SQL that restores the row is made from it.
    staleTime: 0,
  });
