/** The objects of a project's database that the console shows, as catalog-sql.ts reads them. */

export interface Column {
  readonly name: string;
  /** As PostgreSQL prints it: `character varying(20)`. */
  readonly type: string;
  /** `pg_type.typcategory`: N numbers, B boolean, D dates, A arrays, E enums, U others. */
  readonly category: string;
  readonly nullable: boolean;
  readonly default: string | null;
  /** An identity or generated column that a client may not write. */
  readonly always: boolean;
  /** Labels of an enum. */
  readonly labels: readonly string[] | null;
  readonly comment: string | null;
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly schema: string;
  readonly table: string;
  readonly targets: readonly string[];
}

export interface Policy {
  readonly name: string;
  readonly command: 'ALL' | 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE';
  readonly permissive: boolean;
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
}

export interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly kind: 'table' | 'view' | 'materialized view' | 'foreign table';
  readonly comment: string | null;
  /** Estimated; -1 if unknown. */
  readonly rows: number;
  readonly bytes: number;
  readonly rls: boolean;
  readonly columns: readonly Column[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKey[];
  readonly indexes: readonly {
    readonly name: string;
    readonly definition: string;
    /** The key or constraint that the index belongs to; null: none. */
    readonly constraint: string | null;
  }[];
  /** Null if the person may not read them. */
  readonly policies: readonly Policy[] | null;
}
