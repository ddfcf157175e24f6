/** Writes: their SQL, their responses, and the rows in the table afterwards. */
import type { PinnedRequest } from './pinned-request';

export const WRITES: readonly PinnedRequest[] = [
  {
    line: 'POST /projects',
    body: '{"name":"x"}',
    statements: [
      {
        text: 'WITH "plinth_result" AS (INSERT INTO "public"."projects" ("name") SELECT "plinth_body"."name" FROM json_to_record($1::json) AS "plinth_body"("name" text) RETURNING "public"."projects".*) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"',
        values: ['{"name":"x"}'],
        rows: [[{ id: 100, name: 'x', client_id: null, data: null }]],
      },
    ],
    leaves: { query: 'select name from projects where id > 4', rows: [['x']] },
  },
  // The second row omits a column and gets its default.
  {
    line: 'POST /projects',
    body: '[{"id":7,"name":"x"},{"name":"y"}]',
    statements: [
      {
        text: 'WITH "plinth_group_0" AS (INSERT INTO "public"."projects" ("id", "name") SELECT "plinth_body"."id", "plinth_body"."name" FROM (SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS ("id" integer, "name" text)) WITH ORDINALITY AS plinth_all("id", "name", "plinth_ordinal") WHERE (plinth_all."plinth_ordinal" IN (SELECT unnest((SELECT $2::bigint[])))) IS TRUE) "plinth_body" RETURNING "public"."projects".*), "plinth_group_1" AS (INSERT INTO "public"."projects" ("name") SELECT "plinth_body"."name" FROM (SELECT * FROM ROWS FROM (json_to_recordset($1::json) AS ("name" text)) WITH ORDINALITY AS plinth_all("name", "plinth_ordinal") WHERE (plinth_all."plinth_ordinal" IN (SELECT unnest((SELECT $3::bigint[])))) IS TRUE) "plinth_body" RETURNING "public"."projects".*), "plinth_result" AS (SELECT "id", "name", "client_id", "data" FROM (SELECT *, ($4::integer[])[row_number() OVER ()] AS "plinth_ordinal" FROM "plinth_group_0" UNION ALL SELECT *, ($5::integer[])[row_number() OVER ()] AS "plinth_ordinal" FROM "plinth_group_1") plinth_united ORDER BY "plinth_ordinal") SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"',
        values: ['[{"id":7,"name":"x"},{"name":"y"}]', '{"1"}', '{"2"}', '{"1"}', '{"2"}'],
        rows: [
          [{ id: 7, name: 'x', client_id: null, data: null }],
          [{ id: 100, name: 'y', client_id: null, data: null }],
        ],
      },
    ],
    leaves: {
      query: 'select id, name from projects where id > 4 order by id',
      rows: [
        [7, 'x'],
        [100, 'y'],
      ],
    },
  },
  // Counts the inserted rows.
  {
    line: 'POST /clients',
    headers: { prefer: 'resolution=merge-duplicates' },
    body: '[{"id":1,"name":"New"},{"id":9,"name":"Nine"}]',
    statements: [
      {
        text: `WITH "plinth_result" AS (INSERT INTO "public"."clients" ("id", "name") SELECT "plinth_body"."id", "plinth_body"."name" FROM json_to_recordset($1::json) AS "plinth_body"("id" integer, "name" text) WHERE set_config('plinth.inserted', (coalesce(nullif(current_setting('plinth.inserted', true), '')::integer, 0) + 1)::text, true) IS NOT NULL ON CONFLICT ("id") DO UPDATE SET "id" = EXCLUDED."id", "name" = EXCLUDED."name" WHERE set_config('plinth.inserted', (coalesce(nullif(current_setting('plinth.inserted', true), '')::integer, 0) + -1)::text, true) IS NOT NULL RETURNING "public"."clients".*) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"`,
        values: ['[{"id":1,"name":"New"},{"id":9,"name":"Nine"}]'],
        rows: [[{ id: 1, name: 'New' }], [{ id: 9, name: 'Nine' }]],
      },
    ],
    leaves: {
      query: "select current_setting('plinth.inserted'), string_agg(name, ' ' order by id) from clients",
      rows: [['1', 'New Bolt Idle Nine']],
    },
  },
  {
    line: 'PUT /clients?id=eq.2',
    body: '{"id":2,"name":"Volt"}',
    statements: [
      {
        text: `WITH "plinth_result" AS (INSERT INTO "public"."clients" ("id", "name") SELECT "plinth_body"."id", "plinth_body"."name" FROM json_to_record($1::json) AS "plinth_body"("id" integer, "name" text) WHERE "plinth_body"."id" = $2 AND set_config('plinth.inserted', (coalesce(nullif(current_setting('plinth.inserted', true), '')::integer, 0) + 1)::text, true) IS NOT NULL ON CONFLICT ("id") DO UPDATE SET "id" = EXCLUDED."id", "name" = EXCLUDED."name" WHERE set_config('plinth.inserted', (coalesce(nullif(current_setting('plinth.inserted', true), '')::integer, 0) + -1)::text, true) IS NOT NULL RETURNING "public"."clients".*) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0".* FROM "plinth_result" "plinth_0") "plinth_row"`,
        values: ['{"id":2,"name":"Volt"}', '2'],
        rows: [[{ id: 2, name: 'Volt' }]],
      },
    ],
    leaves: {
      query: "select current_setting('plinth.inserted'), string_agg(name, ' ' order by id) from clients",
      rows: [['0', 'Acme Volt Idle']],
    },
  },
  {
    line: 'PATCH /projects?id=eq.1',
    headers: { prefer: 'return=minimal' },
    body: '{"name":"x"}',
    statements: [
      {
        text: 'WITH "plinth_body" AS (SELECT * FROM json_to_record($1::json) AS plinth_record("name" text)) UPDATE "public"."projects" SET "name" = (SELECT "name" FROM "plinth_body") WHERE ("public"."projects"."id" = $2)',
        values: ['{"name":"x"}', '1'],
        rows: [],
      },
    ],
    leaves: {
      query: 'select name from projects order by id',
      rows: [['x'], ['Borax'], ['Comet'], ['Drift']],
    },
  },
  {
    line: 'PATCH /projects?id=eq.4&select=name,clients(name)',
    body: '{"client_id":3}',
    statements: [
      {
        text: 'WITH "plinth_body" AS (SELECT * FROM json_to_record($1::json) AS plinth_record("client_id" integer)), "plinth_result" AS (UPDATE "public"."projects" SET "client_id" = (SELECT "client_id" FROM "plinth_body") WHERE ("public"."projects"."id" = $2) RETURNING "public"."projects"."name" AS "name", "public"."projects"."client_id" AS "client_id") SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0"."name" AS "name", row_to_json("plinth_1_embed".*) AS "clients" FROM "plinth_result" "plinth_0" LEFT JOIN LATERAL (SELECT "plinth_1"."name" AS "name" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id") "plinth_1_embed" ON TRUE) "plinth_row"',
        values: ['{"client_id":3}', '4'],
        rows: [[{ name: 'Drift', clients: { name: 'Idle' } }]],
      },
    ],
    leaves: { query: 'select id, client_id from projects where client_id = 3', rows: [[4, 3]] },
  },
  {
    line: 'DELETE /a.b?":p0"=gt.1',
    headers: { prefer: 'return=minimal' },
    statements: [
      {
        text: 'DELETE FROM "public"."a.b" WHERE ("public"."a.b".":p0" > $1)',
        values: ['1'],
        rows: [],
      },
    ],
    leaves: { query: 'select ":p0" from "a.b"', rows: [[1]] },
  },
  {
    line: 'DELETE /projects?client_id=eq.1&select=id',
    headers: { prefer: 'return=representation' },
    statements: [
      {
        text: 'WITH "plinth_result" AS (DELETE FROM "public"."projects" WHERE ("public"."projects"."client_id" = $1) RETURNING "public"."projects"."id" AS "id") SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0"."id" AS "id" FROM "plinth_result" "plinth_0") "plinth_row"',
        values: ['1'],
        rows: [[{ id: 1 }], [{ id: 2 }]],
      },
    ],
    leaves: { query: 'select id from projects order by id', rows: [[3], [4]] },
  },
];
