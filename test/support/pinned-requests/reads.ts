/** Reads of tables: filters, orders, windows, embeds, aggregates, counts, media types. */
import type { PinnedRequest } from './pinned-request';

export const READS: readonly PinnedRequest[] = [
  {
    line: 'GET /projects?id=eq.1',
    statements: [
      {
        text: 'SELECT plinth_row."id", plinth_row."name", plinth_row."client_id", plinth_row."data" FROM (SELECT "plinth_0".* FROM "public"."projects" "plinth_0" WHERE "plinth_0"."id" = $1) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL, NULL, NULL, NULL))',
        values: ['1'],
        rows: [[1, 'Apollo', 1, { a: { b: 'x' } }]],
      },
    ],
  },
  {
    line: 'GET /projects?select=id,n:name&order=name.desc.nullslast&limit=2&offset=1',
    statements: [
      {
        text: 'SELECT plinth_row."id", plinth_row."n" FROM (SELECT "plinth_0"."id" AS "id", "plinth_0"."name" AS "n" FROM "public"."projects" "plinth_0" ORDER BY "plinth_0"."name" DESC NULLS LAST LIMIT 2 OFFSET $1::bigint) "plinth_row"',
        values: [1],
        rows: [
          [3, 'Comet'],
          [2, 'Borax'],
        ],
      },
    ],
  },
  {
    line: 'GET /projects?data->a->>b=eq.x',
    statements: [
      {
        text: 'SELECT plinth_row."id", plinth_row."name", plinth_row."client_id", plinth_row."data" FROM (SELECT "plinth_0".* FROM "public"."projects" "plinth_0" WHERE "plinth_0"."data"->$1->>$2 = $3) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL, NULL, NULL, NULL))',
        values: ['a', 'b', 'x'],
        rows: [[1, 'Apollo', 1, { a: { b: 'x' } }]],
      },
    ],
  },
  // Names that TypeORM would interpret as a path and as a parameter.
  {
    line: 'GET /a.b?":p0"=eq.1',
    statements: [
      {
        text: 'SELECT plinth_row.":p0" FROM (SELECT "plinth_0".* FROM "public"."a.b" "plinth_0" WHERE "plinth_0".":p0" = $1) "plinth_row" WHERE TRUE OR EXISTS (VALUES (plinth_row.*), (NULL))',
        values: ['1'],
        rows: [[1]],
      },
    ],
  },
  {
    line: 'GET /projects?select=id,clients(name)&or=(id.in.(1,3),name.not.like.*t)&order=id',
    statements: [
      {
        text: 'SELECT plinth_row."id", plinth_row."clients" FROM (SELECT "plinth_0"."id" AS "id", row_to_json("plinth_1_embed".*) AS "clients" FROM "public"."projects" "plinth_0" LEFT JOIN LATERAL (SELECT "plinth_1"."name" AS "name" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id") "plinth_1_embed" ON TRUE WHERE ("plinth_0"."id" = ANY ($1) OR NOT ("plinth_0"."name" LIKE $2)) ORDER BY "plinth_0"."id" ASC) "plinth_row"',
        values: ['{"1","3"}', '%t'],
        rows: [
          [1, { name: 'Acme' }],
          [2, { name: 'Acme' }],
          [3, { name: 'Bolt' }],
        ],
      },
    ],
  },
  {
    line: 'GET /projects?select=name,clients!inner(name)&clients.name=eq.Bolt',
    statements: [
      {
        text: 'SELECT plinth_row."name", plinth_row."clients" FROM (SELECT "plinth_0"."name" AS "name", row_to_json("plinth_1_embed".*) AS "clients" FROM "public"."projects" "plinth_0" INNER JOIN LATERAL (SELECT "plinth_1"."name" AS "name" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id" AND "plinth_1"."name" = $1) "plinth_1_embed" ON TRUE) "plinth_row"',
        values: ['Bolt'],
        rows: [['Comet', { name: 'Bolt' }]],
      },
    ],
  },
  {
    line: 'GET /clients?select=name,projects(id,name)&projects.order=id.desc&order=id',
    statements: [
      {
        text: `SELECT plinth_row."name", plinth_row."projects" FROM (SELECT "plinth_0"."name" AS "name", coalesce("plinth_1_embed"."plinth_list", '[]') AS "projects" FROM "public"."clients" "plinth_0" LEFT JOIN LATERAL (SELECT json_agg(plinth_row.*) AS "plinth_list" FROM (SELECT "plinth_1"."id" AS "id", "plinth_1"."name" AS "name" FROM "public"."projects" "plinth_1" WHERE "plinth_1"."client_id" = "plinth_0"."id" ORDER BY "plinth_1"."id" DESC) plinth_row) "plinth_1_embed" ON TRUE ORDER BY "plinth_0"."id" ASC) "plinth_row"`,
        values: [],
        rows: [
          [
            'Acme',
            [
              { id: 2, name: 'Borax' },
              { id: 1, name: 'Apollo' },
            ],
          ],
          ['Bolt', [{ id: 3, name: 'Comet' }]],
          ['Idle', []],
        ],
      },
    ],
  },
  {
    line: 'GET /projects?select=name,...clients(client:name)&id=gte.3&order=id',
    statements: [
      {
        text: 'SELECT plinth_row."name", to_json(plinth_row."client") FROM (SELECT "plinth_0"."name" AS "name", "plinth_1_embed"."client" AS "client" FROM "public"."projects" "plinth_0" LEFT JOIN LATERAL (SELECT "plinth_1"."name" AS "client" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id") "plinth_1_embed" ON TRUE WHERE "plinth_0"."id" >= $1 ORDER BY "plinth_0"."id" ASC) "plinth_row"',
        values: ['3'],
        rows: [
          ['Comet', 'Bolt'],
          ['Drift', null],
        ],
      },
    ],
  },
  // The driver returns a bigint as text.
  {
    line: 'GET /projects?select=client_id,count(),latest:id.max()&order=client_id',
    statements: [
      {
        text: 'SELECT plinth_row."client_id", plinth_row."count", to_json(plinth_row."latest") FROM (SELECT "plinth_0"."client_id" AS "client_id", count(*) AS "count", max("plinth_0"."id") AS "latest" FROM "public"."projects" "plinth_0" GROUP BY 1 ORDER BY "plinth_0"."client_id" ASC) "plinth_row"',
        values: [],
        rows: [
          [1, '2', 2],
          [2, '1', 3],
          [null, '1', 4],
        ],
      },
    ],
  },
  {
    line: 'GET /projects?select=id&name=like.*o*&order=id&limit=1',
    headers: { prefer: 'count=exact' },
    statements: [
      {
        text: 'SELECT count(*)::text AS "plinth_total" FROM (SELECT 1 FROM "public"."projects" "plinth_0" WHERE "plinth_0"."name" LIKE $1) plinth_counted',
        values: ['%o%'],
        rows: [['3']],
      },
      {
        text: 'SELECT plinth_row."id" FROM (SELECT "plinth_0"."id" AS "id" FROM "public"."projects" "plinth_0" WHERE "plinth_0"."name" LIKE $1 ORDER BY "plinth_0"."id" ASC LIMIT 1) "plinth_row"',
        values: ['%o%'],
        rows: [[1]],
      },
    ],
  },
  {
    line: 'GET /projects?select=id,name&id=lte.2&order=id',
    headers: { accept: 'text/csv' },
    statements: [
      {
        text: String.raw`SELECT replace(left(substr(ROW(plinth_row."id", plinth_row."name")::text, 2), -1), E'\\\\', E'\\') FROM (SELECT "plinth_0"."id" AS "id", "plinth_0"."name" AS "name" FROM "public"."projects" "plinth_0" WHERE "plinth_0"."id" <= $1 ORDER BY "plinth_0"."id" ASC) "plinth_row"`,
        values: ['2'],
        rows: [['1,Apollo'], ['2,Borax']],
      },
    ],
  },
  {
    line: 'GET /projects?id=eq.4',
    headers: { accept: 'application/vnd.pgrst.array+json;nulls=stripped' },
    statements: [
      {
        text: 'SELECT json_strip_nulls(row_to_json(plinth_row.*)) FROM (SELECT "plinth_0".* FROM "public"."projects" "plinth_0" WHERE "plinth_0"."id" = $1) "plinth_row"',
        values: ['4'],
        rows: [[{ id: 4, name: 'Drift' }]],
      },
    ],
  },
];
