/** The entries of the history as a table. A button in each row opens its details. */
import { Badge, Table, Text, UnstyledButton } from '@mantine/core';
import { Fragment } from 'react';
import type { HistoryEntry } from '../../queries/history';
import { useLanguages } from '../../i18n';
import { formatMs, formatNumber } from '../../lib/format';
import { colorOfStatus, formatMoment } from '../../lib/history-text';
import { DataTable } from '../../ui/data-table';
import textStyles from '../../ui/text.module.css';
import styles from './inside.module.css';

interface HistoryTableProps {
  readonly entries: readonly HistoryEntry[];
  readonly onOpen: (entry: HistoryEntry) => void;
}

export function HistoryTable({ entries, onOpen }: HistoryTableProps) {
  const { t, language } = useLanguages();
  return (
    <DataTable
      minWidth={860}
      isHoverable
      heads={[t('time'), t('historySource'), t('request'), t('outcome'), t('role'), t('total')]}
    >
      {entries.map((entry) => (
        <Fragment key={entry.id}>
          <Table.Tr onClick={() => onOpen(entry)} className={styles.clickable}>
            <Table.Td className={textStyles.nowrap}>{formatMoment(entry.at, language)}</Table.Td>
            <Table.Td>{t(`source_${entry.source}`)}</Table.Td>
            <Table.Td className={textStyles.wrap} dir="auto">
              <UnstyledButton className={`${textStyles.mono} ${styles.open}`} onClick={() => onOpen(entry)}>
                {[entry.method, entry.path].filter(Boolean).join(' ')}
              </UnstyledButton>
            </Table.Td>
            <Table.Td className={textStyles.nowrap}>
              <Outcome entry={entry} />
            </Table.Td>
            <Table.Td className={textStyles.truncate} maw={140}>
              {entry.role ?? '–'}
            </Table.Td>
            <Table.Td className={textStyles.nowrap}>
              {entry.ms === null ? '–' : formatMs(entry.ms, language)}
            </Table.Td>
          </Table.Tr>
          {entry.left_out > 0 ? (
            <Table.Tr>
              <Table.Td colSpan={6}>
                <Text size="xs" c="dimmed">
                  {t('leftOut', { count: formatNumber(entry.left_out, language) })}
                </Text>
              </Table.Td>
            </Table.Tr>
          ) : null}
        </Fragment>
      ))}
    </DataTable>
  );
}

/** The status with the code of the error; for a mail, whether it was sent. */
export function Outcome({ entry: { status, error } }: { entry: HistoryEntry }) {
  const { t } = useLanguages();
  const hasFailed = error !== null;
  return (
    <>
      <Badge variant="light" color={status === null ? (hasFailed ? 'red' : 'plinth') : colorOfStatus(status)}>
        {status ?? (hasFailed ? t('mailNotSent') : t('mailSent'))}
      </Badge>{' '}
      {hasFailed ? (
        <Text span size="xs" className={textStyles.mono}>
          {error}
        </Text>
      ) : null}
    </>
  );
}
