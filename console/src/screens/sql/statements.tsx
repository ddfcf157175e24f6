/** Statements to take up again: saved ones, and those that were run. */
import { Button, Group, Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useLanguages } from '../../i18n';
import { formatTime } from '../../lib/format';
import {
  forget,
  type HistoryEntry,
  readSaved,
  saveQuery,
  type SavedQuery,
  unsave,
} from '../../lib/sql-history';
import { IconButton } from '../../ui/parts';

interface StatementsProps {
  readonly projectId: string;
  /** The text of the editor. */
  readonly current: string;
  readonly entries: readonly HistoryEntry[];
  readonly onChoose: (sql: string) => void;
  readonly onCleared: () => void;
}

export function Statements({ projectId, current, entries, onChoose, onCleared }: StatementsProps) {
  const { t, language } = useLanguages();
  const [saved, setSaved] = useState(() => readSaved(projectId));
  const [name, setName] = useState('');
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {t('savedQueries')}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setSaved(saveQuery(projectId, { name: name.trim(), sql: current }));
          setName('');
        }}
      >
        <Group gap="xs" align="end">
          <TextInput
            size="xs"
            flex={1}
            label={t('saveCurrent')}
            placeholder={t('name')}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button size="xs" type="submit" disabled={name.trim() === '' || current.trim() === ''}>
            {t('save')}
          </Button>
        </Group>
      </form>
      {saved.map((one) => (
        <Saved
          key={one.name}
          query={one}
          onChoose={onChoose}
          onRemove={() => setSaved(unsave(projectId, one.name))}
        />
      ))}
      <Title order={3} size="h5" mt="sm">
        {t('history')}
      </Title>
      <Text size="xs" c="dimmed">
        {t('historyText')}
      </Text>
      {entries.map(({ sql, at }) => (
        <UnstyledButton key={at} className="choice" onClick={() => onChoose(sql)}>
          <pre className="history-sql">{sql.slice(0, 400)}</pre>
          <Text size="xs" c="dimmed">
            {formatTime(new Date(at).toISOString(), language)}
          </Text>
        </UnstyledButton>
      ))}
      {entries.length > 0 ? (
        <Button
          size="xs"
          variant="default"
          onClick={() => {
            forget(projectId);
            onCleared();
          }}
        >
          {t('clearHistory')}
        </Button>
      ) : null}
    </Stack>
  );
}

interface SavedProps {
  readonly query: SavedQuery;
  readonly onChoose: (sql: string) => void;
  readonly onRemove: () => void;
}

function Saved({ query, onChoose, onRemove }: SavedProps) {
  const { t } = useLanguages();
  return (
    <Group gap={4} wrap="nowrap">
      <UnstyledButton className="choice" flex={1} miw={0} onClick={() => onChoose(query.sql)}>
        <Text size="sm" truncate dir="auto">
          {query.name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace" truncate>
          {query.sql.slice(0, 200)}
        </Text>
      </UnstyledButton>
      <IconButton icon="trash" label={`${t('remove')} ${query.name}`} onClick={onRemove} />
    </Group>
  );
}
