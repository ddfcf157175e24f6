/** An action by SQL: its form, and its SQL, shown before it runs. */
import { Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Project, runSql, useCatalogChanged } from '../queries/projects';
import { useT } from '../i18n';
import { Dialog } from './dialog';
import { announce, Failure } from './feedback';
import { FormButtons, Snippet } from './parts';
import styles from './sql-dialog.module.css';

interface SqlDialogProps {
  readonly project: Project;
  readonly title: string;
  /** The name of the action, shown on the button: `Create table`. */
  readonly action: string;
  /** The announced result: `Table todos created`. */
  readonly done: string;
  /** Null while the form is not complete. */
  readonly sql: string | null;
  readonly danger?: boolean;
  readonly size?: string;
  /** True if the statement must change a row. */
  readonly needsRow?: boolean;
  readonly onClose: () => void;
  readonly onDone?: () => void;
  /** The form from which the SQL is made. */
  readonly children?: ReactNode;
}

export function SqlDialog(props: SqlDialogProps) {
  const { project, title, action, done, sql, danger, size = 'lg', onClose, onDone, children } = props;
  const t = useT();
  const changed = useCatalogChanged(project);
  const run = useMutation({
    mutationFn: async () => {
      const { row_count: rows } = await runSql(project.id, sql ?? '');
      if (props.needsRow && rows === 0) throw new Error(t('rowGone'));
    },
    onSuccess: async () => {
      await changed();
      announce(done);
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
          <SqlPreview sql={sql} isOpen={danger === true} />
          {run.error ? <Failure error={run.error} /> : null}
          <FormButtons
            action={action}
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

/** The SQL, collapsed unless it deletes data. */
function SqlPreview({ sql, isOpen }: { sql: string | null; isOpen: boolean }) {
  const t = useT();
  return (
    <details open={isOpen} className={styles.preview}>
      <summary>{t('sqlThatRuns')}</summary>
      {sql === null ? (
        <Text size="sm" c="dimmed">
          {t('sqlIncomplete')}
        </Text>
      ) : (
        <Snippet label={t('sqlThatRuns')} text={sql} />
      )}
    </details>
  );
}
