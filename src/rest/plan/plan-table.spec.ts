/** Plans of requests to tables: they name only objects of the catalog. Neither SQL nor a database is involved. */
import { catalogOf, EXAMPLE_ROWS } from '../../../test/support/example-catalog';
import { jsonPayload } from '../../../test/support/json-payload';
import type { AppError } from '../../common/errors/app-error';
import { parseRestRequest } from '../grammar/parse-rest-request';
import type { ReadRequestPlan, WriteRequestPlan } from './plan';
import { type PlanContext, resolveRelation } from './plan-context';
import { relationsOf } from './plan-read';
import { planTableRead, planTableWrite } from './plan-table';

const CONTEXT: PlanContext = {
  catalog: catalogOf(EXAMPLE_ROWS),
  schema: 'public',
  exposedSchemas: ['public'],
  extraSearchPath: [],
  maxRows: 100,
  role: 'anon',
};

/** The plan of `/projects?id=eq.1`. */
function planned(
  method: string,
  url: string,
  body: string | null = null,
): ReadRequestPlan | WriteRequestPlan {
  const [target = '', queryString = ''] = url.slice(1).split('?');
  const { shape } = parseRestRequest({ kind: 'table', method, target, queryString, headers: {} });
  const { relation } = resolveRelation(CONTEXT, shape.target);
  if (method === 'GET') return planTableRead(CONTEXT, relation, shape, { planEnabled: false });
  const payload = body === null ? null : jsonPayload(body);
  return planTableWrite(CONTEXT, relation, shape, payload, { planEnabled: false });
}

describe('the plan of a read with an embed', () => {
  const { read } = planned(
    'GET',
    '/projects?select=id,owner:clients!inner(name)&owner.id=gt.1&order=name&limit=500',
  );
  const [embed] = read.embeds;

  it('names relations of the catalog, under aliases that are not the client’s', () => {
    expect(relationsOf(read)).toMatchObject([
      { schema: 'public', name: 'projects' },
      { schema: 'public', name: 'clients' },
    ]);
    expect([read.alias, embed?.read.alias, embed?.alias]).toEqual(['plinth_0', 'plinth_1', 'plinth_1_embed']);
  });

  it('shows columns of them under the names that the client gave', () => {
    const column = (name: string) => ({ kind: 'field', field: { base: { kind: 'column', name } }, name });
    expect(read.outputs).toMatchObject([column('id'), { kind: 'embed', embed: embed?.alias, name: 'owner' }]);
    expect(embed?.read.outputs).toMatchObject([column('name')]);
  });

  it('joins them by the columns of their foreign key', () => {
    expect(embed).toMatchObject({ shape: 'object', inner: true });
    expect(embed?.read.joins).toEqual([
      { left: { alias: 'plinth_0', column: 'client_id' }, right: { alias: 'plinth_1', column: 'id' } },
    ]);
  });

  it('has filters, orders and windows on the levels that they name', () => {
    expect(read.where).toEqual([]);
    expect(embed?.read.where).toMatchObject([
      { kind: 'filter', field: { base: { kind: 'column', name: 'id' } }, negated: false },
    ]);
    expect(read.order).toMatchObject([{ by: { kind: 'field', field: { base: { name: 'name' } } } }]);
    expect(embed?.read.order).toEqual([]);
    // No level returns more rows than max_rows.
    expect([read.limit, embed?.read.limit]).toEqual([100, 100]);
  });
});

describe('a name that the catalog does not contain', () => {
  const REFUSED: [request: string, code: string, body: string | null][] = [
    ['GET /planets', 'PL205', null],
    ['GET /projects?select=colour', '42703', null],
    ['GET /projects?colour=eq.red', '42703', null],
    ['GET /projects?or=(id.eq.1,colour.eq.red)', '42703', null],
    ['GET /projects?order=colour', '42703', null],
    ['GET /projects?select=id,planets(name)', 'PL200', null],
    ['GET /projects?select=id,clients(colour)', '42703', null],
    ['GET /projects?select=id,clients!nokey(name)', 'PL200', null],
    ['GET /projects?select=id&clients.name=eq.Acme', 'PL108', null],
    ['POST /projects', 'PL204', '{"colour":"red"}'],
    ['PATCH /projects?id=eq.1', 'PL204', '{"colour":"red"}'],
    ['POST /projects?columns=colour', 'PL204', '{"name":"x"}'],
    ['DELETE /projects?colour=eq.red', '42703', null],
  ];
  it.each(REFUSED)('%s is refused with %s', (line, code, body) => {
    const [method = '', url = ''] = line.split(' ');
    expect(() => planned(method, url, body)).toThrow(expect.objectContaining({ code }) as AppError);
  });
});
