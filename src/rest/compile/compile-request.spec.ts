/** SQL and parameters, pinned. The e2e tests run the same requests. */
import { buildCatalog } from '../catalog/build-catalog';
import { parseRestRequest } from '../grammar/parse-rest-request';
import type { PlanContext } from '../plan/plan-context';
import { operationsOf } from '../plan/request-shape';
import { planTableRead, planTableWrite } from '../plan/plan-table';
import { resolveTarget } from '../plan/target';
import { jsonPayload } from '../../../test/support/json-payload';
import { EXAMPLE_ROWS } from '../../../test/support/example-catalog';
import { bindRequest } from './bind';
import { compileRequest } from './compile-request';
import { RequestValues } from './parameter';

const CONTEXT: PlanContext = {
  catalog: buildCatalog(EXAMPLE_ROWS),
  schema: 'public',
  exposedSchemas: ['public'],
  extraSearchPath: [],
  maxRows: null,
  role: 'anon',
};

/** `GET /projects?id=eq.1` to the text and values of its one statement. */
function compiled(method: string, url: string, body?: string): { text: string; values: readonly unknown[] } {
  const [target = '', queryString = ''] = url.slice(1).split('?');
  const prefer = { prefer: method === 'PATCH' || method === 'DELETE' ? 'return=minimal' : '' };
  const request = parseRestRequest({ kind: 'table', method, target, queryString, headers: prefer });
  const { relation: found } = resolveTarget(CONTEXT, request.target);
  const payload = body === undefined ? null : jsonPayload(body);
  const plan =
    method === 'GET'
      ? planTableRead(CONTEXT, found, request, { planEnabled: false })
      : planTableWrite(CONTEXT, found, request, payload, { planEnabled: false });
  const operations = operationsOf(request.query);
  const slots = new Map(operations.map((operation, index) => [operation, index]));
  const { main } = bindRequest(
    compileRequest(plan, { catalogVersion: 'v', bodyIsList: payload?.isList ?? false, printsRows: true }),
    new RequestValues(slots, operations, payload?.json ?? null),
  );
  expect(main).toHaveLength(1);
  const [statement] = main;
  return { text: statement?.text ?? '', values: statement?.values ?? [] };
}

