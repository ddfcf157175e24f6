/** The screen of a project; while the project is paused, a notice instead of screens that use its API. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { ApiError, isUnreachable } from '../api/errors';
import { projectQuery } from '../queries/projects';
import { Loading } from './feedback';
import { NotFound } from './route-states';
import styles from './project-outlet.module.css';

const PausedScreen = lazy(async () => ({
  default: (await import('../screens/project-pause')).PausedScreen,
}));

const READ_BY_THE_PROJECT = /\/projects\/[^/]+\/(tables|users|mails|storage|api)$/;
/** Milliseconds until the page shows that another staff member resumed the project. */
const POLL_INTERVAL_MS = 10_000;

export function ProjectOutlet() {
  const { slug = '' } = useParams({ strict: false });
  const { pathname } = useLocation();
  const client = useQueryClient();
  const { data: project, error } = useQuery({
    ...projectQuery(slug),
    refetchInterval: ({ state }) =>
      (Boolean(state.data?.paused_at) || isUnreachable(state.error)) && POLL_INTERVAL_MS,
  });
  const isPaused = Boolean(project?.paused_at);
  const wasPaused = useRef(isPaused);
  useEffect(() => {
    // Refetches queries that failed during the pause.
    if (wasPaused.current && !isPaused) void client.invalidateQueries();
    wasPaused.current = isPaused;
  }, [isPaused, client]);
  /** The address of the last screen that was shown, and not replaced by the notice. */
  const [used, setUsed] = useState<string | null>(null);
  if (error instanceof ApiError && error.code === 'project_not_found') return <NotFound />;
  const isReplaced = isPaused && READ_BY_THE_PROJECT.test(pathname);
  if (!isReplaced && project && used !== pathname) setUsed(pathname);
  return (
    <>
      {isReplaced && project ? (
        <Suspense fallback={<Loading />}>
          <PausedScreen project={project} />
        </Suspense>
      ) : null}
      {/* It keeps what was entered before the pause. Nothing of it is kept for another project. */}
      {isReplaced && used !== pathname ? null : (
        <div key={slug} className={styles.screen} hidden={isReplaced}>
          <Outlet />
        </div>
      )}
    </>
  );
}
