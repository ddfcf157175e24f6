/** Operators in PostgREST's reference: each is negated, and combined with any() and all() if it accepts them. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create table texts (id int primary key, n int, body text, tags text[], span int4range, words tsvector, doc json, ok boolean);
    insert into texts values
      (1, 1, 'The Fat Cats', '{a,b}', '[1,5)', to_tsvector('english', 'The Fat Cats'), '{"t": "a fat cat"}', true),
      (2, 3, 'the rats run', '{b}', '[5,9)', to_tsvector('english', 'the rats run'), '{"t": "rats run"}', false),
      (3, 5, 'nothing', '{c}', '[9,12)', to_tsvector('english', 'nothing'), '{"t": "none"}', null)
  `);
});
afterAll(() => plinth.stop());

async function ids(query: string): Promise<number[]> {
  const answer = await project.service.get(encodeURI(`/rest/v1/texts?select=id&order=id&${query}`));
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body.map(({ id }: { id: number }) => id);
}

describe('not, before each operator', () => {
  /** These columns have no nulls, so a negated filter selects the remaining rows. */
  const PLAIN: [column: string, operation: string, expected: number[]][] = [
    ['n', 'eq.3', [2]],
    ['n', 'neq.3', [1, 3]],
    ['n', 'gt.3', [3]],
    ['n', 'gte.3', [2, 3]],
    ['n', 'lt.3', [1]],
    ['n', 'lte.3', [1, 2]],
    ['n', 'in.(1,5)', [1, 3]],
    ['n', 'isdistinct.3', [1, 3]],
    ['n', 'is.null', []],
    ['ok', 'is.true', [1]],
    ['ok', 'is.False', [2]],
    ['ok', 'is.UNKNOWN', [3]],
    ['ok', 'is.not_null', [1, 2]],
    ['ok', 'is.not.null', [1, 2]],
    ['body', 'like.The*', [1]],
    ['body', 'ilike.the*', [1, 2]],
    ['body', 'match.^The', [1]],
    ['body', 'imatch.^the', [1, 2]],
    ['body', 'fts(english).cat', [1]],
    ['words', 'fts(english).cat', [1]],
    ['doc', 'fts(english).cat', [1]],
    ['words', 'plfts(english).the cats', [1]],
    ['words', 'phfts(english).fat cats', [1]],
    ['doc', 'phfts(english).The Fat Cats', [1]],
    ['words', 'wfts(english).cat or rat', [1, 2]],
    ['tags', 'cs.{a}', [1]],
    ['tags', 'cd.{b,d}', [2]],
    ['tags', 'ov.{a,c}', [1, 3]],
    ['span', 'cs.[2,3)', [1]],
    ['span', 'cd.[0,10)', [1, 2]],
    ['span', 'ov.[4,6)', [1, 2]],
    ['span', 'sl.[5,9)', [1]],
    ['span', 'sr.[5,9)', [3]],
    ['span', 'nxr.[1,9)', [1, 2]],
    ['span', 'nxl.[5,9)', [2, 3]],
    ['span', 'adj.[5,9)', [1, 3]],
  ];
  it.each(PLAIN)('%s=%s selects %j, and the other rows when negated', async (column, operation, expected) => {
    expect(await ids(`${column}=${operation}`)).toEqual(expected);
    const rest = [1, 2, 3].filter((id) => !expected.includes(id));
    expect(await ids(`${column}=not.${operation}`)).toEqual(rest);
    const quoted = /[[{,]/.test(operation) && !operation.startsWith('in.');
    const [, operator, value] = /^([a-z]+(?:\(\w+\))?)\.(.*)$/.exec(operation) ?? [];
    const term = quoted ? `${column}.not.${operator}."${value}"` : `${column}.not.${operation}`;
    expect(await ids(`or=(${term},id.eq.0)`)).toEqual(rest);
  });
});

describe('any and all', () => {
  const MODIFIED: [query: string, expected: number[]][] = [
    ['n=eq(any).{1,5}', [1, 3]],
    ['n=eq(all).{3,3}', [2]],
    ['n=gt(any).{1,4}', [2, 3]],
    ['n=gt(all).{1,4}', [3]],
    ['n=gte(any).{3,5}', [2, 3]],
    ['n=gte(all).{3,5}', [3]],
    ['n=lt(any).{2,5}', [1, 2]],
    ['n=lt(all).{2,5}', [1]],
    ['n=lte(any).{1,3}', [1, 2]],
    ['n=lte(all).{1,3}', [1]],
    ['body=like(any).{The*,no*}', [1, 3]],
    ['body=like(all).{the*,*run}', [2]],
    ['body=ilike(any).{the*,x*}', [1, 2]],
    ['body=ilike(all).{the*,*CATS}', [1]],
    ['body=match(any).{^The,^no}', [1, 3]],
    ['body=match(all).{^the,run$}', [2]],
    ['body=imatch(any).{^the,^x}', [1, 2]],
    ['body=imatch(all).{^the,cats$}', [1]],
    ['body=not.like(any).{The*,no*}', [2]],
    ['or=(n.gt(all).{1,4},body.like(any).{The*,x*})', [1, 3]],
  ];
  it.each(MODIFIED)('%s selects %j', async (query, expected) => {
    expect(await ids(query)).toEqual(expected);
  });
});
