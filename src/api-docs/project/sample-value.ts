/** Values for the examples of bodies and arguments: values that most tables accept. */
import { isGeometry } from './builtin-types';

const SAMPLES: Readonly<Record<string, unknown>> = {
  smallint: 1,
  integer: 1,
  bigint: 1,
  oid: 1,
  real: 1.5,
  'double precision': 1.5,
  numeric: 1.5,
  money: 1.5,
  boolean: true,
  uuid: '0190d1c5-7b3e-7c64-9a51-0f5d8f6b2c11',
  date: '2026-01-31',
  'timestamp with time zone': '2026-01-31T12:00:00Z',
  'timestamp without time zone': '2026-01-31T12:00:00',
  'time with time zone': '12:30:00Z',
  'time without time zone': '12:30:00',
  interval: '1 day',
  json: {},
  jsonb: {},
  inet: '192.0.2.1',
  cidr: '192.0.2.0/24',
  macaddr: '08:00:2b:01:02:03',
  bytea: '\\x00',
  point: '(1,2)',
};

/** @param name as format_type() writes it, without domains, enums and composite types */
export function sampleValue(name: string): unknown {
  if (name.endsWith('[]')) return [];
  const [, length] = /^(?:character varying|character|bit varying|bit)\((\d+)\)$/.exec(name) ?? [];
  if (/^bit/.test(name)) return '1'.repeat(Number(length ?? 1));
  if (length !== undefined) return 'text'.slice(0, Number(length));
  if (/^[a-z0-9]+multirange$/.test(name)) return '{}';
  if (/^[a-z0-9]+range$/.test(name)) return 'empty';
  if (isGeometry(name)) return 'SRID=4326;POINT(10 54)';
  if (/^(?:\w+\.)?hstore$/.test(name)) return {};
  const plain = name.replace(/\(\d+(?:,-?\d+)?\)/, '');
  return Object.hasOwn(SAMPLES, plain) ? SAMPLES[plain] : 'text';
}
