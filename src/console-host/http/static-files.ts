/** Sends files of a build in the best encoding that the client takes. */
import { readFile } from 'node:fs/promises';
import type { Request, Response } from 'express';
import { evaluatePreconditions } from '../../http/syntax/preconditions';
import type { BuiltFile, Encoding } from '../console-files';

/** @param revision text that changes with the content; the entity tag is made of it */
export async function sendFile(
  { type, variants }: BuiltFile,
  revision: string,
  request: Request,
  response: Response,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const encoding = request.acceptsEncodings([...variants.keys()]) || 'identity';
  const sent = { ...headers, ETag: `"${revision}-${encoding}"`, Vary: 'Accept-Encoding' };
  if (isCurrent(request, sent.ETag)) {
    response.writeHead(304, sent).end();
    return;
  }
  const content = await readFile(variants.get(encoding as Encoding) ?? variants.get('identity')!);
  response.writeHead(200, {
    ...sent,
    'Content-Type': type,
    'Content-Length': content.length,
    ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
  });
  response.end(request.method === 'HEAD' ? undefined : content);
}

export function isCurrent(request: Request, etag: string): boolean {
  const ifNoneMatch = request.get('if-none-match');
  return evaluatePreconditions({ ifNoneMatch }, { etag, lastModified: Infinity }) === 'not_modified';
}
