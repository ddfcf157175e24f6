import { mapSchema } from './map-schemas';
import type { Schema } from '../../visible-schema/json-schema';
import { toSchema30, toSchema31 } from './versions';

const to30 = (schema: Schema): Schema =>
  mapSchema(schema, (one) => toSchema30(one, (name) => (name === 'Mood' ? 'string' : undefined)));

const REF = '#/components/schemas/A';

/** A schema in the forms of OpenAPI 3.1 and 3.0. */
const PAIRS: readonly (readonly [form31: Schema, form30: unknown])[] = [
  [{ type: 'string' }, { type: 'string' }],
  [{}, {}],
  [
    { type: ['string', 'null'], maxLength: 3 },
    { type: 'string', nullable: true, maxLength: 3 },
  ],
  [
    { type: ['string', 'null'], enum: ['a', null] },
    { type: 'string', nullable: true, enum: ['a', null] },
  ],
  [{ $ref: REF }, { $ref: REF }],
  [
    { $ref: REF, description: 'd' },
    { allOf: [{ $ref: REF }], description: 'd' },
  ],
  [
    { anyOf: [{ $ref: REF }, { type: 'null' }], description: 'd' },
    { allOf: [{ $ref: REF }], nullable: true, description: 'd' },
  ],
  [
    { type: 'integer', minimum: 0, maximum: 9, examples: [5] },
    { type: 'integer', minimum: 0, maximum: 9, example: 5 },
  ],
  [
    { type: 'array', items: { type: ['integer', 'null'] } },
    { type: 'array', items: { type: 'integer', nullable: true } },
  ],
  [
    { type: 'object', additionalProperties: { type: ['string', 'null'] } },
    { type: 'object', additionalProperties: { type: 'string', nullable: true } },
  ],
  // Members of a table may have the names of keywords.
  [
    { type: 'object', properties: { nullable: { type: 'boolean' }, type: { type: ['string', 'null'] } } },
    {
      type: 'object',
      properties: { nullable: { type: 'boolean' }, type: { type: 'string', nullable: true } },
    },
  ],
];

it.each(PAIRS)('converts %j to its form in 3.0 and back', (form31, form30) => {
  expect(to30(form31)).toEqual(form30);
  expect(mapSchema(form30 as Schema, toSchema31)).toEqual(form31);
});

it('leaves the form of 3.1 as it is', () => {
  for (const [form31] of PAIRS) expect(mapSchema(form31, toSchema31)).toEqual(form31);
});

it.each<[Schema, unknown]>([
  [
    { type: 'null', description: 'd' },
    { type: 'object', nullable: true, maxProperties: 0, description: 'd' },
  ],
  [
    { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    { anyOf: [{ type: 'string', nullable: true }, { type: 'integer' }] },
  ],
  [
    { type: ['string', 'integer'], const: 'x' },
    { anyOf: [{ type: 'string' }, { type: 'integer' }], enum: ['x'] },
  ],
  [{ examples: ['a', 'b'] }, { example: 'a' }],
  // `nullable` is without effect unless the type stands next to it.
  [
    { anyOf: [{ $ref: '#/components/schemas/Mood' }, { type: 'null' }] },
    { type: 'string', allOf: [{ $ref: '#/components/schemas/Mood' }], nullable: true },
  ],
])('%j is %j in 3.0', (form31, form30) => {
  expect(to30(form31)).toEqual(form30);
});

it('reads an enum of null alone as the type null', () => {
  const written = { type: 'object', nullable: true, enum: [null] } as unknown as Schema;
  expect(mapSchema(written, toSchema31)).toEqual({ type: 'null' });
});

it('permits null next to a reference whose type Nest repeats', () => {
  const nest = { type: 'object', nullable: true, allOf: [{ $ref: REF }], description: 'd' } as Schema;
  expect(toSchema31(nest)).toEqual({ anyOf: [{ $ref: REF }, { type: 'null' }], description: 'd' });
});
