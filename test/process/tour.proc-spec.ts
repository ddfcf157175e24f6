// The first start, and the commands of README.md, of the guide to the first project and of the first start, as a reader would
// paste them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { IN_SOAK } from '../support/extent';
import { HttpClient } from '../support/http-client';
import { freePort, withCompiledCode } from '../support/plinth-process';
import { Program, ROOT, withDirectory } from './support/processes';

const README = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
const FIRST_PROJECT = readFileSync(path.join(ROOT, 'docs/guides/first-project.md'), 'utf8');

/** The section of the README with that heading. */
function section(heading: string): string {
  return README.slice(README.indexOf(`## ${heading}\n`)).split(/\n(?=## )/)[0] as string;
}

function blocks(text: string, language: string): string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)]
    .filter(([, found]) => found === language)
    .map(([, , block = '']) => block);
}

/** A new install, and a shell for the commands. */
class FirstHour {
  private constructor(
    readonly program: Program,
    readonly base: string,
    private readonly environment: NodeJS.ProcessEnv,
    private readonly folder: string,
  ) {}

  static async start(folder: string): Promise<FirstHour> {
    const port = await freePort();
    const environment = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: path.join(folder, 'data'),
      LOG_LEVEL: 'error',
    };
    const program = Program.start(process.execPath, [path.join(ROOT, 'scripts/start.mjs')], {
      env: { ...environment, ...withCompiledCode() },
    });
    await program.says(/Paste these lines[\s\S]*\nFILE=.*\n/);
    return new FirstHour(program, `http://localhost:${port}`, environment, folder);
  }

  async end(): Promise<void> {
    this.program.child.kill('SIGTERM');
    expect(await this.program.exited).toEqual({ code: 0, signal: null });
  }

  /** Keys are in files of mode 0600; no secret is in the output. */
  async expectSecretsInFiles(): Promise<void> {
    const { output } = this.program;
    expect(output).toContain('Creating the database');
    const dataDir = path.join(this.folder, 'data');
    for (const name of ['master-key', 'postgres.password', 'platform-admin-key', 'demo-service-role-key'])
      expect((await stat(path.join(dataDir, name))).mode & 0o777).toBe(0o600);
    const [, file = ''] = /service_role key +in (\S+)/.exec(output) ?? [];
    expect(file).toBe(path.join(dataDir, 'demo-service-role-key'));
    const adminKey = readFileSync(path.join(dataDir, 'platform-admin-key'), 'utf8').trim();
    const admin = new HttpClient(this.base, { authorization: `Bearer ${adminKey}` });
    const { body } = await admin.get('/admin/v1/projects?slug=demo');
    const keys = (await admin.get(`/admin/v1/projects/${body[0]!.id}/keys`)).body;
    expect(readFileSync(file, 'utf8')).toBe(`${keys.service_role_key}\n`);
    expect(output).toContain(keys.anon_key);
    for (const secret of [keys.service_role_key, keys.jwt_secret, adminKey])
      expect(output).not.toContain(secret);
  }

  /** Standard output and standard error of a shell. */
  paste(script: string, { cwd = this.folder, shell = 'bash' } = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(shell, ['-c', script], { cwd, env: this.environment }, (error, out, err) =>
        error ? reject(new Error(`${err}\n${out}`, { cause: error })) : resolve(out + err),
      );
    });
  }

  /** Runs the three lines that the first start printed, in the given shell. */
  async pasteLines(): Promise<void> {
    const lines = this.program.output.split('\n').filter((line) => /^(KEY=|curl |FILE=)/.test(line));
    expect(lines).toHaveLength(3);
    const printed = await this.paste(lines.join('\n'), { shell: 'sh' });
    expect(printed).toMatch(/^signed up: eyJ[\w-]+\.[\w-]+\.[\w-]+$/m);
    expect(printed).toMatch(/^\[\{"id":\d+,.*"title":"Try Plinth","done":false,.*\}\]$/m);
    expect(printed).toMatch(/^\[\{"id":\d+,"title":"Try Plinth"\}\]$/m);
    expect(printed).toMatch(/^shared: http:\S+signature=\S+\nHello from Plinth$/m);
  }

  /** The README's tour. Lines `NAME=...` get the value from the earlier output, as the reader would fill it in. */
  async takeTour(): Promise<void> {
    const tour = blocks(section('Five-minute tour'), 'sh')
      .join('')
      .replaceAll('http://localhost:8080', this.base);
    const steps = tour.split(/^(?=[A-Z]+=\.\.\.)/m);
    expect(steps.map((step) => step.split('=')[0])).toEqual(['BASE', 'ID', 'KEY', 'TOKEN', 'FILE']);
    const seen = {
      ID: this.shown(/Project id +(\S+)/),
      KEY: this.shown(/anon key +(\S+)/),
      TOKEN: '',
      FILE: '',
    };
    let assignments = '';
    const follow = async (step = ''): Promise<string> => {
      const script = step.replace(
        /^([A-Z]+)=\.\.\. .*/,
        (_line, name: keyof typeof seen) => `${name}=${seen[name]}`,
      );
      const printed = await this.paste(assignments + script);
      assignments += script.match(/^[A-Z]+=.*\n/gm)?.join('') ?? '';
      return printed;
    };
    const [base, id, key, token, file] = steps;
    expect(await follow(base)).toBe('');
    expect(await follow(id)).toBe('');
    const { session } = JSON.parse(await follow(key)) as { session: { access_token: string } };
    seen.TOKEN = session.access_token;
    const rows = await follow(token);
    const [added, listed, changed, hidden, uploaded] = rows
      .split(/(?<=[\]}])(?=[[{])/)
      .map(parsed) as Answers;
    expect(added).toMatchObject([{ title: 'Try Plinth', done: false }]);
    expect(listed).toEqual([{ id: added[0]?.id, title: 'Try Plinth' }]);
    expect(changed).toMatchObject([{ title: 'Try Plinth', done: true }]);
    expect(hidden).toEqual([]);
    seen.FILE = uploaded.data.id;
    const { data } = JSON.parse(await follow(file)) as { data: { url: string } };
    expect(await this.paste(`curl -s '${data.url}'`)).toBe('Hello from Plinth\n');
  }

  private shown(pattern: RegExp): string {
    return pattern.exec(this.program.output)?.[1] ?? '';
  }
}

