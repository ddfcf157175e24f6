/**
 * Runs the commands of docs/guides/s3-tools.md as they are written, except for addresses and keys. Missing tools are
 * skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestPlinth } from '../support/plinth';
import { freePort } from '../support/plinth-process';
import type { TestProject } from '../support/test-project';

const LIMIT_MS = 300_000;
const PAGE = readFileSync(join(__dirname, '../../docs/guides/s3-tools.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, text = '']) => text);
const hasTool = (name: string): boolean => spawnSync(name, ['--help']).error === undefined;

/** A file of several parts, and names that tools must encode. */
const FILES: Readonly<Record<string, Buffer>> = {
  'large.bin': randomBytes(20 * 1024 * 1024),
  'ümlaut +%.txt': Buffer.from('text'),
  'folder/empty': Buffer.alloc(0),
};

let plinth: TestPlinth;
let project: TestProject;
let folder: string;
let filled: (commands: string) => string;

beforeAll(async () => {
  const port = await freePort();
  plinth = await TestPlinth.start({ env: { S3_PORT: `127.0.0.1:${port}` } });
  project = await plinth.createProject({ plan: 'enterprise' });
  const { body: key } = await plinth.admin.post(`/admin/v1/projects/${project.id}/s3-keys`, {});
  folder = mkdtempSync(join(tmpdir(), 'plinth-s3-tools-'));
  mkdirSync(join(folder, 'photos/folder'), { recursive: true });
  for (const [name, bytes] of Object.entries(FILES)) writeFileSync(join(folder, 'photos', name), bytes);
  writeFileSync(join(folder, 'restic.password'), 'a password of restic');
  filled = (commands) =>
    commands
      .replaceAll('https://example.com/p/<slug>', `${plinth.baseUrl}/p/${project.slug}`)
      .replaceAll('https://s3.example.com', `http://127.0.0.1:${port}`)
      .replaceAll('s3.example.com', `127.0.0.1:${port}`)
      .replaceAll('use_https = True', 'use_https = False')
      .replaceAll('<access_key_id>', key.access_key_id)
      .replaceAll('<secret_access_key>', key.secret_access_key);
});
afterAll(async () => {
  await plinth.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the block of the tool, and further commands. @returns the output */
async function run(tool: string, ...more: string[]): Promise<string> {
  const [keys = ''] = BLOCKS.filter((text) => text.includes('AWS_SECRET_ACCESS_KEY='));
  const [block = ''] = BLOCKS.filter((text) => new RegExp(`^${tool} `, 'm').test(text));
  expect(block).not.toBe('');
  const script = filled([keys, block, ...more].join('\n'));
  const env = { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8', AWS_EC2_METADATA_DISABLED: 'true' };
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
}

const expectSame = (directory: string): void => {
  for (const [name, bytes] of Object.entries(FILES))
    expect([name, readFileSync(join(folder, directory, name)).equals(bytes)]).toEqual([name, true]);
};
const withTool = (name: string): jest.It => (hasTool(name) ? it : it.skip);

withTool('aws')(
  'aws CLI copies a folder to a bucket and back',
  async () => {
    await run(
      'aws',
      'aws s3 sync s3://photos ./by-aws',
      'aws s3 rm --recursive s3://photos',
      'aws s3 rb s3://photos',
    );
    expectSame('by-aws');
  },
  LIMIT_MS,
);

withTool('rclone')(
  'rclone synchronizes a folder',
  async () => {
    await run('rclone', 'rclone copy plinth:photos ./by-rclone', 'rclone purge plinth:photos');
    expectSame('by-rclone');
  },
  LIMIT_MS,
);

withTool('s3cmd')(
  's3cmd copies a folder to a bucket and back',
  async () => {
    const printed = await run(
      's3cmd',
      'mkdir by-s3cmd',
      's3cmd -c s3cmd.cfg get --recursive s3://pictures/ ./by-s3cmd/',
    );
    expect(printed).toContain('s3://pictures/large.bin');
    expectSame('by-s3cmd');
  },
  LIMIT_MS,
);

withTool('restic')(
  'restic keeps backups and restores them',
  async () => {
    expect(await run('restic')).toContain('no errors were found');
    expectSame('restored/photos');
  },
  LIMIT_MS,
);
