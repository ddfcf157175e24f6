import { execFileSync } from 'node:child_process';
import { SNIPPETS } from './snippets';
import { callOf } from './table-calls';

const HOSTILE = `it's "$HOME" \`x\``;
const place = { url: 'http://localhost:8080', slug: 'acme', anonKey: 'KEY', table: HOSTILE };
const columns = [
  {
    name: 'id',
    type: 'integer',
    category: 'N',
    nullable: false,
    default: null,
    always: true,
    labels: null,
    comment: null,
  },
  {
    name: HOSTILE,
    type: 'text',
    category: 'S',
    nullable: false,
    default: null,
    always: false,
    labels: [HOSTILE],
    comment: null,
  },
];
const table = { columns, primaryKey: ['id'] };

it('passes names and values to curl unchanged, whatever they mean to a shell', () => {
  const text = SNIPPETS.curl(place, callOf('insert', table));
  const shown = execFileSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }\n${text}`], {
    encoding: 'utf8',
  });
  const [, , url, ...others] = shown.split('\0');
  expect(decodeURIComponent(url ?? '')).toBe(`http://localhost:8080/p/acme/rest/v1/${HOSTILE}`);
  expect(others).toContain(JSON.stringify({ [HOSTILE]: HOSTILE }));
});

it('does not interpolate values after a dollar sign in Dart', () => {
  expect(SNIPPETS.Dart(place, callOf('insert', table))).not.toMatch(/[^\\]\$HOME/);
});

it('uses the key of the table, and values that its columns accept', () => {
  expect(callOf('one', table)).toEqual({ method: 'GET', query: { id: 'eq.1' } });
  expect(callOf('insert', table)).toEqual({ method: 'POST', query: {}, body: { [HOSTILE]: HOSTILE } });
  expect(callOf('update', table)).toEqual({
    method: 'PATCH',
    query: { id: 'eq.1' },
    body: { [HOSTILE]: HOSTILE },
  });
  expect(SNIPPETS.curl({ ...place, table: 't' }, callOf('delete', table))).toContain(
    '-X DELETE "http://localhost:8080/p/acme/rest/v1/t?id=eq.1"',
  );
  expect(SNIPPETS['supabase-js']({ ...place, table: 't', schema: 's' }, callOf('update', table))).toContain(
    `supabase.schema("s").from("t").update({${JSON.stringify(HOSTILE)}:${JSON.stringify(HOSTILE)}}).eq("id", 1).select();`,
  );
});
