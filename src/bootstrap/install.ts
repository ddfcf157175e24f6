/** Serves an install on its running database: the application, the demo project of the first start, the workers. */
import { AppConfig } from '../config/app-config';
import { forgetRunningServer, recordRunningServer } from '../config/running-server';
import { PLATFORM_URL } from '../database/platform/platform-url';
import { Metrics } from '../infra/metrics/metrics';
import { SetupService } from '../staff/setup/setup.service';
import { announcement } from './announce';
import { gaugeArchive } from './archive-metrics';
import type { RunningDatabase } from './database';
import { createDemoOnFirstStart } from './demo-project';
import { buildApp, startHttp, stopHttp } from './serve';
import { WorkerPool } from './worker-pool';

export type Stop = () => Promise<void>;

/**
 * @param stops gets what ends each part
 * @returns the other processes, or null if this one serves by itself
 */
export async function serveInstall(
  config: AppConfig,
  database: RunningDatabase,
  stops: Stop[],
  say: (message: string) => void,
): Promise<WorkerPool | null> {
  const app = await buildApp(config, database.platformUrl);
  if (database.archive) gaugeArchive(app.get(Metrics), database.archive);
  stops.unshift(() => stopHttp(config, app));
  const demo = await createDemoOnFirstStart(app);
  const workers =
    config.server.workers > 1
      ? new WorkerPool(config, app.get<string>(PLATFORM_URL), say, app.get(Metrics))
      : null;
  if (workers) {
    stops.unshift(() => workers.stop());
    await workers.start();
  } else {
    await startHttp(config, app);
  }
  recordAddress(config, stops);
  const setup = await app.get(SetupService).linkAtStart();
  process.stdout.write(announcement(config.server, demo, setup?.link ?? null));
  return workers;
}

/** Records the address for the command line. */
function recordAddress({ dataDir, server: { host, port, publicUrl } }: AppConfig, stops: Stop[]): void {
  recordRunningServer(dataDir, { host, port, publicUrl });
  stops.unshift(async () => forgetRunningServer(dataDir));
}