describe('compiled SQL', () => {
  const CASES: [method: string, url: string, body: string | undefined, text: string, values: unknown[]][] = [
    [
      'GET',
      '/projects?id=eq.1',
      undefined,
      'SELECT plinth_row."id", plinth_row."name", plinth_row."client_id", plinth_row."data" FROM (SELECT "plinth_0".* FROM "public"."projects" "plinth_0" WHERE "plinth_0"."id" = $1) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL, NULL, NULL, NULL))',
      ['1'],
    ],
    [
      'GET',
      '/projects?select=id,n:name&order=name.desc.nullslast&limit=5&offset=10',
      undefined,
      'SELECT plinth_row."id", plinth_row."n" FROM (SELECT "plinth_0"."id" AS "id", "plinth_0"."name" AS "n" FROM "public"."projects" "plinth_0" ORDER BY "plinth_0"."name" DESC NULLS LAST LIMIT 5 OFFSET $1::bigint) "plinth_row"',
      [10],
    ],
    [
      'GET',
      '/projects?select=id,clients(name)&or=(id.in.(1,2),name.not.like.*x)',
      undefined,
      'SELECT plinth_row."id", plinth_row."clients" FROM (SELECT "plinth_0"."id" AS "id", row_to_json("plinth_1_embed".*) AS "clients" FROM "public"."projects" "plinth_0" LEFT JOIN LATERAL (SELECT "plinth_1"."name" AS "name" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id") "plinth_1_embed" ON TRUE WHERE ("plinth_0"."id" = ANY ($1) OR NOT ("plinth_0"."name" LIKE $2))) "plinth_row"',
      ['{"1","2"}', '%x'],
    ],
    [
      'GET',
      '/projects?data->a->>b=eq.x',
      undefined,
      'SELECT plinth_row."id", plinth_row."name", plinth_row."client_id", plinth_row."data" FROM (SELECT "plinth_0".* FROM "public"."projects" "plinth_0" WHERE "plinth_0"."data"->$1->>$2 = $3) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL, NULL, NULL, NULL))',
      ['a', 'b', 'x'],
    ],
    [
      'GET',
      '/a.b?":p0"=eq.1',
      undefined,
      'SELECT plinth_row.":p0" FROM (SELECT "plinth_0".* FROM "public"."a.b" "plinth_0" WHERE "plinth_0".":p0" = $1) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL))',
      ['1'],
    ],
    [
      'POST',
      '/projects',
      '{"name":"x"}',
      'WITH "plinth_result" AS (INSERT INTO "public"."projects" ("name") SELECT "plinth_body"."name" FROM json_to_record($1::json) AS "plinth_body"("name" text) RETURNING "public"."projects".*) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"',
      ['{"name":"x"}'],
    ],
    [
      'POST',
      '/projects',
      '[{"id":1,"name":"x"},{"name":"y"}]',
      'WITH "plinth_group_0" AS (INSERT INTO "public"."projects" ("id", "name") SELECT "plinth_body"."id", "plinth_body"."name" FROM (SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS ("id" integer, "name" text)) WITH ORDINALITY AS plinth_all("id", "name", "plinth_ordinal") WHERE (plinth_all."plinth_ordinal" IN (SELECT unnest((SELECT $2::bigint[])))) IS TRUE) "plinth_body" RETURNING "public"."projects".*), "plinth_group_1" AS (INSERT INTO "public"."projects" ("name") SELECT "plinth_body"."name" FROM (SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS ("name" text)) WITH ORDINALITY AS plinth_all("name", "plinth_ordinal") WHERE (plinth_all."plinth_ordinal" IN (SELECT unnest((SELECT $3::bigint[])))) IS TRUE) "plinth_body" RETURNING "public"."projects".*), "plinth_result" AS (SELECT "id", "name", "client_id", "data" FROM (SELECT *, ($4::integer[])[row_number() OVER ()] AS "plinth_ordinal" FROM "plinth_group_0" UNION ALL SELECT *, ($5::integer[])[row_number() OVER ()] AS "plinth_ordinal" FROM "plinth_group_1") plinth_united ORDER BY "plinth_ordinal") SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"',
      ['[{"id":1,"name":"x"},{"name":"y"}]', '{"1"}', '{"2"}', '{"1"}', '{"2"}'],
    ],
    [
      'PATCH',
      '/projects?id=eq.1',
      '{"name":"x"}',
      'WITH "plinth_body" AS (SELECT * FROM json_to_record($1::json) AS plinth_record("name" text)) UPDATE "public"."projects" SET "name" = (SELECT "name" FROM "plinth_body") WHERE ("public"."projects"."id" = $2)',
      ['{"name":"x"}', '1'],
    ],
    [
      'DELETE',
      '/a.b?":p0"=gt.1',
      undefined,
      'DELETE FROM "public"."a.b" WHERE ("public"."a.b".":p0" > $1)',
      ['1'],
    ],
  ];
  it.each(CASES)('%s %s %s', (method, url, body, text, values) => {
    expect(compiled(method, url, body)).toEqual({ text, values });
  });

  it('is the same text for other values, so that one prepared statement serves them', () => {
    expect(compiled('GET', '/projects?id=eq.1').text).toBe(compiled('GET', '/projects?id=eq.2').text);
    expect(compiled('GET', '/projects?id=in.(1,2)').text).toBe(
      compiled('GET', '/projects?id=in.(3,4,5)').text,
    );
    expect(compiled('POST', '/projects', '[{"name":"x"}]').text).toBe(
      compiled('POST', '/projects', '[{"name":"y"},{"name":"z"}]').text,
    );
  });

  it('has a name of its text and the catalog’s version, short enough for PostgreSQL', () => {
    const request = parseRestRequest({
      kind: 'table',
      method: 'GET',
      target: 'projects',
      queryString: '',
      headers: {},
    });
    const { relation: found } = resolveTarget(CONTEXT, request.target);
    const plan = planTableRead(CONTEXT, found, request, { planEnabled: false });
    const name = (catalogVersion: string) =>
      compileRequest(plan, { catalogVersion, bodyIsList: false, printsRows: true }).main[0]?.name ?? '';
    expect(name('v1')).not.toBe(name('v2'));
    expect(name(CONTEXT.catalog.version).length).toBeLessThanOrEqual(32);
  });
});
