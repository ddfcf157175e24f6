/** OpenAPI's Schema Object, of 3.0 or of 3.1, as JSON Schema for Ajv. */
import Ajv, { type ValidateFunction } from 'ajv';
import { type OpenApiDocument, resolve } from '../openapi';

/* oxlint-disable typescript/no-explicit-any -- documents of the product under test */

const ANNOTATIONS = new Set([
  'example',
  'examples',
  'description',
  'title',
  'deprecated',
  'default',
  'readOnly',
]);

/** `true` accepts every value. */
const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  uuid: /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/,
  uri: (text: string): boolean => URL.canParse(text),
  email: true,
  binary: true,
  int32: true,
  int64: true,
} as const;

export class DocumentSchemas {
  private readonly ajv = new Ajv({ strict: false, formats: FORMATS });
  private readonly compiled = new Map<unknown, ValidateFunction>();
  private readonly converted = new Map<unknown, object>();

  constructor(private readonly document: OpenApiDocument) {}

  /** The faults of a value; empty if it is valid. Members that the schema does not have are faults. */
  faultsOf(schema: unknown, value: unknown): string[] {
    let validate = this.compiled.get(schema);
    if (!validate) {
      validate = this.ajv.compile(this.convert(schema));
      this.compiled.set(schema, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      return `${instancePath || 'the whole'} ${message} ${JSON.stringify(params)}`;
    });
  }

  /** References become copies of their targets, so a recursive schema is not supported. */
  private convert(node: unknown): object {
    const known = this.converted.get(node);
    if (known) return known;
    const schema = this.toJsonSchema(node);
    this.converted.set(node, schema);
    return schema;
  }

  private toJsonSchema(node: any): any {
    if (typeof node !== 'object' || node === null) return node;
    const { $ref, ...beside } = node;
    if ($ref !== undefined) {
      const target = this.convert(resolve(this.document, { $ref }));
      return Object.keys(beside).some((key) => !ANNOTATIONS.has(key))
        ? { allOf: [target, this.toJsonSchema(beside)] }
        : target;
    }
    const { nullable, ...kept } = Object.fromEntries(
      Object.entries(node).filter(([key]) => !ANNOTATIONS.has(key)),
    );
    const plain = this.members(kept);
    const closed = plain.properties && !plain.allOf ? { additionalProperties: false, ...plain } : plain;
    return nullable === true ? { anyOf: [closed, { type: 'null' }] } : closed;
  }

  private members(schema: any): any {
    const one = (inner: unknown): unknown => this.toJsonSchema(inner);
    const { properties, items, additionalProperties, allOf, anyOf, oneOf, not } = schema;
    return {
      ...schema,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, one(inner)])),
      }),
      ...(items && { items: one(items) }),
      ...(typeof additionalProperties === 'object' && { additionalProperties: one(additionalProperties) }),
      ...(allOf && { allOf: allOf.map(one) }),
      ...(anyOf && { anyOf: anyOf.map(one) }),
      ...(oneOf && { oneOf: oneOf.map(one) }),
      ...(not && { not: one(not) }),
    };
  }
}
