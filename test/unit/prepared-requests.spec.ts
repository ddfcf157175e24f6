/**
 * A request that reuses the plan of another request with the same shape must send the same statements as with its own
 * plan. Requests are random combinations of parts that cover the grammar. The seed is fixed, so that failures are
 * reproducible.
 */
import { effectiveSettings } from '../../src/projects/project-settings';
import { bindRequest, type BoundRequest } from '../../src/rest/compile/compiled-statement';
import { parseRestRequest } from '../../src/rest/grammar/parse-rest-request';
import type { ParsedRequest } from '../../src/rest/grammar/rest-request';
import type { PlainOperation } from '../../src/rest/grammar/tree';
import type { RequestBody } from '../../src/rest/body/request-body';
import type { Payload } from '../../src/rest/body/payload';
import {
  type CompiledPlan,
  compilePlan,
  CompiledPlanCache,
  planKey,
} from '../../src/rest/prepare/compiled-plan';
import { requestValues } from '../../src/rest/prepare/prepared-request';
import { AppError } from '../../src/common/errors/app-error';
import { catalogOf, EXAMPLE_ROWS } from '../support/example-catalog';
import { jsonPayload } from '../support/json-payload';

const CATALOG = catalogOf(EXAMPLE_ROWS);
const SETTINGS = effectiveSettings({});
const ASKER = { role: 'anon', project: { revision: '1', settings: SETTINGS } };

interface Given {
  readonly parsed: ParsedRequest;
  readonly payload: Payload | null;
}

/** `GET /projects?id=eq.1`, with its headers and its body. */
function given(line: string, headers: Record<string, string> = {}, body?: string): Given {
  const [method = '', url = ''] = line.split(/ (.*)/s);
  const [target = '', queryString = ''] = url.slice(1).split(/\?(.*)/s);
  const parsed = parseRestRequest({ kind: 'table', method, target, queryString, headers });
  return { parsed, payload: body === undefined ? null : jsonPayload(body) };
}

function prepared({ parsed, payload }: Given): CompiledPlan {
  return compilePlan(ASKER, CATALOG, parsed.shape, bodyOf(payload), true);
}

const bodyOf = (payload: Payload | null): RequestBody => ({
  bytes: Buffer.alloc(0),
  payload,
  structure: null,
  fields: null,
});

/** The statements of a request that uses a prepared plan. */
function sent({ compiled }: CompiledPlan, { parsed, payload }: Given): BoundRequest {
  return bindRequest(compiled, requestValues(parsed.values, bodyOf(payload)));
}

const shape = ({ parsed, payload }: Given): string | null => planKey(parsed.shape, payload);

