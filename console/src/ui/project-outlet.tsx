/** The screen of a project; while the project is paused, a notice in place of those that read by its own API. */
import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { projectQuery } from '../queries/projects';
import { Loading } from './feedback';

const PausedScreen = lazy(async () => ({
  default: (await import('../screens/project-pause')).PausedScreen,
}));

const READ_BY_THE_PROJECT = /\/projects\/[^/]+\/(tables|users|mails|storage|api)$/;

export function ProjectOutlet() {
  const { slug = '' } = useParams({ strict: false });
  const { pathname } = useLocation();
  const { data: project } = useQuery(projectQuery(slug));
  if (!project?.paused_at || !READ_BY_THE_PROJECT.test(pathname)) return <Outlet />;
  return (
    <Suspense fallback={<Loading />}>
      <PausedScreen project={project} />
    </Suspense>
  );
}
