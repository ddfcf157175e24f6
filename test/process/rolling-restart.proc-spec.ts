/**
 * SIGUSR2 replaces the processes of WORKERS one by one under load without a failed request, by the same program or by a
 * later release that was installed in its place.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyFirstStart } from './support/first-start';
import { commandLine, isAlive, ROOT, until } from './support/processes';
import { IN_SOAK } from '../support/extent';
import { PlinthProcess, withCompiledCode } from '../support/plinth-process';
import { hasRedis, TestRedis } from '../support/redis-server';
import { buildLaterRelease } from '../support/releases';
import { createLoadedProject, type LoadedProject, SteadyLoad } from '../support/steady-load';

/** Gives each process cheap hashes of passwords, as PlinthProcess does for the build of this clone. */
const TUNE = join(ROOT, 'test/support/tune.cjs');
const WORKERS = 2;
const CLIENTS = 2;
/** Between the requests of a client. */
const PAUSE_MS = IN_SOAK ? 0 : 50;
const LIMIT_MS = 120_000;
const REPLACED = /All workers were replaced/g;

jest.setTimeout(2 * LIMIT_MS);

(hasRedis ? describe : describe.skip)('SIGUSR2 with WORKERS (needs Redis)', () => {
  let directory: string;
  /** A link to the build, as /opt/plinth is a link to the release. */
  let program: string;
  let redis: TestRedis;
  let plinth: PlinthProcess;
  let project: LoadedProject;
  let load: SteadyLoad;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-rolling-'));
    program = join(directory, 'program');
    pointTo(join(ROOT, 'dist'));
    await copyFirstStart(join(directory, 'data'));
    redis = await TestRedis.start();
    const { NODE_OPTIONS = '', ...cache } = withCompiledCode();
    plinth = await PlinthProcess.start({
      dataDir: directory,
      build: program,
      env: {
        WORKERS: String(WORKERS),
        REDIS_URL: redis.url,
        AUTH_REQUESTS_PER_MINUTE: '1000000',
        SHUTDOWN_TIMEOUT: '2',
        ...cache,
        NODE_OPTIONS: `${NODE_OPTIONS} --require=${TUNE}`,
      },
    });
    project = await createLoadedProject(plinth.admin.unchecked(), 'Rolling');
    load = new SteadyLoad(project, [plinth], PAUSE_MS);
    load.start(CLIENTS);
    await load.requests(20);
  }, LIMIT_MS);
  afterAll(async () => {
    await load?.stop();
    await plinth?.end('SIGKILL');
    await redis?.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, LIMIT_MS);

  function pointTo(build: string): void {
    rmSync(program, { force: true });
    symlinkSync(build, program);
  }

  /** Process ids of the workers. */
  function workers(): number[] {
    const { pid } = plinth.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
    return children.filter((child) => commandLine(child).includes('main.js'));
  }

  const replacements = (): number => plinth.printed.match(REPLACED)?.length ?? 0;

  async function replaceAll(): Promise<void> {
    const before = replacements();
    plinth.child.kill('SIGUSR2');
    await until(
      () => replacements() > before,
      LIMIT_MS,
      () => plinth.printed,
    );
    await load.requests(20);
  }

  it('leaves the workers in service if a new one does not start', async () => {
    const before = workers();
    const broken = join(directory, 'broken');
    mkdirSync(join(broken, 'src/config'), { recursive: true });
    writeFileSync(join(broken, 'src/config/tuning.js'), 'exports.TUNING = {};');
    writeFileSync(join(broken, 'src/main.js'), 'process.exit(3);');
    pointTo(broken);
    plinth.child.kill('SIGUSR2');
    await until(() => plinth.printed.includes('The workers that were not replaced go on'), LIMIT_MS);
    expect(plinth.printed).toContain('A worker ended before it served (exit code 3)');
    await load.requests(20);
    expect([workers(), load.failed]).toEqual([before, []]);
  });

  it('replaces every worker by the release that was installed in place of the program', async () => {
    const before = workers();
    pointTo(buildLaterRelease(join(directory, 'later')));
    await replaceAll();
    const after = workers();
    expect([before.length, after.length]).toEqual([WORKERS, WORKERS]);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
    await load.stop();
    expect(load.failed).toEqual([]);
    const { body } = await plinth.admin.unchecked().post(`/admin/v1/projects/${project.id}/sql`, {
      query: 'select count(*)::int as count, (select max(later) from auth.users) as later from notes',
    });
    expect(body.rows).toEqual([{ count: load.inserted, later: 7 }]);
  });

  it('exits with code 0 and ends all workers, even while workers are being replaced', async () => {
    const before = workers();
    plinth.child.kill('SIGUSR2');
    await until(() => workers().length > WORKERS, LIMIT_MS);
    const all = [...new Set([...before, ...workers()])];
    expect(await plinth.end('SIGTERM')).toBe(0);
    expect(all.filter(isAlive)).toEqual([]);
  });
});
