/** Generates a client from a document, compiles it strictly, and runs a scenario with it in a separate process. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ADMIN_KEY, type TestPlinth } from './plinth';
import type { TestProject } from './test-project';

const CLIENTS = path.join(__dirname, '../../clients');
const MODULES = path.join(CLIENTS, 'node_modules');
const GENERATED = path.join(CLIENTS, '.generated');
/** The parts of the scenario that all clients share, and the schema of its project. */
const SCENARIO = path.join(CLIENTS, 'scenario');

const NO_CHECK = /^\/\/ @ts-nocheck$/m;

/** Largest number of bytes that a program may print. */
const MAX_OUTPUT = 64 * 1024 * 1024;

const COMPILER_OPTIONS = {
  target: 'ES2022',
  module: 'ESNext',
  moduleResolution: 'bundler',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  types: ['node'],
  typeRoots: [path.join(CLIENTS, '../node_modules/@types')],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

/** The schema that the clients are generated from. */
export function readSchema(): Promise<string> {
  return readFile(path.join(SCENARIO, 'schema.sql'), 'utf8');
}

export class GeneratedClient {
  readonly folder: string;

  private constructor(name: string) {
    this.folder = path.join(GENERATED, name);
  }

  /** An empty folder for a client. */
  static async create(name: string): Promise<GeneratedClient> {
    if (!existsSync(MODULES)) throw new Error('The generators are not installed: npm ci, in clients/');
    const client = new GeneratedClient(name);
    await rm(client.folder, { recursive: true, force: true });
    // Some generators do not create the folder to which they write.
    await mkdir(path.join(client.folder, 'client'), { recursive: true });
    return client;
  }

  /** @param file the name of the file; it may include a folder */
  async write(file: string, text: string): Promise<void> {
    const location = path.join(this.folder, file);
    await mkdir(path.dirname(location), { recursive: true });
    await writeFile(location, text);
  }

  /**
   * Runs a program of the workspace in the folder of the client.
   * @param program its file below clients/node_modules
   * @returns what it printed. @throws Error with its output when it fails
   */
  run(program: string, args: readonly string[]): Promise<string> {
    return this.node([path.join(MODULES, program), ...args]);
  }

  /** Like run(), for a program that exits with 1 when it reports something. */
  outcome(program: string, args: readonly string[]): Promise<{ stdout: string }> {
    const options = { cwd: this.folder, maxBuffer: MAX_OUTPUT };
    return new Promise((resolve) => {
      execFile(process.execPath, [path.join(MODULES, program), ...args], options, (_error, stdout) =>
        resolve({ stdout }),
      );
    });
  }

  /**
   * The compiler's errors for all files in the folder; empty without errors. @param compiler the package of TypeScript
   */
  async compile(options: object = {}, compiler = 'typescript'): Promise<string> {
    await this.removeNoCheck();
    const compilerOptions = { ...COMPILER_OPTIONS, ...options };
    await this.write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
    return this.run(`${compiler}/bin/tsc`, ['-p', '.', '--pretty', 'false']).catch(
      (error: unknown) => (error as Error).message,
    );
  }

  /** Removes the comments by which a generator exempts its files from the compiler's check. */
  private async removeNoCheck(): Promise<void> {
    for (const name of await readdir(path.join(this.folder, 'client'), { recursive: true })) {
      if (!name.endsWith('.ts')) continue;
      const file = path.join('client', name);
      const text = await readFile(path.join(this.folder, file), 'utf8');
      if (NO_CHECK.test(text)) await this.write(file, text.replace(NO_CHECK, ''));
    }
  }

  /** Copies the generator's configuration and the shared files into the folder, without the scenarios. */
  async addGenerator(name: string): Promise<void> {
    const isOfScenario = (file: string): boolean =>
      /^((scenario|platform)\.ts|schema\.sql)$/.test(path.basename(file));
    for (const from of [SCENARIO, path.join(CLIENTS, 'generators', name)]) {
      await cp(from, this.folder, { recursive: true, filter: (file) => !isOfScenario(file) });
    }
  }

  /**
   * Adds a scenario of the generator, for the project's or the platform's document. @param project its id is in the
   * paths of its document
   */
  async addScenario(generator: string, name: Scenario, project: TestProject): Promise<void> {
    const text = await readFile(path.join(CLIENTS, 'generators', generator, `${name}.ts`), 'utf8');
    await this.write(`${name}.ts`, text.replaceAll('$PROJECT_ID', project.id));
  }

  /** Runs a scenario against a server. @returns the steps that it printed. @throws Error when a step fails */
  async runScenario(name: Scenario, plinth: TestPlinth, project: TestProject): Promise<string[]> {
    await this.node([path.join(CLIENTS, 'bundle.mjs'), this.folder, name]);
    const env = { BASE_URL: plinth.baseUrl, ANON_KEY: project.anonKey, ADMIN_KEY };
    return (await this.node([path.join(this.folder, `${name}.mjs`)], env)).trim().split('\n');
  }

  private node(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...process.env, ...env }, maxBuffer: MAX_OUTPUT };
    return new Promise((resolve, reject) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        if (error) reject(new Error(`${stdout}${stderr}`.slice(0, 20_000) || error.message));
        else resolve(stdout);
      });
    });
  }
}

/** The name of the scenario, and of its file. */
export type Scenario = 'scenario' | 'platform';

/** The steps of the scenario with a project. The scenario prints each step once it is done. */
export const STEPS = [
  'sign up',
  'insert',
  'filter',
  'page',
  'update',
  'upsert',
  'call',
  'describe',
  'upload',
  'list',
  'sign',
  'download',
  'delete',
  '401',
  '403',
  '409',
];

/** The steps of the scenario with the platform. */
export const PLATFORM_STEPS = [
  'create project',
  'change plan',
  'run SQL',
  'sign up',
  'select rows',
  '409',
  'delete project',
];
