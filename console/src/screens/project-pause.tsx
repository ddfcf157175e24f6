/** Pauses a project, shows that it is paused, and resumes it. */
import { Alert, Badge, Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/client';
import { type Project, useMay } from '../queries/projects';
import { useLanguages, useT } from '../i18n';
import { formatTime } from '../lib/format';
import { announce, Empty, Failure } from '../ui/feedback';
import { Icon } from '../ui/icon';
import { Confirm, Page } from '../ui/parts';

export function PausedBadge() {
  const t = useT();
  return (
    <Badge color="orange" variant="light" flex="none">
      {t('paused')}
    </Badge>
  );
}

/** Refetches a project that was paused or resumed. */
function useProjectChanged({ slug }: Project): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await client.invalidateQueries({ queryKey: ['projects'] });
    await client.invalidateQueries({ queryKey: ['project', slug] });
  };
}

export function PauseButton({ project }: { project: Project }) {
  const t = useT();
  const changed = useProjectChanged(project);
  const [isAsking, dialog] = useDisclosure();
  return (
    <>
      <Button
        variant="default"
        onClick={dialog.open}
        leftSection={<Icon name="pause" size={16} />}
        disabled={project.paused_at !== null}
      >
        {t('pauseProject')}
      </Button>
      {isAsking ? (
        <Confirm
          title={t('pauseProject')}
          text={t('pauseProjectQuestion', { name: project.name })}
          action={t('pauseProject')}
          done={t('projectPaused', { name: project.name })}
          onClose={dialog.close}
          run={async () => {
            await api.POST('/admin/v1/projects/{id}/pause', { params: { path: { id: project.id } } });
            await changed();
          }}
        />
      ) : null}
    </>
  );
}

function ResumeButton({ project }: { project: Project }) {
  const t = useT();
  const mayResume = useMay(project, 'POST /admin/v1/projects/:id/resume');
  const changed = useProjectChanged(project);
  const resume = useMutation({
    mutationFn: () => api.POST('/admin/v1/projects/{id}/resume', { params: { path: { id: project.id } } }),
    onSuccess: async () => {
      await changed();
      announce(t('resumed', { name: project.name }));
    },
  });
  if (!mayResume) return null;
  return (
    <>
      <Button
        loading={resume.isPending}
        onClick={() => resume.mutate()}
        leftSection={<Icon name="play" size={16} />}
      >
        {t('resume')}
      </Button>
      {resume.error ? <Failure error={resume.error} /> : null}
    </>
  );
}

/** Notice above the screens that still work in a paused project. */
export function PausedNotice({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  return (
    <Alert
      color="orange"
      variant="light"
      icon={<Icon name="pause" />}
      title={t('pausedSince', { time: formatTime(project.paused_at, language) })}
    >
      <Text size="sm" mb="sm">
        {t('pausedText')}
      </Text>
      <Group>
        <ResumeButton project={project} />
      </Group>
    </Alert>
  );
}

/** Shown in place of a screen that uses the API of a paused project. */
export function PausedScreen({ project }: { project: Project }) {
  const { t, language } = useLanguages();
  const since = t('pausedSince', { time: formatTime(project.paused_at, language) });
  return (
    <Page title={project.name}>
      <Empty icon="pause" title={since} text={t('pausedText')}>
        <ResumeButton project={project} />
      </Empty>
    </Page>
  );
}
