/** Calls of functions. */
import type { PinnedRequest } from './pinned-request';

export const CALLS: readonly PinnedRequest[] = [
  {
    line: 'GET /rpc/projects_of?client=1&select=id,name&name=like.B*',
    statements: [
      {
        text: 'WITH "plinth_result" AS (SELECT plinth_call.* FROM "public"."projects_of"("client" => $1::integer) AS plinth_call) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0"."id" AS "id", "plinth_0"."name" AS "name" FROM "plinth_result" "plinth_0" WHERE "plinth_0"."name" LIKE $2) "plinth_row"',
        values: ['1', 'B%'],
        rows: [[{ id: 2, name: 'Borax' }]],
      },
    ],
  },
  {
    line: 'GET /rpc/projects_of?client=1&named=A%25&select=name,clients(name)',
    statements: [
      {
        text: 'WITH "plinth_result" AS (SELECT plinth_call."name", plinth_call."client_id" FROM "public"."projects_of"("client" => $1::integer, "named" => $2::text) AS plinth_call) SELECT row_to_json(plinth_row.*) FROM (SELECT "plinth_0"."name" AS "name", row_to_json("plinth_1_embed".*) AS "clients" FROM "plinth_result" "plinth_0" LEFT JOIN LATERAL (SELECT "plinth_1"."name" AS "name" FROM "public"."clients" "plinth_1" WHERE "plinth_1"."id" = "plinth_0"."client_id") "plinth_1_embed" ON TRUE) "plinth_row"',
        values: ['1', 'A%'],
        rows: [[{ name: 'Apollo', clients: { name: 'Acme' } }]],
      },
    ],
  },
  {
    line: 'POST /rpc/rename_client',
    body: '{"client":1,"new_name":"Acme & Co"}',
    statements: [
      {
        text: 'SELECT to_json(plinth_row."plinth_value") FROM (SELECT "public"."rename_client"("client" => plinth_arguments."client", "new_name" => plinth_arguments."new_name") AS "plinth_value" FROM json_to_record($1::json) AS plinth_arguments("client" integer, "new_name" text)) plinth_row',
        values: ['{"client":1,"new_name":"Acme & Co"}'],
        rows: [['Acme & Co']],
      },
    ],
    leaves: { query: 'select name from clients where id = 1', rows: [['Acme & Co']] },
  },
];
