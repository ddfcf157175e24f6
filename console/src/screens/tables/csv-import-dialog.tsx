/** Imports a CSV file into a table, and reports the rows that were refused. */
import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError, messageOf } from '../../api/errors';
import { useLanguages } from '../../i18n';
import { toCsv } from '../../lib/csv';
import { importCsv, type ImportOutcome, type ImportState } from '../../lib/csv-import';
import { formatBytes, formatNumber } from '../../lib/format';
import type { Relation } from '../../queries/catalog-types';
import { type Project, useCatalogChanged } from '../../queries/projects';
import { insertRecords } from '../../queries/rows';
import { Dialog } from '../../ui/dialog';
import { announce, Failure } from '../../ui/feedback';
import { saveFile } from '../../ui/save-file';
import textStyles from '../../ui/text.module.css';
import styles from './csv-import-dialog.module.css';

/** Maximum number of refused rows that the page lists. */
const LISTED = 20;
const NOTHING: ImportState = { imported: 0, refused: [], bytes: 0 };

interface CsvImportProps {
  readonly project: Project;
  readonly relation: Relation;
  readonly file: File;
  /** The column of each field, null for none; by default, the names in the file. */
  readonly columns?: readonly (string | null)[];
  readonly onClose: () => void;
}

export function CsvImport({ project, relation, file, columns, onClose }: CsvImportProps) {
  const { t, language } = useLanguages();
  const changed = useCatalogChanged(project);
  const [state, setState] = useState(NOTHING);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const run = useMutation({
    mutationFn: async () => {
      const { signal } = abort.current;
      const outcome = await importCsv({
        file,
        signal,
        reasonOf,
        onState: setState,
        send: (head, rows) => insertRecords({ project, relation, signal }, columns ?? head, rows),
      });
      if (outcome.head.length === 0) throw new Error(t('emptyFile'));
      return outcome;
    },
    onSuccess: ({ imported, refused }) => {
      if (refused.length > 0) return;
      announce(t('importedInto', { count: formatNumber(imported, language), table: relation.name }));
    },
    onSettled: changed,
  });
  const start = (): void =>
    run.mutate(undefined, { onSuccess: ({ refused }) => (refused.length === 0 ? onClose() : undefined) });
  const count = formatNumber(state.imported, language);
  return (
    <Dialog onClose={onClose} title={t('importCsv')}>
      <Stack gap="sm">
        <Text size="sm" className={textStyles.wrap}>
          {t('importText', { file: file.name, size: formatBytes(file.size, language), table: relation.name })}{' '}
          {t('importEmptyField')}
        </Text>
        {run.isIdle ? null : (
          <>
            <Progress
              value={file.size === 0 ? 0 : (state.bytes / file.size) * 100}
              aria-label={t('progress')}
              animated={run.isPending}
            />
            <Text size="sm" aria-live="polite">
              {t('imported', { count })}
            </Text>
          </>
        )}
        {run.error ? <Failure error={run.error} /> : null}
        {run.data ? <Refused outcome={run.data} name={file.name} /> : null}
        <Group justify="end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {run.data ? t('close') : t('cancel')}
          </Button>
          {run.data ? null : (
            <Button loading={run.isPending} disabled={state.imported > 0} onClick={start}>
              {t('importRows')}
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}

/** PostgreSQL's message about a value: error classes 22 and 23, and errors of triggers. */
function reasonOf(error: unknown): string | null {
  if (error instanceof SyntaxError) return error.message;
  if (!(error instanceof ApiError) || !/^(22|23|P0)/.test(error.code)) return null;
  return [messageOf(error), error.database?.detail].filter(Boolean).join(' · ');
}

function Refused({ outcome, name }: { outcome: ImportOutcome; name: string }) {
  const { t, language } = useLanguages();
  const { refused, head, isCut } = outcome;
  const save = (): void => {
    const text = toCsv([head, ...refused.map(({ fields }) => fields)]);
    saveFile(new Blob([text], { type: 'text/csv' }), `refused-${name}`);
  };
  return (
    <Alert
      color="orange"
      variant="light"
      title={t('refusedRows', { count: formatNumber(refused.length, language) })}
    >
      <Stack gap="xs">
        {isCut ? <Text size="sm">{t('importCut')}</Text> : null}
        <ul className={styles.refused} tabIndex={0}>
          {refused.slice(0, LISTED).map(({ line, reason }) => (
            <li key={line}>
              <Text size="xs" className={textStyles.wrap} dir="auto">
                {t('line', { line })}: {reason.slice(0, 300)}
              </Text>
            </li>
          ))}
        </ul>
        <Text size="sm">{t('refusedRowsText')}</Text>
        <Group>
          <Button size="xs" variant="default" onClick={save}>
            {t('saveRefused')}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
