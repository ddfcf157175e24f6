/** Loads the module of a screen when it is opened. While the server does not answer, as during its restart, the screen waits. */
import { lazyRouteComponent } from '@tanstack/react-router';
import { answers, noteUnreachable } from './api/reachability';

const AGAIN_MS = 1_000;

export const lazyScreen = ((importer: () => Promise<Record<string, unknown>>, name: string) =>
  lazyRouteComponent(() => loaded(importer), name)) as typeof lazyRouteComponent;

async function loaded<Module>(importer: () => Promise<Module>): Promise<Module> {
  for (;;) {
    try {
      return await importer();
    } catch (error) {
      // The server answers, so the file was removed, for example by an update.
      if (await answers()) throw error;
      noteUnreachable();
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }
}
