/** Runs the Jest suite of a client of Supabase, from a checkout of github.com/supabase/supabase-js, in its own process. */
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface SuiteTest {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}

interface Result {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly SuiteTest[];
  }[];
}

/**
 * @param checkout the package, with its development dependencies installed
 * @param directory where the package is copied to
 * @param adapt sets address and keys in the copy
 * @param pattern of the files to run
 * @param setup JavaScript that runs before each file
 */
export async function runSuite(
  checkout: string,
  directory: string,
  adapt: () => Promise<void>,
  { pattern = '', setup = '' } = {},
): Promise<SuiteTest[]> {
  for (const part of ['src', 'test', 'package.json'])
    cpSync(join(checkout, part), join(directory, part), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(directory, 'node_modules'));
  await adapt();
  const setupFile = join(directory, 'setup.cjs');
  writeFileSync(setupFile, setup);
  const config = {
    rootDir: directory,
    testEnvironment: 'node',
    setupFiles: [setupFile],
    testPathIgnorePatterns: ['/node_modules/', '/docker-tests/', '/example/'],
    transform: {
      '^.+\\.tsx?$': [
        'ts-jest',
        {
          diagnostics: false,
          isolatedModules: true,
          tsconfig: { target: 'ES2017', module: 'CommonJS', esModuleInterop: true, strict: true },
        },
      ],
    },
    silent: true,
  };
  const output = join(directory, 'results.json');
  const jest = join(checkout, 'node_modules/jest/bin/jest.js');
  const args = [
    jest,
    ...(pattern === '' ? [] : [pattern]),
    '--config',
    JSON.stringify(config),
    '-w',
    '1',
    '--json',
    '--outputFile',
    output,
  ];
  // Jest exits with 1 if a test fails; the results list the failures.
  await promisify(execFile)(process.execPath, args, {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: directory },
    maxBuffer: 64 * 1024 * 1024,
  }).catch(() => undefined);
  const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as Result;
  const broken = testResults.filter(({ assertionResults }) => assertionResults.length === 0);
  expect(broken.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}
