/** The objects of a database that a copy names. */

export const tableName = (index: number): string => `data/${String(index + 1).padStart(5, '0')}.copy`;

export interface ArchivedTable {
  /** The member with its rows in COPY's text format. */
  readonly member: string;
  readonly schema: string;
  readonly name: string;
  /** Columns of the rows; empty: COPY's default, because all columns are generated, or there are none. */
  readonly columns: readonly string[];
}

export interface ArchivedSequence {
  readonly schema: string;
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

export interface ArchivedExtension {
  readonly name: string;
  readonly schema: string;
  readonly version: string;
  /** True when the project's owner created it, which trusted extensions allow. */
  readonly by_owner: boolean;
}

/** A setting that ALTER DATABASE or ALTER ROLE made. */
export interface ArchivedDatabaseSetting {
  /** Null: for all sessions of the database. */
  readonly role: string | null;
  /** False: for the role in every database. */
  readonly in_database: boolean;
  readonly name: string;
  /** As in pg_db_role_setting. */
  readonly value: string;
}
