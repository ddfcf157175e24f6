/** The values of filters as schemas, one for each family of types: the operators that fit, with an example each. */
import {
  type FilterOperator,
  QUANTIFIABLE_OPERATORS,
  TEXT_SEARCH_OPERATORS,
} from '../../rest/grammar/operators';
import { builtinType, type TypeFamily } from '../../visible-schema/builtin-types';
import type { Schema } from '../../visible-schema/json-schema';
import type { TypeSchemas } from '../../visible-schema/type-schemas';

/** The meaning of an operator. */
const MEANINGS = {
  eq: 'equal',
  neq: 'not equal',
  gt: 'greater',
  gte: 'greater or equal',
  lt: 'less',
  lte: 'less or equal',
  isdistinct: 'is distinct from (null counts as a value)',
  in: 'one of a list',
  is: 'null, or a truth value',
  like: 'matches a pattern with `*`',
  ilike: 'the same, without regard to case',
  match: 'matches a regular expression',
  imatch: 'the same, without regard to case',
  fts: 'full-text search (to_tsquery)',
  plfts: 'all words (plainto_tsquery)',
  phfts: 'the phrase (phraseto_tsquery)',
  wfts: 'as in a search engine (websearch_to_tsquery)',
  cs: 'contains',
  cd: 'is contained in',
  ov: 'overlaps',
  sl: 'strictly left of',
  sr: 'strictly right of',
  nxr: 'does not extend to the right of',
  nxl: 'does not extend to the left of',
  adj: 'is adjacent to',
} as const satisfies Readonly<Record<FilterOperator, string>>;

type Examples = Readonly<Partial<Record<FilterOperator, string>>>;

/** Added to the description of operators that take a quantifier. */
const QUANTIFIED_NOTE = '\n\n`eq(any).{...}` and `eq(all).{...}` compare with each value of a list.';

const compared = (value: string, list: string): Examples => ({
  eq: value,
  neq: value,
  gt: value,
  gte: value,
  lt: value,
  lte: value,
  isdistinct: value,
  in: list,
  is: 'null',
});

const TEXT: Examples = {
  ...compared('Ada', '(Ada,"Lovelace, A.")'),
  like: 'A*',
  ilike: 'a*',
  match: '^A',
  imatch: '^a',
};
const SEARCH: Examples = { fts: 'cat & rat', plfts: 'cat rat', phfts: 'fat cat', wfts: 'cat -rat' };
const UUID = '0190d1c5-7b3e-7c64-9a51-0f5d8f6b2c11';
const RANGE: Examples = {
  ...compared('[1,5)', '("[1,5)","[7,9)")'),
  cs: '[2,3]',
  cd: '[0,10]',
  ov: '[2,7]',
  sl: '[7,9]',
  sr: '[0,1)',
  nxr: '[0,5)',
  nxl: '[1,9]',
  adj: '[5,6]',
};

const FAMILIES = {
  Integer: compared('42', '(1,2,3)'),
  Number: compared('9.99', '(1.5,2)'),
  Boolean: { eq: 'true', neq: 'true', isdistinct: 'true', in: '(true,false)', is: 'true' },
  Text: { ...TEXT, ...SEARCH },
  Uuid: compared(UUID, `(${UUID})`),
  Date: compared('2026-01-31', '(2026-01-31,2026-02-28)'),
  Timestamp: compared('2026-01-31T12:00:00Z', '("2026-01-31T12:00:00Z")'),
  Time: compared('12:30:00', '(12:30:00,13:00:00)'),
  Interval: compared('1 day', '(1 day,2 hours)'),
  Enum: compared('label', '(label)'),
  Json: { is: 'null', ...SEARCH },
  Jsonb: { eq: '{"a":1}', neq: '{"a":1}', cs: '{"a":1}', cd: '{"a":1,"b":2}', is: 'null', ...SEARCH },
  Array: { ...compared('{1,2}', '("{1,2}")'), cs: '{1}', cd: '{1,2,3}', ov: '{2,7}' },
  Range: RANGE,
  Search: { ...SEARCH, is: 'null' },
  /** Types whose operators depend on the type: of extensions, network addresses, geometry, rows. */
  Other: { ...RANGE, ...TEXT },
} satisfies Record<TypeFamily | 'Array' | 'Enum', Examples>;

