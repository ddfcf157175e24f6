/** The webhooks and schedules of a project. */
import { Stack } from '@mantine/core';
import { useT } from '../../i18n';
import { useMay, useProject } from '../../queries/projects';
import { Empty } from '../../ui/feedback';
import { Page } from '../../ui/parts';
import { Schedules } from './schedules';
import { Webhooks } from './webhooks';

export function WebhooksScreen() {
  const t = useT();
  const project = useProject();
  const mayRead = useMay(project, 'GET /admin/v1/projects/:id/webhooks');
  return (
    <Page title={t('webhooks')} text={t('webhooksScreenText')}>
      {mayRead ? (
        <Stack gap="md" maw={1000} key={project.id}>
          <Webhooks project={project} />
          <Schedules project={project} />
        </Stack>
      ) : (
        <Empty icon="lock" title={t('webhooksHidden')} text={t('webhooksHiddenText')} />
      )}
    </Page>
  );
}
