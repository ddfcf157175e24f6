/** Calls of table REST for a table, with values that suit its columns. Pure. */
import type { Column, Relation } from '../queries/catalog-types';
import type { Call } from './snippets';

export const CALL_NAMES = ['list', 'one', 'insert', 'update', 'delete'] as const;
export type CallName = (typeof CALL_NAMES)[number];

type Table = Pick<Relation, 'columns' | 'primaryKey'>;

export function callOf(name: CallName, { columns, primaryKey }: Table): Call {
  const key = columns.find((column) => column.name === primaryKey[0]) ?? columns[0];
  const query = key ? { [key.name]: `eq.${String(sampleOf(key))}` } : {};
  const required = columns.filter((column) => !column.nullable && column.default === null && !column.always);
  const free = columns.filter((column) => !primaryKey.includes(column.name) && !column.always);
  switch (name) {
    case 'list':
      return { method: 'GET', query: { limit: 10 } };
    case 'one':
      return { method: 'GET', query };
    case 'insert':
      return { method: 'POST', query: {}, body: bodyOf(required.length > 0 ? required : free.slice(0, 1)) };
    case 'update':
      return { method: 'PATCH', query, body: bodyOf(free.slice(0, 1)) };
    case 'delete':
      return { method: 'DELETE', query };
  }
}

const bodyOf = (columns: readonly Column[]): Record<string, unknown> =>
  Object.fromEntries(columns.map((column) => [column.name, sampleOf(column)]));

function sampleOf({ type, category, labels }: Column): unknown {
  if (labels?.[0] !== undefined) return labels[0];
  if (type === 'uuid') return '00000000-0000-0000-0000-000000000000';
  if (/^jsonb?$/.test(type)) return {};
  if (type === 'date') return '2026-01-31';
  if (type.startsWith('timestamp')) return '2026-01-31T08:00:00Z';
  if (category === 'N') return 1;
  if (category === 'B') return true;
  return category === 'A' ? [] : 'text';
}
