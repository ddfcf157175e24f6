/** Code to copy, for a project's addresses. Names are put into it as JSON or percent-encoded, so they stay data. */

interface Place {
  readonly url: string;
  readonly id: string;
  readonly slug: string;
  readonly anonKey: string;
  readonly table: string;
}

export const SNIPPETS = {
  curl: ({ url, slug, anonKey, table }: Place) =>
    `KEY='${anonKey}'
curl "${url}/p/${slug}/rest/v1/${encodeURIComponent(table)}?limit=10" \\
  -H "apikey: $KEY" -H "Authorization: Bearer $KEY"`,
  'supabase-js': ({ url, slug, anonKey, table }: Place) =>
    `import { createClient } from '@supabase/supabase-js';

const supabase = createClient('${url}/p/${slug}', '${anonKey}');
const { data, error } = await supabase.from(${JSON.stringify(table)}).select().limit(10);
// For tables and functions. supabase.auth and supabase.storage are not served: use the calls of the API page.`,
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
} as const;

export type SnippetName = keyof typeof SNIPPETS;
