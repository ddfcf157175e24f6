/** The command palette finds projects, screens, actions, tables, settings, docs and users by name. */
import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, useSpotlight } from '@mantine/spotlight';
import '@mantine/spotlight/styles.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { useSession } from '../api/session';
import { isAllowed } from '../lib/permissions';
import type { Relation } from '../queries/catalog-types';
import { isExposed, type Project, projectQuery, projectsQuery, useCatalog } from '../queries/projects';
import { usersQuery } from '../queries/users';
import type { SettingTexts } from '../lib/setting-texts';
import { useLanguages, useT } from '../i18n';
import { useIsOnTop } from './dialog';
import { Icon } from './icon';
import { paletteStore } from './palette-store';
import { ACTIONS, INSIDE_VIEWS, INSTALL_SCREENS, SCREENS } from './screens';

export default function Palette({ slug }: { slug: string | undefined }) {
  const typed = useState('');
  return slug === undefined ? (
    <Commands typed={typed} groups={[]} />
  ) : (
    <ProjectPalette typed={typed} slug={slug} />
  );
}

interface Typed {
  readonly typed: readonly [string, (query: string) => void];
}

interface Group {
  readonly group: string;
  readonly actions: SpotlightActionData[];
}

function ProjectPalette({ slug, typed }: Typed & { slug: string }) {
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
    <ContentPalette typed={typed} groups={groups} project={project.data} />
  ) : (
    <Commands typed={typed} groups={groups} />
  );
}

function ContentPalette({
  groups,
  project,
  typed,
}: Typed & { readonly groups: readonly Group[]; readonly project: Project }) {
  const t = useT();
  const navigate = useNavigate();
  const { slug } = project;
  const session = useSession();
  const offered = ACTIONS.filter(({ route }) => isAllowed(session, route, project.id)).map(
    ({ path, icon, label }) => ({
      id: `action ${label}`,
      label: t(label),
      leftSection: <Icon name={icon} />,
      onClick: () => void navigate({ to: path, params: { slug }, state: { dialog: label } }),
    }),
  );
  const settings = useSettings().map(({ name, label }) => ({
    id: `setting ${name}`,
    label,
    description: name,
    leftSection: <Icon name="settings" />,
    onClick: () =>
      void navigate({ to: '/projects/$slug/settings', params: { slug }, search: { search: name } }),
  }));
  const text = typed[0].trim();
  const users = useFoundUsers(project, text);
  const actionOf = ({ schema, name }: Relation): SpotlightActionData => ({
    id: `table ${schema} ${name}`,
    label: schema === 'public' ? name : `${schema}.${name}`,
    leftSection: <Icon name="table" />,
    onClick: () =>
      void navigate({ to: '/projects/$slug/tables', params: { slug }, search: { schema, table: name } }),
  });
  const relations = useCatalog(project).data ?? [];
  // Exposed tables come first; the sort is stable.
  const sorted = relations.toSorted((a, b) => Number(isExposed(project, b)) - Number(isExposed(project, a)));
  const actions = sorted.map(actionOf);
  return (
    <Commands
      typed={typed}
      groups={[
        ...groups,
        { group: t('actions'), actions: offered },
        { group: t('tables'), actions },
        { group: t('users'), actions: users },
        { group: t('settings'), actions: text === '' ? [] : settings },
      ]}
    />
  );
}

const FOUND_USERS = 5;

/** Users by address or name, and a link to the other users on their screen. */
function useFoundUsers({ id, slug }: Project, text: string): SpotlightActionData[] {
  const t = useT();
  const navigate = useNavigate();
  const [wanted] = useDebouncedValue(text, 250);
  const { data } = useQuery({
    ...usersQuery(id, { search: wanted, page: 1, perPage: FOUND_USERS }),
    enabled: wanted.length > 1 && wanted === text,
  });
  const open = (search: { user?: string; search?: string }): void =>
    void navigate({ to: '/projects/$slug/users', params: { slug }, search });
  const leftSection = <Icon name="users" />;
  // The text is a keyword of each user, so that the palette's filter keeps all users whom the server found.
  const found = (data?.users ?? []).map(({ id: user, email, name }) => ({
    id: `user ${user}`,
    label: email ?? name,
    description: name,
    keywords: text,
    leftSection,
    onClick: () => open({ user }),
  }));
  const label = `${t('searchUsers')}: ${text}`;
  const more = { id: 'search users', label, leftSection, onClick: () => open({ search: text }) };
  return (data?.total ?? 0) > FOUND_USERS ? [...found, more] : found;
}

/** The texts of the settings are loaded with the palette. */
function useSettings(): SettingTexts[] {
  const { language } = useLanguages();
  const texts = useQuery({
    queryKey: ['setting texts'],
    queryFn: () => import('../lib/setting-texts'),
    staleTime: Infinity,
  });
  return texts.data?.settingsIn(language) ?? [];
}

interface DocSection {
  readonly href: string;
  readonly page: string;
  readonly title: string;
}

/** Sections of the docs, from the index of their search. */
function useDocs(isWanted: boolean): SpotlightActionData[] {
  const docs = useQuery({
    queryKey: ['docs index'],
    queryFn: async (): Promise<DocSection[]> => {
      const answer = await fetch(`${PLINTH_URL}/docs/guides/search.json`, { credentials: 'omit' });
      return answer.ok ? ((await answer.json()) as DocSection[]) : [];
    },
    enabled: isWanted,
    staleTime: Infinity,
  });
  return (docs.data ?? []).map(({ href, page, title }) => ({
    id: `docs ${href}`,
    label: title,
    ...(page === title ? {} : { description: page }),
    leftSection: <Icon name="code" />,
    onClick: () => void window.open(`${PLINTH_URL}/docs/${href}`, '_blank', 'noopener'),
  }));
}

function Commands({ groups, typed: [query, setQuery] }: Typed & { readonly groups: readonly Group[] }) {
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
  // Read from the store: the palette may be opened before this component is in the page, and stays open while
  // the project is loaded.
  const { opened: isOpen } = useSpotlight(paletteStore);
  const docs = useDocs(isOpen || query !== '');
  // Spotlight selects the first action when the text changes, but not when the actions arrive later.
  useEffect(() => {
    if (query !== '' && !document.querySelector('[data-action][data-selected]'))
      document.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  });
  const isOnTop = useIsOnTop(isOpen);
  return (
    <Spotlight
      store={paletteStore}
      closeOnEscape={isOnTop}
      query={query}
      onQueryChange={setQuery}
      actions={[
        ...groups,
        { group: t('projects'), actions: projects },
        { group: t('other'), actions: [...others, ...ofInstall] },
        { group: t('docs'), actions: query.trim() === '' ? [] : docs },
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