type FilterFamily = keyof typeof FAMILIES;

/** Families whose values fit only some of their types: the parameter of a column has its own example. */
const DEPENDENT: ReadonlySet<FilterFamily> = new Set(['Enum', 'Array', 'Range', 'Other']);

/** Component name of a family's schema. */
export const filterSchemaName = (family: FilterFamily): string => `${family}Filter`;

export const FILTER_SCHEMAS: Readonly<Record<string, Schema>> = Object.fromEntries(
  (Object.entries(FAMILIES) as [FilterFamily, Examples][]).map(([family, examples]) => [
    filterSchemaName(family),
    filterSchema(examples, DEPENDENT.has(family)),
  ]),
);

function filterSchema(examples: Examples, isDependent: boolean): Schema {
  const all = Object.entries(examples) as [FilterOperator, string][];
  const operators = all.map(([operator]) => operator);
  const texts = all.map(([operator, value]) => `${operator}.${value}`);
  const lines = all.map(([operator, value]) => `* \`${operator}.${value}\`: ${MEANINGS[operator]}`);
  const quantified = operators.some((one) => QUANTIFIABLE_OPERATORS.has(one)) ? QUANTIFIED_NOTE : '';
  return {
    type: 'string',
    description: `\`operator.value\`; the prefix \`not.\` negates it.\n\n${lines.join('\n')}${quantified}`,
    pattern: patternOf(operators),
    examples: isDependent ? ['is.null', 'not.is.null'] : [...texts, 'not.is.null'],
  };
}

function patternOf(operators: readonly FilterOperator[]): string {
  const quantifiable = operators.filter((one) => QUANTIFIABLE_OPERATORS.has(one));
  const searches = operators.filter((one) => TEXT_SEARCH_OPERATORS.has(one));
  const plain = operators.filter(
    (one) => !QUANTIFIABLE_OPERATORS.has(one) && !TEXT_SEARCH_OPERATORS.has(one),
  );
  const alternatives = [
    ...(quantifiable.length > 0 ? [`(${quantifiable.join('|')})(\\((any|all)\\))?`] : []),
    ...(searches.length > 0 ? [`(${searches.join('|')})(\\([^)]+\\))?`] : []),
    ...plain,
  ];
  return `^(not\\.)?(${alternatives.join('|')})\\.`;
}

/** A label as the value of a filter, such as `eq.it's ok`: every character is allowed after the operator. */
const enumExample = (labels: readonly string[]): string | null =>
  labels[0] === undefined ? null : `eq.${labels[0]}`;

/** @param sample an element; null for elements that are objects, some of which cannot be compared */
const arrayExample = (sample: unknown): string | null =>
  typeof sample === 'object' ? null : `cs.{${JSON.stringify(sample)}}`;

const RANGES: Readonly<Record<string, string>> = {
  int4: '[1,5)',
  int8: '[1,5)',
  num: '[1,5)',
  date: '[2026-01-01,2026-02-01)',
  ts: '[2026-01-01,2026-02-01)',
  tstz: '[2026-01-01,2026-02-01)',
};

/** Null for ranges that a project declared. @param name as format_type() writes it */
function rangeExample(name: string): string | null {
  const [, subtype = '', multi] = /^([a-z0-9]+?)(multi)?range$/.exec(name) ?? [];
  const value = RANGES[subtype];
  if (value === undefined) return null;
  return multi === undefined ? `ov.${value}` : `ov.{${value}}`;
}

/** How a column of a type is filtered. */
export interface TypeFilter {
  readonly family: FilterFamily;
  /** An example that fits the type better than that of its family. */
  readonly example: string | null;
}

/** @param name as format_type() writes it */
export function typeFilter(name: string, types: TypeSchemas): TypeFilter {
  const [base, type] = types.underlying(name);
  if (base.endsWith('[]'))
    return { family: 'Array', example: arrayExample(types.sampleOf(base.slice(0, -2))) };
  if (type?.kind === 'e')
    return { family: 'Enum', example: type.usable && type.labels ? enumExample(type.labels) : null };
  const family = type?.kind === 'r' || type?.kind === 'm' ? 'Range' : builtinType(base).family;
  return { family, example: family === 'Range' ? rangeExample(base) : null };
}
