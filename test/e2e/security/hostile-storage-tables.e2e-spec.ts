/**
 * A project's owner may alter its storage tables. The project's requests are then still served or refused cleanly,
 * no other file on the server is read or removed, and other projects are not affected.
 */
import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StorageSweep } from '../../../src/storage/sweep/storage-sweep.service';
import { eventually } from '../../support/eventually';
import { casesOf, shareOf } from '../../support/extent';
import { Alteration, FUNCTIONS, replacedObjectId, TABLES } from '../../support/hostile-tables/altered-tables';
import {
  alterColumn,
  alterObjectIds,
  BUCKET_COLUMNS,
  FILE_COLUMNS,
  HostileColumn,
  HostileValue,
  objectIds,
} from '../../support/hostile-tables/hostile-columns';
import {
  addVictim,
  changingRequests,
  createVictimProject,
  readingOneFile,
  readingRequests,
  StorageRequest,
  Subject,
  Victim,
} from '../../support/hostile-tables/storage-requests';
import { HttpAnswer } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

/** The same length as the project's own file, so that a length cannot tell the two apart. */
const LENGTH = 43;
const secret = (): string => randomBytes(LENGTH).toString('hex').slice(0, LENGTH);
const [ADMIN_KEY, MASTER_KEY, NEIGHBOUR] = [secret(), secret(), secret()] as const;
const FOREIGN = [ADMIN_KEY, MASTER_KEY, NEIGHBOUR, 'root:x:0:0'];
const REFUSAL = /^The storage tables of this project|statement timeout/;
/** Milliseconds; a request that takes longer hangs. */
const LIMIT_MS = 60_000;

let plinth: TestPlinth;
let neighbour: TestProject;
let neighbourFile: string;
let neighbourObject: string;
/** All files outside the folders of altered projects. */
let outside: Map<string, string>;
const failures: unknown[] = [];
const noteFailure = (error: unknown): void => void failures.push(error);

beforeAll(async () => {
  process.on('unhandledRejection', noteFailure);
  plinth = await TestPlinth.start();
  writeFileSync(join(plinth.dataDir, 'platform-admin-key'), ADMIN_KEY);
  writeFileSync(join(plinth.dataDir, 'master-key'), MASTER_KEY);
  neighbour = await plinth.createProject({ plan: 'enterprise' });
  await neighbour.service.post(`${neighbour.storage}/buckets`, { name: 'box' });
  const { body } = await upload(neighbour.service, neighbour.storage, 'box', NEIGHBOUR, { name: 'own' });
  neighbourFile = `${neighbour.storage}/files/${body.data.id}`;
  const [{ object_id: id }] = await neighbour.sql('select object_id from storage.files');
  neighbourObject = id;
  outside = filesOutside();
});
afterAll(async () => {
  process.off('unhandledRejection', noteFailure);
  await plinth.stop();
});

function filesOutside(): Map<string, string> {
  const entries = [
    ...readdirSync(plinth.dataDir, { withFileTypes: true }),
    ...readdirSync(join(plinth.dataDir, 'files'), { withFileTypes: true }),
    ...readdirSync(join(plinth.dataDir, 'files', neighbour.id), { withFileTypes: true, recursive: true }),
  ];
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]));
}

function expectNothingForeign({ text, headers }: HttpAnswer): void {
  const everything = [text, ...[...headers].flat()].join('\n');
  expect(FOREIGN.filter((one) => everything.includes(one))).toEqual([]);
  expect(headers.get('x-evil')).toBeNull();
}

/** Asserts that the only server error is the one declared for altered tables. */
function expectClean({ status, body, text }: HttpAnswer): void {
  expect(text.length).toBeLessThan(100_000);
  if (status < 500) return;
  expect([status, body?.error ?? text]).toEqual([
    500,
    {
      code: expect.stringMatching(/^(storage_unavailable|57014)$/),
      message: expect.stringMatching(REFUSAL),
      status: 500,
    },
  ]);
}

