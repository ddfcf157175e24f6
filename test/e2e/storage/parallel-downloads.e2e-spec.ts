/** Concurrent downloads reuse buffers: no client may receive another's bytes, even when clients disconnect. */
import { createHash, randomBytes } from 'node:crypto';
import { get } from 'node:http';
import { HttpClient } from '../../support/http-client';
import { TestPlinth } from '../../support/plinth';
import { TestProject } from '../../support/test-project';
import { upload } from '../../support/uploads';

const FILES = 6;
const SIZE = 3 * 1024 * 1024;
/** More than the number of pooled buffers. */
const DOWNLOADS = 90;

let plinth: TestPlinth;
let project: TestProject;
let user: HttpClient;
const files: { path: string; sha256: string }[] = [];

beforeAll(async () => {
  plinth = await TestPlinth.start();
  project = await plinth.createProject({ plan: 'enterprise' });
  user = project.asSubject();
  await user.post(`${project.storage}/buckets`, { name: 'box', is_public: true });
  for (let n = 0; n < FILES; n += 1) {
    const { body } = await upload(user, project.storage, 'box', randomBytes(SIZE), { name: `${n}.bin` });
    files.push({ path: `${project.storage}/files/${body.data.id}/preview`, sha256: body.data.sha256 });
  }
});
afterAll(() => plinth.stop());

/**
 * Reads slowly, so that buffers stay in use.
 * @param leaveAfter bytes after which the client disconnects
 * @returns the SHA-256 of the received bytes, or `left`
 */
function read(path: string, leaveAfter = Infinity): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(plinth.baseUrl + path, { agent: false }, (response) => {
      const hash = createHash('sha256');
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        bytes += chunk.length;
        if (bytes > leaveAfter) request.destroy();
        response.pause();
        setImmediate(() => response.resume());
      });
      response.on('error', () => resolve('left'));
      response.on('end', () => resolve(hash.digest('hex')));
    });
    request.on('error', (error) => (leaveAfter === Infinity ? reject(error) : resolve('left')));
  });
}

it('sends every client the bytes of its own file while others disconnect half-way', async () => {
  const answers = await Promise.all(
    Array.from({ length: DOWNLOADS }, async (_, n) => {
      const { path, sha256 } = files[n % FILES] as (typeof files)[number];
      const leaves = n % 3 === 0;
      return { leaves, sha256, got: await read(path, leaves ? SIZE / 4 : Infinity) };
    }),
  );
  for (const { leaves, sha256, got } of answers) expect(got).toBe(leaves ? 'left' : sha256);
});

it('continues to serve after many clients disconnected', async () => {
  const { path, sha256 } = files[0] as (typeof files)[number];
  for (let n = 0; n < 5; n += 1) await Promise.all(Array.from({ length: 20 }, () => read(path, 1)));
  expect(await read(path)).toBe(sha256);
});
