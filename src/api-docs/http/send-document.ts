/** Answers GET and HEAD with a document that depends on the caller's role, or 304 for its entity tag. */
import type { Request, Response } from 'express';
import { evaluatePreconditions } from '../../common/http/preconditions';
import { ClientLeftError, sendChunks } from '../../http/send-chunks';
import type { RoleDocument } from '../role-documents';

/** @param type media type, without a charset */
export async function sendDocument(
  { body, size, etag }: RoleDocument,
  request: Request,
  response: Response,
  type: string,
): Promise<void> {
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
  const conditions = { ifNoneMatch: request.get('if-none-match') };
  if (evaluatePreconditions(conditions, { etag, lastModified: Infinity }) === 'not_modified') {
    response.writeHead(304, headers).end();
    return;
  }
  const head = { ...headers, 'Content-Type': `${type}; charset=utf-8`, 'Content-Length': size };
  if (request.method === 'HEAD') {
    response.writeHead(200, head).end();
    return;
  }
  await sendChunks(response, 200, head, body).catch((error: unknown) => {
    if (!(error instanceof ClientLeftError)) throw error;
  });
}
