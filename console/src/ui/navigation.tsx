/** The screens of a project, in groups. */
import { NavLink, Text } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { useId } from 'react';
import { useT } from '../i18n';
import { Icon } from './icon';
import { GROUPS, SCREENS } from './screens';
import styles from './navigation.module.css';

type Screen = (typeof SCREENS)[number];
type Group = (typeof GROUPS)[number];

export function Navigation({ slug }: { slug: string }) {
  return (
    <>
      <Entries slug={slug} group={null} />
      {GROUPS.map((group) => (
        <NamedGroup key={group} slug={slug} group={group} />
      ))}
    </>
  );
}

function NamedGroup({ slug, group }: { slug: string; group: Group }) {
  const t = useT();
  const id = useId();
  // A group of one screen has the name of the screen.
  if (group === 'storage')
    return (
      <div className={styles.single}>
        <Entries slug={slug} group={group} />
      </div>
    );
  return (
    <div role="group" aria-labelledby={id} className={styles.group}>
      <Text id={id} size="xs" c="dimmed" fw={600} className={styles.title}>
        {t(`group_${group}`)}
      </Text>
      <Entries slug={slug} group={group} />
    </div>
  );
}

function Entries({ slug, group }: { slug: string; group: Group | null }) {
  const t = useT();
  const { pathname, search } = useLocation();
  const screens: readonly Screen[] = SCREENS.filter((one) => one.group === group);
  return screens.map((screen) => {
    const isActive = screen === activeScreen(pathname, search, slug);
    return (
      <NavLink
        key={screen.label}
        active={isActive}
        label={t(screen.label)}
        leftSection={<Icon name={screen.icon} />}
        renderRoot={(props) => (
          <Link
            to={screen.path}
            params={{ slug }}
            search={'search' in screen ? screen.search : {}}
            activeOptions={{ exact: true, includeSearch: true, explicitUndefined: true }}
            {...props}
          />
        )}
      />
    );
  });
}

/** If two entries lead to one screen, the entry whose view is open is active. */
function activeScreen(pathname: string, search: object, slug: string): Screen | undefined {
  const found: readonly Screen[] = SCREENS.filter(({ path }) => pathname === path.replace('$slug', slug));
  const isPart = (screen: Screen): boolean =>
    'search' in screen &&
    Object.entries(screen.search).every(([name, value]) => Reflect.get(search, name) === value);
  return found.find(isPart) ?? found.find((screen) => !('search' in screen));
}
