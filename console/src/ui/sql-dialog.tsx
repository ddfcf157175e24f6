/** Shows the SQL of an action before it runs. */
import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Project, runSql, useCatalogChanged } from '../queries/projects';
import { useT } from '../i18n';
import { Dialog } from './dialog';
import { announce, Failure } from './feedback';
import { FormButtons, Snippet } from './parts';

interface SqlDialogProps {
  readonly project: Project;
  readonly title: string;
  /** Null while the form is not complete. */
  readonly sql: string | null;
  readonly danger?: boolean;
  readonly size?: string;
  readonly onClose: () => void;
  readonly onDone?: () => void;
  /** The form that makes the SQL. */
  readonly children?: ReactNode;
}

export function SqlDialog({
  project,
  title,
  sql,
  danger,
  size = 'lg',
  onClose,
  onDone,
  children,
}: SqlDialogProps) {
  const t = useT();
  const changed = useCatalogChanged(project);
  const run = useMutation({
    mutationFn: () => runSql(project.id, sql ?? ''),
    onSuccess: async () => {
      await changed();
      announce(t('done'));
    },
  });
  const finish = (): void => {
    onClose();
    onDone?.();
  };
  return (
    <Dialog onClose={onClose} title={title} size={size}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run.mutate(undefined, { onSuccess: finish });
        }}
      >
        <Stack gap="md">
          {children}
          <div>
            <Text size="sm" fw={550} mb={4}>
              {t('sqlThatRuns')}
            </Text>
            {sql === null ? (
              <Text size="sm" c="dimmed">
                {t('sqlIncomplete')}
              </Text>
            ) : (
              <Snippet label={t('sqlThatRuns')} text={sql} />
            )}
          </div>
          {run.error ? <Failure error={run.error} /> : null}
          <FormButtons
            action={t('runSql')}
            icon="play"
            danger={danger}
            isPending={run.isPending}
            isDisabled={sql === null}
            onClose={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
