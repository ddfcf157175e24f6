/** Monitoring of a project: charts, live requests, slow queries, sessions of the database, limits and mails. */
import { Button, Tabs } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useSession } from '../../api/session';
import { isAllowed } from '../../lib/permissions';
import { useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import { Page } from '../../ui/parts';
import { INSIDE_VIEWS, type InsideView } from '../../ui/screens';
import { History } from './history';
import { Limits } from './limits';
import { LiveRequests } from './live-requests';
import { Charts } from './charts';
import { Sessions } from './sessions';
import { SlowQueries } from './slow-queries';

const route = getRouteApi('/signed-in/projects/$slug/inside');

export function InsideScreen() {
  const t = useT();
  const project = useProject();
  const { view } = route.useSearch();
  const navigate = route.useNavigate();
  const session = useSession();
  const views = INSIDE_VIEWS.filter((one) => isAllowed(session, one.route, project.id));
  const shown = views.find(({ name }) => name === view)?.name ?? 'charts';
  return (
    <Page
      title={t('inside')}
      text={t('insideText')}
      actions={
        isAllowed(session, 'GET /admin/v1/audit-log') ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="history" size={14} />}
            renderRoot={(props) => <Link to="/audit-log" search={{ project_id: project.id }} {...props} />}
          >
            {t('auditLog')}
          </Button>
        ) : null
      }
    >
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(next) => void navigate({ search: next === null ? {} : { view: next } })}
      >
        <Tabs.List mb="md">
          {views.map(({ name, icon, label }) => (
            <Tabs.Tab key={name} value={name} leftSection={<Icon name={icon} size={16} />}>
              {t(label)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={shown} key={project.id}>
          <View name={shown} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

function View({ name }: { name: InsideView }) {
  const project = useProject();
  switch (name) {
    case 'charts':
      return <Charts project={project} />;
    case 'history':
      return <History project={project} />;
    case 'requests':
      return <LiveRequests project={project} />;
    case 'queries':
      return <SlowQueries project={project} />;
    case 'sessions':
      return <Sessions project={project} />;
    case 'limits':
      return <Limits project={project} />;
  }
}
