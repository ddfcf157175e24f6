/**
 * The parameters of compiled statements. Compiling knows what a value is for, not what it is: so the statements of one
 * request serve every other of its shape, and each request brings its own values.
 */
import type { Operation } from '../grammar/tree';

/** The request's body: JSON that is read into rows, the text of one argument, or its bytes. */
interface BodyValue {
  readonly kind: 'body';
  readonly as: 'json' | 'text' | 'bytes';
}

/** Of what a request may say differently in the same shape: what a filter compares with, and the body. Others are fixed. */
export type Parameter = string | number | null | Operation | BodyValue;

/** A request's values for the parameters of statements that may have been compiled for another one. */
export class RequestValues {
  /**
   * @param slots the place of each operation of the plan among the operations of its request
   * @param operations of this request, in the same places
   * @param body of this request; null without one
   */
  constructor(
    private readonly slots: ReadonlyMap<Operation, number>,
    private readonly operations: readonly Operation[],
    private readonly body: string | Buffer | null,
  ) {}

  /** As PostgreSQL gets it. */
  of(parameter: Parameter): string | number | Buffer | null {
    if (typeof parameter !== 'object' || parameter === null) return parameter;
    return parameter.kind === 'body' ? bodyOf(parameter, this.body) : operandOf(this.own(parameter));
  }

  /** Never the plan's own operation in place of a missing one: its value may be another caller's. */
  private own(operation: Operation): Operation {
    const own = this.operations[this.slots.get(operation) ?? -1];
    if (own?.kind !== operation.kind) throw new Error('a plan was used for a request of another shape');
    return own;
  }
}

/** JSON may stay bytes: json in binary format is its text. */
function bodyOf({ as }: BodyValue, body: string | Buffer | null): string | Buffer | null {
  switch (as) {
    case 'json':
      return body === null || body.length === 0 ? '{}' : body;
    case 'text':
      return body?.toString() ?? null;
    case 'bytes':
      // PostgreSQL's text of bytes (manual, 8.4.1).
      return `\\x${(typeof body === 'string' ? Buffer.from(body) : body)?.toString('hex') ?? ''}`;
  }
}

/** What an operation compares with, as the text of one parameter. */
function operandOf(operation: Operation): string {
  switch (operation.kind) {
    case 'quantified': {
      const isPattern = operation.operator === 'like' || operation.operator === 'ilike';
      return isPattern ? operation.value.replaceAll('*', '%') : operation.value;
    }
    case 'plain':
    case 'text-search':
      return operation.value;
    case 'in':
      return arrayLiteral(operation.values);
    case 'is':
      throw new Error('IS takes no parameter');
  }
}

/** PostgreSQL's text of an array (manual, 8.15.2), each element quoted. */
export function arrayLiteral(values: readonly string[]): string {
  const elements = values.map((value) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
  return `{${elements.join(',')}}`;
}
