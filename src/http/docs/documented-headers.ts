/** Response headers of several routes, as the OpenAPI document describes them. */

export interface DocumentedHeader {
  readonly description: string;
  readonly schema: {
    readonly type: 'integer' | 'string';
    readonly format?: string;
    readonly minimum?: number;
  };
}

export type DocumentedHeaders = Record<string, DocumentedHeader>;

export const TEXT = { type: 'string' } as const;
export const COUNT = { type: 'integer', format: 'int64', minimum: 0 } as const;

/** Headers of answers that caches must not keep. */
export const NOT_STORED: DocumentedHeaders = {
  'Cache-Control': { description: '`no-store`', schema: TEXT },
};

/** Headers that errors carry (AppError.headers). */
const OF_ERRORS: DocumentedHeaders = {
  Allow: { description: 'The methods of this address', schema: TEXT },
  'Accept-Encoding': {
    description: 'The accepted encodings; present when the body was encoded',
    schema: TEXT,
  },
  'Content-Range': { description: 'No range, and the size of the file in bytes', schema: TEXT },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    schema: { type: 'integer', minimum: 1 },
  },
  'Tus-Version': { description: 'The version of TUS that the server speaks', schema: TEXT },
  'WWW-Authenticate': { description: '`Bearer`: the scheme of the credential (RFC 6750)', schema: TEXT },
};

/** The headers of an error. @throws Error for a header without a description */
export function headersOfError(names: readonly string[]): DocumentedHeaders {
  return Object.fromEntries(
    names.map((name) => {
      const header = OF_ERRORS[name];
      if (!header) throw new Error(`the OpenAPI document does not describe the header ${name}`);
      return [name, header];
    }),
  );
}
