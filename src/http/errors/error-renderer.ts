/** Writes errors in the format of an area (auth, REST, storage). Chosen by path: an error of a guard or parser has no controller. */
import type { Request } from 'express';
import type { ServerResponse } from 'node:http';
import { AppError } from '../../common/errors/app-error';

/** A page of Plinth's own, with the headers that confine it. */
export interface HtmlPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly html: string;
}

export interface ErrorRenderer {
  /** True when a request for this path (no query string, starts with a slash) belongs to the area. */
  matches(path: string): boolean;
  /** The HTTP status of a database error that the area did not catch. */
  databaseStatus(sqlstate: string): number;
  /** The JSON body of the area's error. */
  render(error: AppError, request: Request): unknown;
  /** The body as XML, in place of render(). */
  xml?(error: AppError, request: Request): string;
  /** The error in the terms of the area, before it is logged. */
  translate?(error: AppError, request: Request): AppError;
  /** The page that a browser gets in place of JSON, on paths that are opened in a browser; null on others. */
  page?(error: AppError, path: string, acceptLanguage: string | undefined): HtmlPage | null;
  /** Headers in which the area's clients expect information about the error. */
  headers?(error: AppError, request: Request): Readonly<Record<string, string>>;
  /** Sets the headers of every answer of the area, which a request that failed early may lack. Never rejects. */
  complete?(path: string, response: ServerResponse): Promise<void>;
}
