/** Compares .env.example and docs/reference/configuration.md with the schema of the environment. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { EnvironmentVariables } from '../../src/config/env.schema';
import { loadConfig } from '../../src/config/load-config';

const ROOT = join(__dirname, '../..');
const TEXT = readFileSync(join(ROOT, '.env.example'), 'utf8');
const EXAMPLE = parseEnv(TEXT);
const NAMES = Object.keys(new EnvironmentVariables()).sort();

describe('.env.example', () => {
  it('has exactly the variables of the schema', () => expect(Object.keys(EXAMPLE).sort()).toEqual(NAMES));

  it("shows each variable's default", () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'plinth-env-'));
    try {
      expect(loadConfig({ ...EXAMPLE, DATA_DIR: dataDir })).toEqual(loadConfig({ DATA_DIR: dataDir }));
      expect(EXAMPLE.DATA_DIR).toBe(new EnvironmentVariables().DATA_DIR);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('describes each variable above it', () => {
    const lines = TEXT.split('\n');
    const bare = lines.filter(
      (line, index) => /^[A-Z0-9_]+=/.test(line) && !lines[index - 1]?.startsWith('# '),
    );
    expect(bare).toEqual([]);
  });
});

describe('docs/reference/configuration.md', () => {
  it('explains exactly the variables of the schema', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/configuration.md'), 'utf8');
    const explained = [...page.matchAll(/^\| `([A-Z0-9_]+)`/gm)].map(([, name]) => name).sort();
    expect(explained).toEqual(NAMES);
  });
});
