/** The parts of an OpenAPI 3.1 document that Plinth writes: 3.0 and YAML are derived from them. */
import type { Schema } from '../../visible-schema/json-schema';

type Named<Value> = Readonly<Record<string, Value>>;

export interface Reference {
  readonly $ref: string;
}

export interface Example {
  readonly summary?: string;
  readonly value: unknown;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Named<Example>;
}

export type Content = Named<MediaType>;

export interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface Parameter extends Header {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path' | 'cookie';
  readonly style?: 'form' | 'simple';
  readonly explode?: boolean;
  readonly examples?: Named<Example>;
}

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: Content;
}

export interface Response {
  readonly description: string;
  readonly headers?: Named<Header | Reference>;
  readonly content?: Content;
}

export interface Operation {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody | Reference;
  readonly responses: Named<Response | Reference>;
  readonly security?: readonly Named<readonly string[]>[];
  readonly deprecated?: boolean;
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'] as const;

export type Method = (typeof METHODS)[number];
export type PathItem = { readonly [Name in Method]?: Operation };

export interface SecurityScheme {
  readonly type: string;
  readonly description?: string;
  readonly in?: string;
  readonly name?: string;
  readonly scheme?: string;
  readonly bearerFormat?: string;
}

export interface Components {
  readonly schemas?: Named<Schema>;
  readonly parameters?: Named<Parameter>;
  readonly responses?: Named<Response>;
  readonly headers?: Named<Header>;
  readonly securitySchemes?: Named<SecurityScheme>;
}

/** Everything except tags, paths and components. */
export interface DocumentHead {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
    readonly contact?: { readonly name?: string; readonly url?: string };
    readonly license?: { readonly name: string; readonly url?: string };
  };
  readonly servers?: readonly { readonly url: string }[];
}

export interface Tag {
  readonly name: string;
  readonly description?: string;
}

export interface OpenApiDocument extends DocumentHead {
  readonly tags: readonly Tag[];
  readonly paths: Named<PathItem>;
  readonly components: Components;
}

export const parameterRef = (name: string): Reference => ({ $ref: `#/components/parameters/${name}` });
export const responseRef = (name: string): Reference => ({ $ref: `#/components/responses/${name}` });
export const headerRef = (name: string): Reference => ({ $ref: `#/components/headers/${name}` });

export function textHeader(description: string, example?: string): Header {
  return { description, schema: { type: 'string' }, ...(example === undefined ? {} : { example }) };
}
