/** Columns of the tables that a statement names. Pure. */
import type { Relation } from '../queries/catalog-types';

type Named = Pick<Relation, 'schema' | 'name' | 'columns'>;

interface ColumnInScope {
  readonly label: string;
  /** Its table and type. */
  readonly detail: string;
}

const NAME = String.raw`(?:"((?:[^"]|"")+)"|([\w$]+))`;
const TABLE = new RegExp(
  String.raw`(?:\b(?:from|join|update|into|using|table|only)\s+|,\s*)${NAME}(?:\s*\.\s*${NAME})?`,
  'gi',
);

/** The columns of tables after `from`, `join`, `update` and `into`, including tables in a list. */
export function columnsInScope(statement: string, relations: readonly Named[]): ColumnInScope[] {
  const names = new Set(
    [...statement.matchAll(TABLE)].map(([, quoted, plain, quotedName, plainName]) => {
      const first = nameOf(quoted, plain);
      const second = nameOf(quotedName, plainName);
      return JSON.stringify(second === null ? ['public', first] : [first, second]);
    }),
  );
  return relations
    .filter(({ schema, name }) => names.has(JSON.stringify([schema, name])))
    .flatMap(({ name, columns }) =>
      columns.map((column) => ({ label: column.name, detail: `${name} · ${column.type}` })),
    );
}

function nameOf(quoted: string | undefined, plain: string | undefined): string | null {
  return quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? null;
}
