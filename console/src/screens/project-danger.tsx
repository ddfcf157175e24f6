/** Pauses or deletes a project. */
import { Button, Group, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api } from '../api/client';
import { useT } from '../i18n';
import { type Project, useMay } from '../queries/projects';
import { Icon } from '../ui/icon';
import { Confirm, Section } from '../ui/parts';
import { PauseButton } from './project-pause';

/** Operators may pause and delete a project, its administrators may only pause it. */
export function Danger({ project }: { project: Project }) {
  const t = useT();
  const mayDelete = useMay(project, 'DELETE /admin/v1/projects/:id');
  return (
    <Section title={mayDelete ? t('lifecycle') : t('pauseProject')}>
      <Stack gap="sm">
        <Line text={t('pauseProjectText')}>
          <PauseButton project={project} />
        </Line>
        {mayDelete ? <Deletion project={project} /> : null}
      </Stack>
    </Section>
  );
}

/** What an action does, and its button. */
function Line({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Group justify="space-between" gap="sm">
      <Text size="sm" c="dimmed">
        {text}
      </Text>
      {children}
    </Group>
  );
}

function Deletion({ project }: { project: Project }) {
  const t = useT();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [isAsking, dialog] = useDisclosure();
  return (
    <>
      <Line text={t('deleteProjectText')}>
        <Button
          color="red"
          variant="light"
          onClick={dialog.open}
          leftSection={<Icon name="trash" size={16} />}
        >
          {t('deleteProject')}
        </Button>
      </Line>
      {isAsking ? (
        <Confirm
          title={t('deleteProject')}
          text={t('deleteProjectQuestion', { name: project.name })}
          action={t('deleteProject')}
          done={t('projectDeleted', { name: project.name })}
          typed={project.slug}
          onClose={dialog.close}
          run={async () => {
            await api.DELETE('/admin/v1/projects/{id}', { params: { path: { id: project.id } } });
            await client.invalidateQueries({ queryKey: ['projects'] });
          }}
          onDone={() => void navigate({ to: '/' })}
        />
      ) : null}
    </>
  );
}