async function sendInTime(request: StorageRequest): Promise<HttpAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${request.name} hangs`)), LIMIT_MS);
  });
  return Promise.race([request.send(), late]).finally(() => clearTimeout(timer));
}

async function expectNeighbourServed(): Promise<void> {
  expect((await neighbour.service.get(`${neighbourFile}/download`)).text).toBe(NEIGHBOUR);
  expect(failures).toEqual([]);
}

interface Expected {
  readonly refused: readonly Subject[];
  readonly breaksOff?: boolean;
}

/** Sends requests and asserts clean responses; requests about refused subjects must fail. */
async function expectAllClean(requests: readonly StorageRequest[], expected: Expected): Promise<void> {
  const served: string[] = [];
  for (const request of requests) {
    try {
      const answer = await sendInTime(request);
      expectNothingForeign(answer);
      if (request.name !== 'head') expectClean(answer);
      const isRefused = answer.status === 500;
      const mustBe = request.subjects.some((subject) => expected.refused.includes(subject));
      if (mustBe && !isRefused) served.push(`${request.name} ${answer.status}`);
    } catch (error) {
      const { message } = error as Error;
      if (expected.breaksOff && /terminated|fetch failed/.test(message)) continue;
      throw new Error(`${request.name}: ${message}`, { cause: error });
    }
  }
  expect(served).toEqual([]);
  await expectNeighbourServed();
}

describe('object ids written by the owner', () => {
  const elsewhere = (): string[] => [
    '../platform-admin-key',
    '../master-key',
    `../files/${neighbour.id}/${neighbourObject.slice(0, 2)}/${neighbourObject}`,
    '.plinth-files',
    '../.plinth-files',
  ];

  it("reach only the project's own files and remove none", async () => {
    const project = await createVictimProject(plinth);
    const ids = objectIds(elsewhere());
    const victims: Victim[] = [];
    for (const index of ids.keys()) victims.push(await addVictim(project, secret(), `file ${index}`));
    await project.sql(alterObjectIds(new Map(ids.map((id, index) => [`file ${index}`, id]))));
    for (const [index, victim] of victims.entries()) {
      const requests = [
        ...shareOf(
          readingOneFile(plinth, victim).filter(({ name }) => !name.startsWith('sign')),
          index,
          4,
        ),
        ...changingRequests(victim).filter(({ name }) => ['copy', 'delete several', 'delete'].includes(name)),
      ];
      await expectAllClean(requests, { refused: ['content'] }).catch((error: Error) => {
        throw new Error(`${ids[index]}: ${error.message}`, { cause: error });
      });
    }
    expect(filesOutside()).toEqual(outside);
  }, 120_000);

  it('of overwritten contents reach no file, either', async () => {
    for (const [turn, path] of elsewhere().slice(0, 2).entries()) await attack(replacedObjectId(path), turn);
    expect(filesOutside()).toEqual(outside);
  }, 120_000);
});

const COLUMNS = [...FILE_COLUMNS, ...BUCKET_COLUMNS];

describe.each(
  COLUMNS.map((column, turn) => [`storage.${column.table}.${column.name}`, column, turn] as const),
)('%s', (_name, column: HostileColumn, turn) => {
  let victim: Victim;
  beforeAll(async () => {
    victim = await addVictim(await createVictimProject(plinth), secret(), 'victim.txt');
  });
  const labelOf = ({ value, type }: HostileValue): string =>
    `${type} ${value.length > 60 ? `${value.slice(0, 57)}...` : value}`;

  // Each column is read by half of the requests.
  it.each(casesOf(column.values, 1).map((value) => [labelOf(value), value] as const))(
    'that holds %s is refused or served, and affects this project only',
    async (_label, value) => {
      await victim.project.sql(alterColumn(column, value));
      const expected = { refused: column.refused, ...value };
      await expectAllClean(shareOf(readingRequests(plinth, victim), turn, 2), expected);
    },
  );

  it('does no harm to routes that change files and buckets', async () => {
    const { refused = column.refused } = casesOf(column.values, 1).at(-1)!;
    const copyOnly = refused.filter((subject) => subject === 'target' || subject === 'write');
    const requests = changingRequests(victim);
    await expectAllClean(copyOnly.length > 0 ? requests : shareOf(requests, turn, 2), { refused: copyOnly });
  });
});

/** @param turn number of the alteration: two in a row send all reading requests between them */
async function attack({ sql, refused }: Alteration, turn: number): Promise<void> {
  const victim = await addVictim(await createVictimProject(plinth), secret(), 'victim.txt');
  await victim.project.sql(sql);
  const requests = [...shareOf(readingRequests(plinth, victim), turn, 2), ...changingRequests(victim)];
  await expectAllClean(requests, { refused });
}

const named = (alterations: readonly Alteration[]): [string, Alteration, number][] =>
  alterations.map((alteration, turn) => [alteration.name, alteration, turn]);

describe('an altered storage function', () => {
  it.each(named(shareOf(FUNCTIONS, 0, 3)))(
    '%s is refused or served, and affects this project only',
    (_name, one, turn) => attack(one, turn),
  );
});

describe('tables', () => {
  it.each(named(shareOf(TABLES, 0, 3)))(
    '%s: requests are refused or served, and affect this project only',
    (_name, one, turn) => attack(one, turn),
    180_000,
  );
});

describe('after all alterations', () => {
  it('the sweep of all projects completes, cleans the other project, and removes none of its files', async () => {
    await upload(neighbour.service, neighbour.storage, 'box', 'gone', { name: 'gone' });
    await neighbour.sql(`delete from storage.files where filename = 'gone'`);
    plinth.clock.move(3_610);
    await plinth.app.get(StorageSweep).sweepAll();
    plinth.clock.move(-3_610);
    await eventually(async () => expect(filesOutside()).toEqual(outside));
    await expectNeighbourServed();
  }, 180_000);
});
