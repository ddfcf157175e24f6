/** The API of a project: a page for each table, and all operations in Swagger UI. */
import { Anchor, Group, Tabs } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { PLINTH_URL } from '../../api/base-url';
import { useT } from '../../i18n';
import { identityFromText, identityToText } from '../../lib/identity-link';
import { useProject } from '../../queries/projects';
import { Loading } from '../../ui/feedback';
import { Page } from '../../ui/parts';
import { ViewAs } from '../../ui/view-as';
import { TablePages } from './table-pages';

const Reference = lazy(() => import('./reference'));
const route = getRouteApi('/signed-in/projects/$slug/api');

/** Clients use the anon key, so the page first shows the view of the anon role. */
const FIRST = 'anon';

export function ApiScreen() {
  const t = useT();
  const project = useProject();
  const { as = FIRST, view = 'tables', ...search } = route.useSearch();
  const navigate = route.useNavigate();
  const identity = identityFromText(as);
  return (
    <Page
      title={t('apiDocs')}
      text={t('apiText')}
      actions={
        <Group gap="md">
          <Anchor size="sm" href={`${PLINTH_URL}/docs`} target="_blank" rel="noopener">
            /docs
          </Anchor>
          <ViewAs
            project={project}
            identity={identity}
            onChange={(next) =>
              void navigate({ search: { ...search, view, as: identityToText(next) ?? next.as } })
            }
          />
        </Group>
      }
    >
      <Tabs
        value={view}
        keepMounted={false}
        onChange={(next) => void navigate({ search: { ...search, as, view: next ?? 'tables' } })}
      >
        <Tabs.List mb="md">
          <Tabs.Tab value="tables">{t('tables')}</Tabs.Tab>
          <Tabs.Tab value="all">{t('allOperations')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="tables">
          <TablePages project={project} identity={identity} />
        </Tabs.Panel>
        <Tabs.Panel value="all">
          <Suspense fallback={<Loading />}>
            <Reference project={project} as={as} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
