/** The objects of a project's database that the console shows, as the administration API describes them. */
import type { Schema } from '../api/client';

export type Column = Schema<'CatalogColumn'>;
export type ForeignKey = Schema<'CatalogForeignKey'>;
export type Policy = Schema<'CatalogPolicy'>;

/** Shorter names, because the code uses them often. */
export type Relation = Omit<Schema<'CatalogRelation'>, 'primary_key' | 'foreign_keys'> & {
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
};