interface Todo {
  readonly id: number;
}

type Answers = [
  added: Todo[],
  listed: Todo[],
  changed: Todo[],
  hidden: Todo[],
  uploaded: { data: { id: string } },
];

const parsed = (text: string): unknown => JSON.parse(text);

async function onFreshInstall(work: (reader: FirstHour) => Promise<void>): Promise<void> {
  await withDirectory(async (folder) => {
    const reader = await FirstHour.start(folder);
    try {
      await work(reader);
    } finally {
      await reader.end();
    }
  });
}

describe('the first hour', () => {
  it(
    'keys are in files; the tour works, then the printed lines repeatedly, then the commands for a new project',
    () =>
      onFreshInstall(async (reader) => {
        await reader.expectSecretsInFiles();
        await reader.takeTour();
        await reader.pasteLines();
        await reader.pasteLines();
        const [script = ''] = blocks(FIRST_PROJECT, 'sh');
        const [table = ''] = blocks(FIRST_PROJECT, '');
        // npm prints the script before the script's own output.
        const printed = await reader.paste(script.replaceAll('npm run plinth', 'npm run --silent plinth'), {
          cwd: ROOT,
        });
        expect(printed).toContain(`\n${table}`);
        expect(printed).toMatch(/^slug +acme$/m);
        expect(printed).toMatch(
          /^owner_url +postgres:\/\/plinth_\w+_owner:.*@127\.0\.0\.1:\d+\/plinth_\w+$/m,
        );
      }),
    120_000,
  );

  (IN_SOAK ? it : it.skip)(
    'the printed lines work first, and the tour after them',
    () =>
      onFreshInstall(async (reader) => {
        await reader.pasteLines();
        await reader.takeTour();
      }),
    120_000,
  );
});
