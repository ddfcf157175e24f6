/**
 * Documents the errors of an operation from the errors themselves: status, headers and example are taken from the answer that
 * the area's renderer writes.
 */
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import type { AppError } from '../../common/errors/app-error';
import { type DocumentedHeaders, headersOfError } from './documented-headers';
import { namedSchema, type SchemaObject } from './documented-types';

/** Errors, or lists of them. */
export type ErrorList = readonly (AppError | ErrorList)[];

export const flatErrors = (errors: ErrorList): AppError[] => (errors as unknown[]).flat(9) as AppError[];

export interface ErrorArea {
  /** `AuthError` names the schemas `AuthError400` and so on. */
  readonly name: string;
  /** Headers of every answer of the area. */
  readonly headers?: DocumentedHeaders;
  /** The body that the area's renderer writes. */
  readonly bodyOf: (error: AppError) => unknown;
  /** The code in such a body; null where it has none. */
  readonly codeOf: (error: AppError) => string | null;
  /** The closed schema of the bodies with a status. @param codes grows while errors are documented */
  readonly schemaOf: (status: number, codes: readonly string[]) => SchemaObject;
  /** The error as the area's clients get it; default: unchanged. */
  readonly translate?: (error: AppError) => AppError;
  /** Codes that any operation may answer with a status. */
  readonly codesOf?: (status: number) => readonly string[];
}

interface ErrorsOfStatus {
  readonly type: Type;
  readonly codes: string[];
}

const MEANINGS: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'A credential is missing, invalid or expired',
  403: 'The caller is not allowed to do this',
  404: 'Not found',
  408: 'The body arrived too slowly',
  409: 'Conflicts with existing data',
  412: 'A precondition of the request failed',
  413: 'Too large',
  415: 'The media type is not accepted',
  416: 'The requested range is outside the file',
  429: 'Too many requests',
  431: 'The headers are too large',
  500: 'Internal error',
  503: 'Temporarily unavailable',
};

export class ErrorDocs {
  constructor(
    private readonly area: ErrorArea,
    private readonly statuses = new Map<number, ErrorsOfStatus>(),
  ) {}

  /** A copy that documents the errors with more headers. */
  withHeaders(headers: DocumentedHeaders): ErrorDocs {
    return new ErrorDocs({ ...this.area, headers: { ...this.area.headers, ...headers } }, this.statuses);
  }

  /** The errors of an operation; the first one of a status is its example. */
  answers(...errors: ErrorList): MethodDecorator {
    const byStatus = new Map<number, AppError[]>();
    const { translate = (error: AppError) => error } = this.area;
    for (const error of flatErrors(errors).map(translate))
      byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error]);
    const statuses = [...byStatus].sort(([a], [b]) => a - b);
    return applyDecorators(...statuses.map(([status, ofStatus]) => this.answer(status, ofStatus)));
  }

  private answer(status: number, errors: readonly AppError[]): MethodDecorator {
    const { type, codes } = this.schemaFor(status);
    for (const error of errors) {
      const code = this.area.codeOf(error);
      if (code !== null && !codes.includes(code)) codes.push(code);
    }
    codes.sort();
    const headers = headersOfError([...new Set(errors.flatMap((error) => Object.keys(error.headers)))]);
    return applyDecorators(
      ApiExtraModels(type),
      ApiResponse({
        status,
        description: this.descriptionOf(status, errors),
        headers: { ...this.area.headers, ...headers },
        content: {
          'application/json': {
            schema: { $ref: getSchemaPath(type) },
            example: errors[0] && this.area.bodyOf(errors[0]),
          },
        },
      }),
    );
  }

  private schemaFor(status: number): ErrorsOfStatus {
    const known = this.statuses.get(status);
    if (known) return known;
    const codes = [...(this.area.codesOf?.(status) ?? [])];
    const type = namedSchema(`${this.area.name}${status}`, this.area.schemaOf(status, codes));
    const made = { type, codes };
    this.statuses.set(status, made);
    return made;
  }

  /** `Not found` and a list of the messages, each after its code. */
  private descriptionOf(status: number, errors: readonly AppError[]): string {
    const lines = errors.map((error) => {
      const code = this.area.codeOf(error);
      return code === null ? `- ${error.message}` : `- \`${code}\`: ${error.message}`;
    });
    return [`${MEANINGS[status] ?? 'Error'}:`, '', ...new Set(lines)].join('\n');
  }
}
