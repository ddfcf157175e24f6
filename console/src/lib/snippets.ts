/**
 * Code to copy, for a project's addresses. Names and values are inserted as JSON or percent-encoded, so they remain
 * data.
 */

interface Place {
  readonly url: string;
  readonly slug: string;
  readonly anonKey: string;
  /** The schema, if it is not the first exposed schema. */
  readonly schema?: string | null;
  readonly table: string;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly query: Readonly<Record<string, string | number>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

const FIRST_ROWS: Call = { method: 'GET', query: { limit: 10 } };

export const tablePath = ({ slug, schema, table }: Pick<Place, 'slug' | 'schema' | 'table'>): string =>
  `/p/${slug}/rest/v1/${encodeURIComponent(schema ? `${schema}.${table}` : table)}`;

export const queryOf = (query: Call['query']): string =>
  Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');

function urlOf(place: Place, { query }: Call): string {
  const text = queryOf(query);
  return `${place.url}${tablePath(place)}${text === '' ? '' : `?${text}`}`;
}

const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** A Dart string; a dollar sign is escaped, because it begins an interpolation. */
const inDart = (value: unknown): string => JSON.stringify(value).replaceAll('$', String.raw`\$`);

/** The filters `id=eq.5` as `.eq("id", "5")`; `limit` as `.limit(10)`. */
const filtersOf = ({ query }: Call): string =>
  Object.entries(query)
    .map(([name, value]) =>
      name === 'limit' ? `.limit(${value})` : `.eq(${JSON.stringify(name)}, ${valueOf(String(value))})`,
    )
    .join('');

function valueOf(text: string): string {
  const value = text.replace(/^eq\./, '');
  return /^\d{1,15}$/.test(value) ? value : JSON.stringify(value);
}

function supabaseCall({ schema, table }: Place, call: Call): string {
  const from = `supabase${schema ? `.schema(${JSON.stringify(schema)})` : ''}.from(${JSON.stringify(table)})`;
  const body = JSON.stringify(call.body);
  switch (call.method) {
    case 'GET':
      return `${from}.select()${filtersOf(call)}`;
    case 'POST':
      return `${from}.insert(${body}).select()`;
    case 'PATCH':
      return `${from}.update(${body})${filtersOf(call)}.select()`;
    case 'DELETE':
      return `${from}.delete()${filtersOf(call)}`;
  }
}

export const SNIPPETS = {
  'supabase-js': (place: Place, call = FIRST_ROWS) =>
    `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${place.url}/p/${place.slug}', '${place.anonKey}');
const { data, error } = await ${supabaseCall(place, call)};
// Also: supabase.auth.signInWithPassword(...), supabase.storage.from('files').upload(...)`,
  'openapi-fetch': (place: Place, { method, query, body } = FIRST_ROWS) =>
    `// curl -s -H "apikey: ${place.anonKey}" -H "Authorization: Bearer ${place.anonKey}" ${place.url}/p/${place.slug}/openapi.json > api.json
// npx openapi-typescript api.json -o api.d.ts
import createClient from 'openapi-fetch';
import type { paths } from './api';

const key = '${place.anonKey}';
const api = createClient<paths>({
  baseUrl: '${place.url}',
  headers: { apikey: key, Authorization: \`Bearer \${key}\` },
});
const { data } = await api.${method}(${JSON.stringify(tablePath(place))}, {${
      Object.keys(query).length === 0 ? '' : `\n  params: { query: ${JSON.stringify(query)} },`
    }${body ? `\n  body: ${JSON.stringify(body)},` : ''}
});`,
  curl: (place: Place, call = FIRST_ROWS) =>
    `KEY='${place.anonKey}'
curl ${call.method === 'GET' ? '' : `-X ${call.method} `}"${urlOf(place, call)}" \\
  -H "apikey: $KEY" -H "Authorization: Bearer $KEY"${
    call.body ? ` \\\n  -H "Content-Type: application/json" -d ${inShell(JSON.stringify(call.body))}` : ''
  }`,
  Python: (place: Place, call = FIRST_ROWS) =>
    `import json
from urllib.request import Request, urlopen

key = "${place.anonKey}"
url = ${JSON.stringify(urlOf(place, call))}
headers = {"apikey": key, "Authorization": "Bearer " + key, "Content-Type": "application/json"}
request = Request(url, method="${call.method}", headers=headers${
      call.body ? `,\n    data=${JSON.stringify(JSON.stringify(call.body))}.encode()` : ''
    })
print(json.load(urlopen(request)))`,
  Dart: (place: Place, call = FIRST_ROWS) =>
    `// dart pub add http
import 'dart:convert';
import 'package:http/http.dart' as http;

Future<void> main() async {
  const key = "${place.anonKey}";
  final url = Uri.parse(${inDart(urlOf(place, call))});
  final headers = {'apikey': key, 'Authorization': 'Bearer $key', 'Content-Type': 'application/json'};
  final response = await http.${call.method.toLowerCase()}(url, headers: headers${
    call.body ? `,\n      body: jsonEncode(${inDart(call.body)})` : ''
  });
  print(jsonDecode(response.body));
}`,
} as const;

export type SnippetName = keyof typeof SNIPPETS;

/** The URL has a password, whose characters are percent-encoded. */
export const psqlCommand = (databaseUrl: string): string => `psql '${databaseUrl.replaceAll("'", '%27')}'`;
