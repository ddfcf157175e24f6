/** What a request sends to the database on a catalog: grammar, body, plan and compile in a row, as the product runs them. */
import type { HeldBody } from '../../src/http/bodies/body-budget';
import { effectiveSettings } from '../../src/projects/project-settings';
import { readGivenBody } from '../../src/rest/body/given-body';
import type { Catalog } from '../../src/rest/catalog/catalog';
import { bindRequest } from '../../src/rest/compile/bind';
import { RequestValues } from '../../src/rest/compile/parameter';
import { parseRestRequest } from '../../src/rest/grammar/parse-rest-request';
import { operationsOf } from '../../src/rest/plan/request-shape';
import { prepareRequest } from '../../src/rest/prepare-request';

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

const ASKER = { role: 'anon', project: { revision: '1', settings: effectiveSettings({ max_rows: null }) } };

/** In the order in which they run: what counts the rows, then what gives them. */
export async function compiledRequest(
  catalog: Catalog,
  { line, headers = {}, body }: WrittenRequest,
): Promise<SentStatement[]> {
  const [method = '', url = ''] = line.split(/ (.*)/s);
  const [path = '', queryString = ''] = url.split(/\?(.*)/s);
  const kind = path.startsWith('/rpc/') ? 'rpc' : 'table';
  const target = path.slice(kind === 'rpc' ? '/rpc/'.length : 1);
  const request = parseRestRequest({ kind, method, target, queryString, headers });
  const given = await readGivenBody(request, body === undefined ? null : uncounted(Buffer.from(body)));
  const { compiled, slots } = prepareRequest(ASKER, catalog, request, given, true);
  const operations = operationsOf(request.query);
  const values = new RequestValues(slots, operations, given?.payload?.json ?? given?.bytes ?? null);
  const { exactCount, plannedCount, main } = bindRequest(compiled, values);
  return [exactCount, plannedCount, ...main]
    .filter((statement) => statement !== null)
    .map(({ text, values: sent }) => ({ text, values: sent.map(asText) }));
}

const uncounted = (bytes: Buffer): HeldBody => ({ bytes, memory: { grow: () => undefined } });

/** A body's bytes are its text. */
function asText<T>(value: T | Buffer): T | string {
  return Buffer.isBuffer(value) ? value.toString() : value;
}
