/** The example of src/pg-pipeline/README.md runs, and prints what its comments say. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as library from '../../../src/pg-pipeline';
import { serverConfig } from '../../support/pipeline-server';

const README = path.join(__dirname, '../../../src/pg-pipeline/README.md');
const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;

it('the example prints the documented output', async () => {
  const example = /```js\n(.*?)```/s.exec(readFileSync(README, 'utf8'))?.[1] ?? '';
  const promised = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)].map(([, output]) => output);
  const printed: string[] = [];
  const log = (...values: unknown[]): unknown => printed.push(values.join(' '));
  const code = example.replace(/import (\{.*\}) from '.\/index';/, 'const $1 = library;');
  await AsyncFunction('library', 'address', 'console', code)(library, serverConfig(), { log });
  expect(promised.length).toBeGreaterThan(0);
  expect(printed).toEqual(promised);
});
