/** SQL and parameters, pinned. An integration test runs the same texts: test/integration/rest-pinned-sql.int-spec.ts. */
import {
  compiledRequest,
  type SentStatement,
  type WrittenRequest,
} from '../../../test/support/compiled-request';
import { catalogOf, EXAMPLE_ROWS } from '../../../test/support/example-catalog';
import { PINNED_REQUESTS } from '../../../test/support/pinned-requests/all';
import { parseRestRequest } from '../grammar/parse-rest-request';
import { planTableRead } from '../plan/plan-table';
import { type PlanContext, resolveRelation } from '../plan/plan-context';
import { compileRequest } from './compile-request';

const CATALOG = catalogOf(EXAMPLE_ROWS);
const CONTEXT: PlanContext = {
  catalog: CATALOG,
  schema: 'public',
  exposedSchemas: ['public'],
  extraSearchPath: [],
  maxRows: null,
  role: 'anon',
};

const compiled = (request: WrittenRequest): Promise<SentStatement[]> => compiledRequest(CATALOG, request);

describe('compiled SQL', () => {
  it.each(PINNED_REQUESTS)('%s', async (_title, pinned) => {
    const sent = pinned.statements.map(({ text, values }) => ({ text, values }));
    expect(await compiled(pinned)).toEqual(sent);
  });

  const ALIKE: [one: WrittenRequest, other: WrittenRequest][] = [
    [{ line: 'GET /projects?id=eq.1' }, { line: 'GET /projects?id=eq.2' }],
    [{ line: 'GET /projects?id=in.(1,2)' }, { line: 'GET /projects?id=in.(3,4,5)' }],
    [
      { line: 'POST /projects', body: '[{"name":"x"}]' },
      { line: 'POST /projects', body: '[{"name":"y"},{"name":"z"}]' },
    ],
  ];
  it.each(ALIKE)(
    'is the same text for other values, so that one prepared statement serves them: %j',
    async (one, other) => {
      const textsOf = async (request: WrittenRequest) => (await compiled(request)).map(({ text }) => text);
      expect(await textsOf(one)).toEqual(await textsOf(other));
    },
  );

  it('has a name made of its text and the catalog’s version, short enough for PostgreSQL', () => {
    const { shape } = parseRestRequest({
      kind: 'table',
      method: 'GET',
      target: 'projects',
      queryString: '',
      headers: {},
    });
    const { relation: found } = resolveRelation(CONTEXT, shape.target);
    const plan = planTableRead(CONTEXT, found, shape, { planEnabled: false });
    const name = (catalogVersion: string) =>
      compileRequest(plan, { catalogVersion, bodyIsList: false, printsRows: true }).main[0]?.name ?? '';
    expect(name('v1')).not.toBe(name('v2'));
    expect(name(CATALOG.version).length).toBeLessThanOrEqual(32);
  });
});
