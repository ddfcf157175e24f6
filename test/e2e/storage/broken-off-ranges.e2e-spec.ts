/** A client that disconnects while several ranges of a file are sent leaves no file open. */
import { randomBytes } from 'node:crypto';
import { eventually } from '../../support/eventually';
import { openFilesBelow } from '../../support/open-files';
import { TestPlinth } from '../../support/plinth';
import { headOf, rawClient } from '../../support/slow-clients';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

/** The largest number of ranges in one response, each too large to be read at once. */
const RANGES = 20;
const RANGE = 139_000;
const CLIENTS = 60;
const CONCURRENCY = 20;

let plinth: TestPlinth;
let project: TestProject;
let request: string;

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  await project.service.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  const { body } = await upload(project.service, project.storage, 'box', randomBytes(RANGES * (RANGE + 1)));
  const ranges = Array.from(
    { length: RANGES },
    (_, n) => `${n * (RANGE + 1)}-${n * (RANGE + 1) + RANGE - 1}`,
  );
  request = headOf(`GET ${project.storage}/files/${body.data.id}/preview`, {
    Range: `bytes=${ranges.join()}`,
  });
});
afterAll(() => plinth.stop());

/** Disconnects after so many bytes. @returns the beginning of the response */
async function breakOff(bytes: number): Promise<string> {
  const { socket, closed } = rawClient(plinth.baseUrl, request, { reads: false });
  let begin = '';
  let received = 0;
  socket.on('data', (chunk: Buffer) => {
    if (received === 0) begin = chunk.toString('latin1', 0, 12);
    received += chunk.length;
    if (received >= bytes) socket.destroy();
  });
  await closed;
  return begin;
}

it('closes the file wherever the client disconnects', async () => {
  const total = RANGES * RANGE;
  for (let begun = 0; begun < CLIENTS; begun += CONCURRENCY) {
    const heads = await Promise.all(
      Array.from({ length: CONCURRENCY }, (_, n) => breakOff(1 + ((begun + n) * total) / CLIENTS)),
    );
    expect(new Set(heads)).toEqual(new Set(['HTTP/1.1 206']));
  }
  await eventually(async () => expect(openFilesBelow(plinth.dataDir)).toBe(0));
});