describe('requests of one shape', () => {
  const ALIKE: [line: string, other: string][] = [
    ['GET /projects?id=eq.1', 'GET /projects?id=eq.2'],
    ['GET /projects?id=in.(1,2)', 'GET /projects?id=in.(3,4,5,"a,b")'],
    ['GET /projects?name=like.*x', 'GET /projects?name=like.a*b*'],
    ['GET /projects?name=fts(english).cat', 'GET /projects?name=fts(english).dog'],
    [
      'GET /projects?select=id,clients(name)&clients.id=gt.1&or=(id.eq.1,not.and(name.like.*a,id.in.(1)))',
      'GET /projects?select=id,clients(name)&clients.id=gt.9&or=(id.eq.7,not.and(name.like.b*,id.in.(2,3)))',
    ],
    ['DELETE /projects?id=lt.1&name=not.eq.a', 'DELETE /projects?id=lt.5&name=not.eq.b'],
  ];
  it.each(ALIKE)('%s', (line, other) => {
    const [one, two] = [given(line), given(other)];
    expect(shape(two)).toBe(shape(one));
    expect(sent(prepared(one), two)).toEqual(sent(prepared(two), two));
  });

  it('bodies that name the same columns', () => {
    const one = given('POST /projects', {}, '[{"name":"a","id":1}]');
    const two = given('POST /projects', {}, '[{"name":"b","id":2}]');
    expect(shape(two)).toBe(shape(one));
    expect(sent(prepared(one), two).main[0]?.values).toEqual(['[{"name":"b","id":2}]']);
  });

  const DIFFERENT: [line: string, other: string][] = [
    ['GET /projects?id=eq.1', 'GET /clients?id=eq.1'],
    ['GET /projects?id=eq.1', 'HEAD /projects?id=eq.1'],
    ['GET /projects?id=eq.1', 'GET /projects?id=gt.1'],
    ['GET /projects?id=eq.1', 'GET /projects?id=not.eq.1'],
    ['GET /projects?id=eq.1', 'GET /projects?client_id=eq.1'],
    ['GET /projects?id=eq(any).{1}', 'GET /projects?id=eq(all).{1}'],
    ['GET /projects?name=like.a', 'GET /projects?name=ilike.a'],
    ['GET /projects?id=is.null', 'GET /projects?id=is.not_null'],
    ['GET /projects?name=fts(a).x', 'GET /projects?name=fts(b).x'],
    ['GET /projects?data->a=eq.1', 'GET /projects?data->b=eq.1'],
    ['GET /projects?or=(data->a.eq.1)', 'GET /projects?or=(data->b.eq.1)'],
    ['GET /projects?or=(id.eq.1,id.eq.2)', 'GET /projects?and=(id.eq.1,id.eq.2)'],
    ['GET /projects?or=(id.eq.1,and(id.eq.2,id.eq.3))', 'GET /projects?or=(id.eq.1,and(id.eq.2),id.eq.3)'],
    ['GET /projects?select=id', 'GET /projects?select=name'],
    ['GET /projects?order=id', 'GET /projects?order=id.desc'],
    ['GET /projects?limit=1', 'GET /projects?limit=2'],
    ['GET /projects?offset=1', 'GET /projects?offset=2'],
  ];
  it.each(DIFFERENT)('have shapes that differ from others: %s, %s', (line, other) => {
    expect(shape(given(other))).not.toBe(shape(given(line)));
  });

  it('differ by headers and by the columns of the body', () => {
    const get = (headers: Record<string, string>) => shape(given('GET /projects', headers));
    const post = (body: string, headers = {}) => shape(given('POST /projects', headers, body));
    const patch = (body: string) => shape(given('PATCH /projects?id=eq.1', {}, body));
    const shapes = [
      get({}),
      get({ accept: 'text/csv' }),
      get({ accept: 'application/vnd.pgrst.object+json' }),
      get({ prefer: 'count=exact' }),
      get({ range: '0-4' }),
      get({ 'accept-profile': 'public' }),
      post('{"name":"a"}'),
      post('[{"name":"a"}]'),
      post('[]'),
      post('{"id":1}'),
      post('{"id":1,"name":"a"}'),
      post('{"name":"a"}', { prefer: 'return=minimal' }),
      post('{"name":"a"}', { prefer: 'resolution=merge-duplicates' }),
      post('{"name":"a"}', { prefer: 'missing=default' }),
      patch('[{"name":"a"}]'),
      patch('[{"name":"a"},{"name":"b"}]'),
    ];
    expect(new Set(shapes).size).toBe(shapes.length);
    // The plan depends on the columns that each row omits, so it serves no other body.
    expect(post('[{"name":"a"},{"id":1}]')).toBeNull();
  });
});

describe('random requests', () => {
  it('send the same statements with their own plan and with another request’s plan', () => {
    const random = mulberry(20_261_121);
    const first = new Map<string, CompiledPlan>();
    let compared = 0;
    for (let n = 0; n < 6_000; n += 1) {
      const one = drawn(random);
      const key = shape(one);
      const own = preparedOrNull(one);
      if (key === null || own === null) continue;
      const other = first.get(key);
      if (other) {
        expect(sent(other, one)).toEqual(sent(own, one));
        expect({ ...other.plan, read: null, write: null }).toEqual({ ...own.plan, read: null, write: null });
        compared += 1;
      } else first.set(key, own);
    }
    expect(compared).toBeGreaterThan(1_000);
    expect(first.size).toBeGreaterThan(500);
  });
});

describe('a kept plan', () => {
  const one = given('GET /projects?id=eq.1');
  const two = given('GET /projects?id=eq.2');
  const ask = (
    kept: CompiledPlanCache,
    asker: typeof ASKER,
    catalog: typeof CATALOG,
    { parsed: { shape: asked }, payload }: Given,
  ) => kept.of(asker, catalog, asked, bodyOf(payload));

  it('serves its shape for the same role, settings and catalog only', () => {
    const kept = new CompiledPlanCache();
    const prepared = ask(kept, ASKER, CATALOG, one);
    expect(ask(kept, ASKER, CATALOG, two)).toBe(prepared);
    expect(ask(kept, { ...ASKER, role: 'authenticated' }, CATALOG, two)).not.toBe(prepared);
    expect(ask(kept, ASKER, catalogOf(EXAMPLE_ROWS), two)).not.toBe(prepared);
    const limited = effectiveSettings({ max_rows: 3 });
    const other = ask(kept, { ...ASKER, project: { revision: '2', settings: limited } }, CATALOG, two);
    expect(other.plan.read.limit).toBe(3);
    expect(ask(kept, ASKER, CATALOG, two).plan.read.limit).toBe(prepared.plan.read.limit);
  });

  it('is not created for a body with very many names, with which a client could fill the memory', () => {
    const kept = new CompiledPlanCache();
    const named = (length: number) =>
      given('POST /projects?columns=id', {}, JSON.stringify({ id: 1, ['x'.repeat(length)]: 1 }));
    expect(ask(kept, ASKER, CATALOG, named(500))).toBe(ask(kept, ASKER, CATALOG, named(500)));
    expect(ask(kept, ASKER, CATALOG, named(8_000))).not.toBe(ask(kept, ASKER, CATALOG, named(8_000)));
  });

  it('is not created for a long query', () => {
    const kept = new CompiledPlanCache();
    const long = given(`GET /projects?select=${'id,'.repeat(1_000)}id`);
    expect(ask(kept, ASKER, CATALOG, long)).not.toBe(ask(kept, ASKER, CATALOG, long));
  });

  it('contains no value of a request', () => {
    // @ts-expect-error a plan holds slots, which only the grammar creates
    const operation: PlainOperation = { kind: 'plain', operator: 'neq', value: 'secret' };
    expect(operation.kind).toBe('plain');
    const secret = 'secret'.repeat(1_000);
    const filters = `name=eq.${secret}&id=in.(${secret})&or=(name.like.${secret},data->>a.not.eq."${secret}")`;
    for (const line of [`GET /projects?${filters}`, `PATCH /projects?${filters}`]) {
      const made = prepared(given(line, {}, line.startsWith('PATCH') ? `{"name":"${secret}"}` : undefined));
      expect(JSON.stringify([made.plan, made.compiled.main])).not.toContain('secret');
    }
  });
});

