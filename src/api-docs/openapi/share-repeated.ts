/** Moves the headers and error responses that several operations repeat to the components of the document. */
import { mapValues } from './map-schemas';
import {
  type Header,
  headerRef,
  METHODS,
  type OpenApiDocument,
  type PathItem,
  type Reference,
  type Response,
  responseRef,
} from './model';

/** Parts by their content: those that occur twice become components. */
class Repeated<Part> {
  readonly components: Record<string, Part> = {};
  private readonly names = new Map<string, string>();

  /** @param parts each with the name that its component would have; others of that name get a number */
  constructor(
    parts: readonly (readonly [name: string, part: Part])[],
    private readonly refTo: (name: string) => Reference,
  ) {
    const seen = new Set<string>();
    for (const [name, part] of parts) {
      const text = JSON.stringify(part);
      if (!seen.has(text)) seen.add(text);
      else if (!this.names.has(text)) this.add(name, text, part);
    }
  }

  refOr(part: Part): Part | Reference {
    const name = this.names.get(JSON.stringify(part));
    return name === undefined ? part : this.refTo(name);
  }

  private add(name: string, text: string, part: Part): void {
    let free = name;
    for (let number = 2; free in this.components; number++) free = `${name}${number}`;
    this.components[free] = part;
    this.names.set(text, free);
  }
}

export function shareRepeated({ paths, components, ...document }: OpenApiDocument): OpenApiDocument {
  const headers = new Repeated<Header | Reference>(
    responsesIn(paths)
      .flatMap(([, response]) => Object.entries(response.headers ?? {}))
      .filter(([, header]) => !('$ref' in header))
      .map(([name, header]) => [`${name.replaceAll('-', '')}Header`, header]),
    headerRef,
  );
  const withHeaders = mapResponses(paths, (response) =>
    response.headers
      ? { ...response, headers: mapValues(response.headers, (one) => headers.refOr(one)) }
      : response,
  );
  const responses = new Repeated<Response | Reference>(
    responsesIn(withHeaders)
      .filter(([status]) => Number(status) >= 400)
      .map(([status, response]) => [`${errorName(response) ?? status}Response`, response]),
    responseRef,
  );
  return {
    ...document,
    paths: mapResponses(withHeaders, (response) => responses.refOr(response)),
    components: {
      ...components,
      headers: { ...components.headers, ...(headers.components as Record<string, Header>) },
      responses: { ...components.responses, ...(responses.components as Record<string, Response>) },
    },
  };
}

/** `StorageError409` of `#/components/schemas/StorageError409`. */
const errorName = ({ content }: Response): string | undefined =>
  content?.['application/json']?.schema?.$ref?.split('/').pop();

function responsesIn(paths: OpenApiDocument['paths']): [status: string, response: Response][] {
  const found: [string, Response][] = [];
  mapResponses(paths, (response, status) => {
    found.push([status, response]);
    return response;
  });
  return found;
}

function mapResponses(
  paths: OpenApiDocument['paths'],
  change: (response: Response, status: string) => Response | Reference,
): OpenApiDocument['paths'] {
  return mapValues(paths, (item): PathItem =>
    Object.fromEntries(
      METHODS.flatMap((method) => {
        const operation = item[method];
        if (!operation) return [];
        const responses = Object.entries(operation.responses).map(([status, one]) => [
          status,
          '$ref' in one ? one : change(one, status),
        ]);
        return [
          [method, { ...operation, responses: Object.fromEntries(responses) as typeof operation.responses }],
        ];
      }),
    ),
  );
}
