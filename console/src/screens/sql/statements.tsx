/** Statements to open again: saved queries and the history. */
import { Button, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useLanguages } from '../../i18n';
import { formatTime } from '../../lib/format';
import type { HistoryEntry } from '../../lib/sql-history';
import type { Project } from '../../queries/projects';
import { SavedQueries } from './saved-queries';
import choiceStyles from '../../ui/choice.module.css';
import styles from './sql.module.css';

interface StatementsProps {
  readonly project: Project;
  /** The text of the editor. */
  readonly current: string;
  readonly entries: readonly HistoryEntry[];
  readonly onChoose: (sql: string) => void;
  readonly onClear: () => void;
}

export function Statements({ project, current, entries, onChoose, onClear }: StatementsProps) {
  const { t, language } = useLanguages();
  return (
    <Stack gap="xs">
      <SavedQueries project={project} current={current} onChoose={onChoose} />
      <Title order={3} size="h5" mt="sm">
        {t('history')}
      </Title>
      <Text size="xs" c="dimmed">
        {t('historyText')}
      </Text>
      {entries.map(({ sql, at }) => (
        <UnstyledButton key={at} className={choiceStyles.choice} onClick={() => onChoose(sql)}>
          <pre className={styles.statement}>{sql.slice(0, 400)}</pre>
          <Text size="xs" c="dimmed">
            {formatTime(new Date(at).toISOString(), language)}
          </Text>
        </UnstyledButton>
      ))}
      {entries.length > 0 ? (
        <Button size="xs" variant="default" onClick={onClear}>
          {t('clearHistory')}
        </Button>
      ) : null}
    </Stack>
  );
}
