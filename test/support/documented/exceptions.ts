/** Paths that the check of documented exchanges leaves out, each with its reason. */
import type { DocumentChecker, Exchange } from './document-checker';

/** The document leaves these out on purpose. */
const LEFT_OUT: readonly RegExp[] = [
  /^\/(p\/[^/]+\/)?openapi\.(json|yaml)$/, // the documents themselves
  /^\/($|tour$|docs(\/|$))/, // pages for people
  /^\/v1\/auth\/[^/]+\/(reset|verify|invite)$/, // pages that mails link to
];

const TABLE_REST = /^\/(p\/[^/]+\/)?rest\/v1(\/|$)/;

/**
 * Until the platform's document describes the calls of table REST: then delete this function, so that they are checked. Their
 * rows are checked in the tests of api-docs only, against the project's document.
 */
const isTableRest = (path: string, { has }: { has: boolean }): boolean => TABLE_REST.test(path) && !has;

export function isException({ method, path }: Exchange, checker: DocumentChecker): boolean {
  const [address = ''] = path.split('?');
  // Preflights are answered before routing.
  if (method === 'OPTIONS') return true;
  if (isTableRest(address, { has: checker.has(address) })) return true;
  return LEFT_OUT.some((pattern) => pattern.test(address));
}
