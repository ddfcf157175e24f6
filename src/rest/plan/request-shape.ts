/**
 * What of a request decides its plan and its SQL, as one text: all but the values that its filters compare with and those
 * in its body. Requests of one shape differ in parameters alone.
 */
import type { Payload } from '../body/payload';
import { ruleOf } from '../grammar/rest-query';
import type { RestRequest } from '../grammar/rest-request';
import type { Filter, LogicTree, Operation, RestQuery } from '../grammar/tree';

/** Between parts; the grammar lets no name and no value hold it. */
const END = '\0';

/**
 * The shape of a request to a table.
 * @param payload null where there is none
 * @returns null for a body whose rows name different columns: its plan tells one row from another
 */
export function shapeOf(request: RestRequest, payload: Payload | null): string | null {
  const body = payload === null ? '' : bodyShape(payload);
  if (body === null) return null;
  const { method, target, window, preferences, accept, profile } = request;
  return [
    method,
    target.text,
    profile ?? '',
    `${window.limit},${window.offset}`,
    `${preferences.return},${preferences.resolution},${preferences.missing},${preferences.count}`,
    JSON.stringify(accept),
    body,
    queryShape(request.query),
  ].join(END);
}

/** The operations of a query, in an order that is the same for all of its shape. */
export function operationsOf({ filters, logic, callParameters }: RestQuery): Operation[] {
  const operations = filters.map(({ node }) => node.operation);
  for (const { node } of logic) addOperations(operations, node);
  for (const { filter } of callParameters) if (filter) operations.push(filter.node.operation);
  return operations;
}

function addOperations(operations: Operation[], tree: LogicTree): void {
  if (tree.kind === 'filter') operations.push(tree.operation);
  else for (const term of tree.terms) addOperations(operations, term);
}

/** The parameters as they are written, in their order; of filters the name and the operator. */
function queryShape({ parameters, filters, logic }: RestQuery): string {
  let shape = '';
  let [filter, group] = [0, 0];
  for (const { name, value } of parameters) {
    shape += name + END;
    switch (ruleOf(name)) {
      case 'filter':
        shape += operationShape(filters[filter++]?.node);
        break;
      case 'logic':
        shape += treeShape(logic[group++]?.node);
        break;
      default:
        shape += value;
    }
    shape += END;
  }
  return shape;
}

function treeShape(tree: LogicTree | undefined): string {
  if (tree?.kind !== 'group') return JSON.stringify(tree?.field) + END + operationShape(tree);
  const terms = tree.terms.map((term) => treeShape(term) + END);
  return `${tree.negated ? 'not.' : ''}${tree.operator}(${terms.join('')})`;
}

function operationShape(filter: Filter | undefined): string {
  if (!filter) throw new Error('a filter parameter without a filter');
  const { negated, operation } = filter;
  return (negated ? 'not.' : '') + operatorOf(operation);
}

function operatorOf(operation: Operation): string {
  switch (operation.kind) {
    case 'quantified':
      return operation.quantifier === null
        ? operation.operator
        : `${operation.operator}(${operation.quantifier})`;
    case 'plain':
      return operation.operator;
    case 'in':
      return 'in';
    case 'is':
      return `is.${operation.value}`;
    case 'text-search':
      return operation.language === null
        ? operation.operator
        : `${operation.operator}(${operation.language})`;
  }
}

/** The columns that the rows name, and how many rows there are as far as it matters. */
function bodyShape({ isList, rows }: Payload): string | null {
  const [names, ...others] = rows.shapes;
  if (!names) return '[]';
  // Rows that one program wrote name their columns in one order; another order is another shape.
  return others.length > 0
    ? null
    : `${isList ? '[' : ''}${rows.count > 1 ? 'n' : '1'}${JSON.stringify(names)}`;
}
