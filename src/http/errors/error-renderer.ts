/** How an area of the interface writes an error down. Chosen by path, because a guard's or parser's error has no controller. */
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
  /** The HTTP status of a database error that nobody in the area caught. */
  databaseStatus(sqlstate: string): number;
  /** The JSON body of the area's error. */
  render(error: AppError): unknown;
  /** What a browser is shown in place of JSON, on paths that people open; null on others. */
  page?(error: AppError, path: string, acceptLanguage: string | undefined): HtmlPage | null;
  /** Headers that tell of the error what the area's clients look for there. */
  headers?(error: AppError): Readonly<Record<string, string>>;
  /** Sets the headers that every answer of the area carries and this one, having failed early, may lack. Never rejects. */
  complete?(path: string, response: ServerResponse): Promise<void>;
}
