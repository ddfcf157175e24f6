/** Statements to open again: saved queries and the history. */
import { Button, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatTime } from '../../lib/format';
import { forget, readHistory } from '../../lib/sql-history';
import type { Project } from '../../queries/projects';
import { SideDrawer } from '../../ui/dialog';
import { SavedQueries } from './saved-queries';
import choiceStyles from '../../ui/choice.module.css';
import styles from './sql.module.css';

interface StatementsProps {
  readonly project: Project;
  /** The text of the editor. */
  readonly current: string;
  /** @param name of a saved query */
  readonly onChoose: (sql: string, name?: string) => void;
}

export function StatementsDrawer({
  isOpen,
  onClose,
  ...props
}: StatementsProps & { isOpen: boolean; onClose: () => void }) {
  const t = useT();
  return (
    <SideDrawer opened={isOpen} onClose={onClose} title={t('openQueries')}>
      <Statements {...props} />
    </SideDrawer>
  );
}

function Statements({ project, current, onChoose }: StatementsProps) {
  const { t, language } = useLanguages();
  const [entries, setEntries] = useState(() => readHistory(project.id));
  const clear = (): void => {
    forget(project.id);
    setEntries([]);
  };
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
        <Button size="xs" variant="default" onClick={clear}>
          {t('clearHistory')}
        </Button>
      ) : null}
    </Stack>
  );
}
