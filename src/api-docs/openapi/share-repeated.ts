/** Moves the headers and error responses that several operations repeat to the components of the document. */
import { mapOperations, mapValues } from './map-schemas';
import type { Header, OpenApiDocument, PathItem, Reference, Response } from './model';

type Paths = OpenApiDocument['paths'];
type Change = (response: Response, status: string) => Response | Reference;

/** Parts by their content: a part that occurs twice becomes a component. */
class Repeated<Part extends object> {
  readonly components: Record<string, Part> = {};
  /** Null for a part that occurred once. */
  private readonly names = new Map<string, string | null>();

  constructor(private readonly section: 'headers' | 'responses') {}

  /** @param name the name of its component, if it becomes one; further components of that name get a number */
  count(name: string, part: Part): void {
    const text = JSON.stringify(part);
    const known = this.names.get(text);
    if (known === undefined) this.names.set(text, null);
    if (known !== null) return;
    let free = name;
    for (let number = 2; free in this.components; number++) free = `${name}${number}`;
    this.components[free] = part;
    this.names.set(text, free);
  }

  refOr(part: Part): Part | Reference {
    const name = this.names.get(JSON.stringify(part));
    return typeof name === 'string' ? { $ref: `#/components/${this.section}/${name}` } : part;
  }
}

/** Yields between its steps, so that a caller can yield to the event loop. */
export function* shareRepeated({
  paths,
  components,
  ...document
}: OpenApiDocument): Generator<void, OpenApiDocument> {
  const headers = new Repeated<Header>('headers');
  const responses = new Repeated<Response>('responses');
  yield* mapResponses(paths, (response) => {
    for (const [name, header] of Object.entries(response.headers ?? {}))
      if (!('$ref' in header)) headers.count(`${name.replaceAll('-', '')}Header`, header);
    return response;
  });
  const withHeaders = yield* mapResponses(paths, (response, status) => {
    const shared = response.headers && mapValues(response.headers, (one) => headers.refOr(one as Header));
    const changed = shared ? { ...response, headers: shared } : response;
    if (Number(status) >= 400) responses.count(`${errorName(response) ?? status}Response`, changed);
    return changed;
  });
  return {
    ...document,
    paths: yield* mapResponses(withHeaders, (response) => responses.refOr(response)),
    components: {
      ...components,
      headers: { ...components.headers, ...headers.components },
      responses: { ...components.responses, ...responses.components },
    },
  };
}

/** `StorageError409` of `#/components/schemas/StorageError409`. */
const errorName = ({ content }: Response): string | undefined =>
  content?.['application/json']?.schema?.$ref?.split('/').pop();

function* mapResponses(paths: Paths, change: Change): Generator<void, Paths> {
  const changed: Record<string, PathItem> = {};
  for (const [path, item] of Object.entries(paths)) {
    changed[path] = mapOperations(item, (operation) => ({
      ...operation,
      responses: mapValues(operation.responses, (one, status) => ('$ref' in one ? one : change(one, status))),
    }));
    yield;
  }
  return changed;
}
