/**
 * Checks each request and answer of HttpClient against the platform's OpenAPI document. The first TestPlinth of a run writes
 * the document to the file that the global set-up names; each worker reads it once.
 */
import { appendFileSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { checkerOf, type DocumentChecker, type Exchange } from './document-checker';
import { isLeftOut, withoutExceptions } from './exceptions';

let checker: DocumentChecker | undefined;

const file = (): string | undefined => process.env.PLINTH_TEST_DOCUMENT;

/** Fetches the document unless another worker did. */
export async function provideDocument(baseUrl: string): Promise<void> {
  const path = file();
  if (path === undefined || existsSync(path)) return;
  const text = await (await fetch(`${baseUrl}/openapi.json`)).text();
  // The file is complete if it exists.
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/**
 * The platform's document has table REST only at `/rest/v1`, where the key names the project, and GoTrue only below the
 * project.
 */
function asDocumented(exchange: Exchange): Exchange {
  const path = exchange.path
    .replace(/^\/p\/[^/?]+(?=\/rest\/v1\/)/, '')
    .replace(/^(?=\/auth\/v1\/)/, '/p/any');
  return { ...exchange, path };
}

/**
 * @throws Error for any difference from the document. If the variable PLINTH_TEST_UNDOCUMENTED names a file,
 * the differences are appended to it instead, and no test fails.
 */
export function assertDocumented(exchange: Exchange): void {
  const path = file();
  // A run without a TestPlinth, for example only of process tests, has no document.
  if (path === undefined || (!checker && !existsSync(path))) return;
  checker ??= checkerOf(path);
  if (isLeftOut(exchange)) return;
  const faults = withoutExceptions(exchange, checker.faultsOf(asDocumented(exchange)));
  if (faults.length === 0) return;
  const { method, path: address, answer } = exchange;
  const message = `${method} ${address.slice(0, 200)} ${answer.status}, but in the OpenAPI document ${faults.join('; ')}`;
  const list = process.env.PLINTH_TEST_UNDOCUMENTED;
  if (!list) throw new Error(message);
  appendFileSync(list, `${expect.getState().testPath?.split('/test/').pop()} | ${message}\n`);
}
