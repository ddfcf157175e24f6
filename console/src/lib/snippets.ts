/** Code to copy, for a project's addresses. Names are put into it as JSON or percent-encoded, so they stay data. */

interface Place {
  readonly url: string;
  readonly id: string;
  readonly slug: string;
  readonly anonKey: string;
  readonly table: string;
}

const tableUrl = ({ url, slug, table }: Place): string =>
  `${url}/p/${slug}/rest/v1/${encodeURIComponent(table)}`;

export const SNIPPETS = {
  'supabase-js': ({ url, slug, anonKey, table }: Place) =>
    `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${url}/p/${slug}', '${anonKey}');
const { data, error } = await supabase.from(${JSON.stringify(table)}).select().limit(10);
// Also: supabase.auth.signInWithPassword(...), supabase.storage.from('files').upload(...)`,
  'openapi-fetch': ({ url, slug, anonKey, table }: Place) =>
    `// curl -s -H "apikey: ${anonKey}" -H "Authorization: Bearer ${anonKey}" ${url}/p/${slug}/openapi.json > api.json
// npx openapi-typescript api.json -o api.d.ts
import createClient from 'openapi-fetch';
import type { paths } from './api';

const key = '${anonKey}';
const api = createClient<paths>({
  baseUrl: '${url}',
  headers: { apikey: key, Authorization: \`Bearer \${key}\` },
});
const { data } = await api.GET(${JSON.stringify(`/p/${slug}/rest/v1/${encodeURIComponent(table)}`)}, {
  params: { query: { limit: 10 } },
});`,
  curl: (place: Place) =>
    `KEY='${place.anonKey}'
curl "${tableUrl(place)}?limit=10" \\
  -H "apikey: $KEY" -H "Authorization: Bearer $KEY"`,
  Python: (place: Place) =>
    `import json
from urllib.request import Request, urlopen

key = "${place.anonKey}"
url = ${JSON.stringify(`${tableUrl(place)}?limit=10`)}
request = Request(url, headers={"apikey": key, "Authorization": "Bearer " + key})
print(json.load(urlopen(request)))`,
  Dart: (place: Place) =>
    `// dart pub add http
import 'dart:convert';
import 'package:http/http.dart' as http;

Future<void> main() async {
  const key = "${place.anonKey}";
  final url = Uri.parse(${JSON.stringify(`${tableUrl(place)}?limit=10`)});
  final headers = {'apikey': key, 'Authorization': 'Bearer $key'};
  final response = await http.get(url, headers: headers);
  print(jsonDecode(response.body));
}`,
} as const;

export type SnippetName = keyof typeof SNIPPETS;

/** The URL has a password, whose characters are percent-encoded. */
export const psqlCommand = (databaseUrl: string): string => `psql '${databaseUrl.replaceAll("'", '%27')}'`;