function preparedOrNull(one: Given): CompiledPlan | null {
  try {
    return prepared(one);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}

type Random = () => number;

/** Mulberry32: small, with the same results on every machine. */
function mulberry(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const FIELDS = ['id', 'name', 'data->a', 'data->>b', 'data->0', 'client_id'];
const VALUES = ['1', '2', 'x*', '*y', 'a b', '{1,2}', '"q"', '\\', 'é'];

const HEADERS: readonly Record<string, string>[] = [
  {},
  {},
  { prefer: 'count=exact' },
  { prefer: 'return=minimal' },
  { accept: 'text/csv' },
];
const BODIES = [
  '{"name":"a"}',
  '{"name":"b"}',
  '[{"name":"a"}]',
  '[{"name":"c"},{"name":"d"}]',
  '{"id":1,"name":"a"}',
];

function operation(random: Random): string {
  const value = pick(random, VALUES);
  const operations = [
    `eq.${value}`,
    `gt.${value}`,
    `like.${value}`,
    `ilike(any).{${value}}`,
    `eq(all).{${value}}`,
    `neq.${value}`,
    `cs.${value}`,
    `in.(1,${pick(random, ['2', '3,4', '"a,b"'])})`,
    'is.null',
    'is.true',
    `fts.${value}`,
    `wfts(english).${value}`,
  ];
  return (random() < 0.2 ? 'not.' : '') + pick(random, operations);
}

function term(random: Random, depth = 0): string {
  if (depth < 2 && random() < 0.3) {
    const terms = Array.from({ length: 1 + Math.floor(random() * 2) }, () => term(random, depth + 1));
    return `${pick(random, ['and', 'or', 'not.and'])}(${terms.join(',')})`;
  }
  return `${pick(random, FIELDS)}.${pick(random, ['eq.1', 'eq.2', 'not.like.a*', 'not.like.*b', 'in.(1,2)', 'in.(3)', 'is.null', 'gt.5'])}`;
}

/** All kinds of parts, but few choices of each, so that shapes repeat. */
function drawn(random: Random): Given {
  // PUT accepts only filters on its key.
  if (random() < 0.05) return given(`PUT /projects?id=eq.${pick(random, VALUES)}`, {}, pick(random, BODIES));
  const parts: string[] = [];
  const some = (chance: number, part: () => string): void => {
    if (random() < chance) parts.push(part());
  };
  const embeds = random() < 0.3;
  if (embeds)
    parts.push(
      pick(random, ['select=id,clients(name)', 'select=*,clients!inner(*)', 'select=...clients(name)']),
    );
  some(0.8, () => `${pick(random, FIELDS)}=${operation(random)}`);
  some(0.2, () => `${pick(random, FIELDS)}=${operation(random)}`);
  some(0.3, () => `${pick(random, ['or', 'and', 'not.or'])}=(${term(random)},${term(random)})`);
  if (embeds) some(0.4, () => `clients.${pick(random, ['id', 'name'])}=${operation(random)}`);
  some(0.2, () => pick(random, ['order=id', 'order=name.desc', 'limit=3', 'offset=2', 'limit=3&offset=1']));
  const method = pick(random, ['GET', 'GET', 'GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
  const headers = pick(random, HEADERS);
  const hasBody = ['POST', 'PATCH'].includes(method);
  return given(`${method} /projects?${parts.join('&')}`, headers, hasBody ? pick(random, BODIES) : undefined);
}
