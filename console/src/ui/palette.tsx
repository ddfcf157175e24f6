/** The command palette: every project, screen and table by name. */
import { useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useSession } from '../api/session';
import { isAllowed } from '../lib/permissions';
import type { Relation } from '../queries/catalog-types';
import { isExposed, projectQuery, projectsQuery, useCatalog } from '../queries/projects';
import { useT } from '../i18n';
import { useIsOnTop } from './dialog';
import { Icon } from './icon';
import { INSIDE_VIEWS, INSTALL_SCREENS, SCREENS } from './screens';

export default function Palette({ slug }: { slug: string | undefined }) {
  return slug === undefined ? <Commands groups={[]} /> : <ProjectPalette slug={slug} />;
}

interface Group {
  readonly group: string;
  readonly actions: SpotlightActionData[];
}

function ProjectPalette({ slug }: { slug: string }) {
  const t = useT();
  const navigate = useNavigate();
  const screens = SCREENS.map((screen) => ({
    id: screen.label,
    label: t(screen.label),
    leftSection: <Icon name={screen.icon} />,
    onClick: () =>
      void navigate({
        to: screen.path,
        params: { slug },
        search: 'search' in screen ? screen.search : {},
      }),
  }));
  const project = useQuery(projectQuery(slug));
  const session = useSession();
  const views = INSIDE_VIEWS.filter(({ route }) => isAllowed(session, route, project.data?.id)).map(
    ({ name, icon, label }) => ({
      id: `inside ${name}`,
      label: `${t('inside')}: ${t(label)}`,
      leftSection: <Icon name={icon} />,
      onClick: () =>
        void navigate({ to: '/projects/$slug/inside', params: { slug }, search: { view: name } }),
    }),
  );
  const groups = [{ group: t('screens'), actions: [...screens, ...views] }];
  return project.data ? (
    <TablesPalette groups={groups} slug={slug} project={project.data} />
  ) : (
    <Commands groups={groups} />
  );
}

function TablesPalette({
  groups,
  slug,
  project,
}: {
  groups: Group[];
  slug: string;
  project: Parameters<typeof useCatalog>[0];
}) {
  const t = useT();
  const navigate = useNavigate();
  const actionOf = ({ schema, name }: Relation): SpotlightActionData => ({
    id: `table ${schema} ${name}`,
    label: schema === 'public' ? name : `${schema}.${name}`,
    leftSection: <Icon name="table" />,
    onClick: () =>
      void navigate({ to: '/projects/$slug/tables', params: { slug }, search: { schema, table: name } }),
  });
  const relations = useCatalog(project).data ?? [];
  // Those of clients first; the sort is stable.
  const sorted = relations.toSorted((a, b) => Number(isExposed(project, b)) - Number(isExposed(project, a)));
  const actions = sorted.map(actionOf);
  return <Commands groups={[...groups, { group: t('tables'), actions }]} />;
}

function Commands({ groups }: { groups: Group[] }) {
  const t = useT();
  const navigate = useNavigate();
  const { toggleColorScheme } = useMantineColorScheme();
  const projects = (useQuery(projectsQuery()).data ?? []).map(({ id, name, slug }) => ({
    id,
    label: name,
    description: slug,
    leftSection: <Icon name="database" />,
    onClick: () => void navigate({ to: '/projects/$slug', params: { slug } }),
  }));
  const session = useSession();
  const ofInstall = INSTALL_SCREENS.filter(({ route }) => isAllowed(session, route)).map(
    ({ path, icon, label }) => ({
      id: path,
      label: t(label),
      leftSection: <Icon name={icon} />,
      onClick: () => void navigate({ to: path }),
    }),
  );
  const others = [
    {
      id: 'all',
      label: t('allProjects'),
      leftSection: <Icon name="home" />,
      onClick: () => void navigate({ to: '/' }),
    },
    { id: 'scheme', label: t('toggleScheme'), leftSection: <Icon name="moon" />, onClick: toggleColorScheme },
  ];
  const [isOpen, dialog] = useDisclosure();
  const isOnTop = useIsOnTop(isOpen);
  return (
    <Spotlight
      closeOnEscape={isOnTop}
      onSpotlightOpen={dialog.open}
      onSpotlightClose={dialog.close}
      actions={[
        ...groups,
        { group: t('projects'), actions: projects },
        { group: t('other'), actions: [...others, ...ofInstall] },
      ]}
      shortcut={['mod + K']}
      nothingFound={t('nothingFound')}
      highlightQuery
      limit={30}
      maxHeight={420}
      scrollable
      searchProps={{
        placeholder: t('paletteHint'),
        'aria-label': t('paletteHint'),
        leftSection: <Icon name="search" />,
      }}
    />
  );
}
