/** One running install with default settings for all cases of this folder. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlinthProcess } from '../../support/plinth-process';

export let directory: string;
export let plinth: PlinthProcess;

/** @param prepare called with the data directory before the start */
export function startDefaultInstall(prepare: (dataDir: string) => Promise<void>): void {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-default-'));
    await prepare(join(directory, 'data'));
    plinth = await PlinthProcess.start({ dataDir: directory });
  }, 120_000);
  afterAll(async () => {
    await plinth?.end('SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }, 60_000);
}
