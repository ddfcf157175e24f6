/** Fields inside a value: of JSON, of composite types, elements of arrays, to select, filter and order by; names of any script. */
import { TestPlinth } from '../../support/plinth';
import type { TestProject } from '../../support/test-project';

let plinth: TestPlinth;
let project: TestProject;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject();
  await project.sql(`
    create type coordinates as (lat numeric, long numeric);
    create table countries (id int primary key, location coordinates, languages text[], data jsonb, facts json);
    insert into countries values
      (1, '(10.5,20)', '{en,fr}', '{"list": [1, 2, 3], "deep": {"age": 5}}', '{"k": "x"}'),
      (2, '(30,40)', '{de}', '{"list": [4, 5, 6], "deep": {"age": 7}}', '{"k": "y"}'),
      (3, null, null, null, null);
    create table "موارد" (id int primary key, "هویت" int, "größe in cm" int, "full-name" text);
    insert into "موارد" values (1, 5, 170, 'a'), (2, 6, 180, 'b');
  `);
});
afterAll(() => plinth.stop());

const rows = async (path: string): Promise<unknown> => {
  const answer = await project.service.get(encodeURI(`/rest/v1/${path}`));
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return answer.body;
};

const READS: [path: string, expected: unknown][] = [
  [
    'countries?select=id,location->>lat,location->long,first:languages->0&location->lat=gte.19',
    [{ id: 2, lat: '30', long: 40, first: 'de' }],
  ],
  ['countries?select=id&location->>long=eq.20', [{ id: 1 }]],
  ['countries?select=id&order=location->lat.desc.nullslast', [{ id: 2 }, { id: 1 }, { id: 3 }]],
  ['countries?select=id&languages->>-1=eq.fr', [{ id: 1 }]],
  ['countries?select=list:data->list->-1&data->list->>-1=eq.6', [{ list: 6 }]],
  ['countries?select=age:data->deep->age&data->deep->age=gt.5', [{ age: 7 }]],
  ['countries?select=age:data->deep->>age::int&id=eq.1', [{ age: 5 }]],
  ['countries?select=id&order=data->deep->age.desc.nullslast', [{ id: 2 }, { id: 1 }, { id: 3 }]],
  ['countries?select=facts->>k&facts->>k=in.(y,z)', [{ k: 'y' }]],
  ['countries?select=id&or=(location->lat.eq.30,languages->>1.eq.fr)&order=id', [{ id: 1 }, { id: 2 }]],
  ['موارد?select=هویت&هویت=gt.5', [{ هویت: 6 }]],
  [
    'موارد?select=größe in cm,full-name&größe in cm=lt.175&order=full-name',
    [{ 'größe in cm': 170, 'full-name': 'a' }],
  ],
];

it.each(READS)('%s', async (path, expected) => {
  expect(await rows(path)).toEqual(expected);
});
