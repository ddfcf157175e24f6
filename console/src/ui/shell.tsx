/** The frame of all screens: header with the switcher of projects, navigation of the project, command palette. */
import {
  ActionIcon,
  AppShell,
  Badge,
  Burger,
  Button,
  Group,
  Menu,
  ScrollArea,
  Text,
  TextInput,
  UnstyledButton,
  VisuallyHidden,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useIsReachable } from '../api/reachability';
import { endCookie, setSession, useSession } from '../api/session';
import { forgetPerson } from '../forget-person';
import { isAllowed } from '../lib/permissions';
import { projectsQuery } from '../queries/projects';
import { useT } from '../i18n';
import { Empty, Loading } from './feedback';
import { Icon, Logo } from './icon';
import { AppearanceMenu } from './appearance-menu';
import { ConnectButton } from './connect-button';
import { Navigation } from './navigation';
import { palette } from './palette-store';
import { INSTALL_SCREENS } from './screens';
import styles from './shell.module.css';

const Palette = lazy(() => import('./palette'));

export function Shell() {
  const t = useT();
  const { slug } = useParams({ strict: false });
  const [isOpen, menu] = useDisclosure();
  const { pathname } = useLocation();
  const session = useSession();
  const isRefused = INSTALL_SCREENS.some(
    ({ path, route }) => slug === undefined && pathname.endsWith(path) && !isAllowed(session, route),
  );
  useEffect(menu.close, [pathname, menu.close]);
  return (
    <AppShell
      header={{ height: 54 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isOpen, desktop: slug === undefined } }}
      padding={0}
    >
      <a className={styles.skip} href="#main" onClick={skipToMain}>
        {t('skipToContent')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="sm" gap="xs" wrap="nowrap" justify="space-between">
          <Group gap="xs" wrap="nowrap" miw={0}>
            {slug === undefined ? null : (
              <Burger
                opened={isOpen}
                onClick={menu.toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={t('navigation')}
              />
            )}
            <Link to="/" className={styles.logo} aria-label={`Plinth: ${t('allProjects')}`}>
              <Logo />
              <Text fw={700} visibleFrom="xs">
                Plinth
              </Text>
            </Link>
            {slug === undefined ? null : <ProjectSwitcher slug={slug} />}
          </Group>
          <Group gap={4} wrap="nowrap">
            <Connection />
            {slug === undefined ? null : <ConnectButton slug={slug} isOfHeader />}
            <PaletteButton />
            <AppearanceMenu />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      {slug === undefined ? null : (
        <AppShell.Navbar p="xs" aria-label={t('navigation')}>
          <AppShell.Section grow component={ScrollArea}>
            <Navigation slug={slug} />
          </AppShell.Section>
        </AppShell.Navbar>
      )}
      <AppShell.Main id="main" tabIndex={-1}>
        <Suspense fallback={<Loading />}>
          {isRefused ? <Empty icon="lock" title={t('notAllowed')} text={t('notAllowedText')} /> : <Outlet />}
        </Suspense>
      </AppShell.Main>
      <Suspense>
        <Palette slug={slug} />
      </Suspense>
    </AppShell>
  );
}

/** The page has a base URL, so a link to `#main` alone would lead to another page. */
function skipToMain(event: { preventDefault: () => void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** Reports that the server is unreachable. Input is kept, and the screens refetch their data once the server answers. */
function Connection() {
  const t = useT();
  const isReachable = useIsReachable();
  return (
    <div role="status">
      {isReachable ? null : (
        <Badge color="orange" variant="light">
          {t('noConnection')}
        </Badge>
      )}
    </div>
  );
}

function PaletteButton() {
  const t = useT();
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        leftSection={<Icon name="search" size={14} />}
        rightSection={<kbd className={styles.kbd}>Ctrl K</kbd>}
        onClick={palette.open}
      >
        {t('search')}
      </Button>
      <ActionIcon size="lg" hiddenFrom="sm" aria-label={t('search')} onClick={palette.open}>
        <Icon name="search" />
      </ActionIcon>
    </>
  );
}

function ProjectSwitcher({ slug }: { slug: string }) {
  const t = useT();
  const [search, setSearch] = useState('');
  const projects = useQuery(projectsQuery());
  const wanted = search.toLowerCase();
  const found = (projects.data ?? []).filter(({ name, slug: one }) =>
    `${name} ${one}`.toLowerCase().includes(wanted),
  );
  const current = projects.data?.find((one) => one.slug === slug);
  const name = current?.name ?? slug;
  return (
    <Menu width={260} onClose={() => setSearch('')}>
      <Menu.Target>
        <UnstyledButton className={styles.switcher}>
          <Text size="sm" fw={550} truncate>
            {name}
          </Text>
          {current?.paused_at ? (
            <Badge color="orange" variant="light" flex="none" visibleFrom="xs">
              {t('paused')}
            </Badge>
          ) : null}
          <VisuallyHidden>{t('switchProject')}</VisuallyHidden>
          <Icon name="chevron" size={16} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <TextInput
          size="xs"
          m={4}
          placeholder={t('search')}
          aria-label={t('search')}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <ScrollArea.Autosize mah={320}>
          {found.map((project) => (
            <Menu.Item
              key={project.id}
              renderRoot={(props) => <Link to="/projects/$slug" params={{ slug: project.slug }} {...props} />}
              rightSection={project.slug === slug ? <Icon name="check" size={14} /> : null}
            >
              {project.name}
            </Menu.Item>
          ))}
        </ScrollArea.Autosize>
        <Menu.Divider />
        <Menu.Item
          renderRoot={(props) => <Link to="/" {...props} />}
          leftSection={<Icon name="home" size={16} />}
        >
          {t('allProjects')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function AccountMenu() {
  const t = useT();
  const session = useSession();
  const navigate = useNavigate();
  const signOut = async (): Promise<void> => {
    await endCookie();
    forgetPerson();
    setSession(null);
    // The address can contain a statement or filter. The sign-out discards unsaved changes.
    await navigate({ to: '/', replace: true, ignoreBlocker: true });
  };
  const person = session?.by === 'cookie' ? session.answer.person : null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon size="lg" aria-label={t('account')}>
          <Icon name={person ? 'users' : 'key'} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{person ? `${person.name} · ${person.email ?? ''}` : t('signedInByKey')}</Menu.Label>
        {INSTALL_SCREENS.filter(({ route }) => isAllowed(session, route)).map(({ path, icon, label }) => (
          <Menu.Item
            key={path}
            leftSection={<Icon name={icon} size={16} />}
            renderRoot={(props) => <Link to={path} {...props} />}
          >
            {t(label)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="signOut" size={16} />} onClick={() => void signOut()}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
