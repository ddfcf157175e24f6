/** Realtime: the tables whose changes are sent, and the messages of a channel. */
import { Stack } from '@mantine/core';
import { useT } from '../../i18n';
import { useMay, useProject } from '../../queries/projects';
import { Page } from '../../ui/parts';
import { ChannelInspector } from './channel-inspector';
import { LiveTables } from './live-tables';

export function RealtimeScreen() {
  const t = useT();
  const project = useProject();
  const mayJoin = useMay(project, 'POST /admin/v1/projects/:id/access-tokens');
  return (
    <Page title={t('realtime')} text={t('realtimeText')}>
      <Stack gap="md" maw={1000} key={project.id}>
        {mayJoin ? <ChannelInspector project={project} /> : null}
        <LiveTables project={project} />
      </Stack>
    </Page>
  );
}
