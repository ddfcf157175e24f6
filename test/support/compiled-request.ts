/** Compiles a request for a catalog by the stages of the product: grammar, body, plan, compile. */
import type { HeldBody } from '../../src/admission/memory-budget';
import { effectiveSettings } from '../../src/projects/project-settings';
import { readRequestBody } from '../../src/rest/body/request-body';
import type { Catalog } from '../../src/rest/catalog/catalog';
import { bindRequest } from '../../src/rest/compile/compiled-statement';
import { parseRestRequest } from '../../src/rest/grammar/parse-rest-request';
import { compilePlan } from '../../src/rest/prepare/compiled-plan';
import { requestValues } from '../../src/rest/prepare/prepared-request';

export interface WrittenRequest {
  /** `GET /projects?id=eq.1`; below /rpc for functions. */
  readonly line: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SentStatement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

const SCOPE = { role: 'anon', project: { revision: '1', settings: effectiveSettings({ max_rows: null }) } };

/** The statements in their order: the count, then the rows. */
export async function compiledRequest(
  catalog: Catalog,
  { line, headers = {}, body }: WrittenRequest,
): Promise<SentStatement[]> {
  const [method = '', url = ''] = line.split(/ (.*)/s);
  const [path = '', queryString = ''] = url.split(/\?(.*)/s);
  const kind = path.startsWith('/rpc/') ? 'rpc' : 'table';
  const target = path.slice(kind === 'rpc' ? '/rpc/'.length : 1);
  const { shape, values } = parseRestRequest({ kind, method, target, queryString, headers });
  const read = await readRequestBody(shape, body === undefined ? null : uncounted(Buffer.from(body)));
  const { compiled } = compilePlan(SCOPE, catalog, shape, read, true);
  const { exactCount, plannedCount, main } = bindRequest(compiled, requestValues(values, read));
  return [exactCount, plannedCount, ...main]
    .filter((statement) => statement !== null)
    .map(({ text, values: sent }) => ({ text, values: sent.map(asText) }));
}

const uncounted = (bytes: Buffer): HeldBody => ({ bytes, memory: { grow: () => undefined } });

/** A body's bytes are its text. */
function asText<T>(value: T | Buffer): T | string {
  return Buffer.isBuffer(value) ? value.toString() : value;
}
