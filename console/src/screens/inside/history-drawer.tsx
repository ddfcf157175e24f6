/** One entry of the history: times, explanation of the error, statement with its plan, and entries around that time. */
import { Anchor, Button, Code, Group, Progress, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { HistoryEntry } from '../../queries/history';
import type { Project } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { meaningOf } from '../../lib/error-meaning';
import { formatBytes, formatMs } from '../../lib/format';
import { formatMoment, localTime } from '../../lib/history-text';
import { identifier } from '../../lib/sql-text';
import { OpenSql } from '../../ui/open-sql';
import { Copy, DetailDrawer, Snippet } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { Part } from '../../ui/part';
import { Outcome } from './history-table';

interface HistoryDrawerProps {
  readonly project: Project;
  readonly entry: HistoryEntry;
  readonly onClose: () => void;
}

/** Milliseconds before and after an entry in which other entries are listed. */
const AROUND_MS = 5_000;

export function HistoryDrawer({ project, entry, onClose }: HistoryDrawerProps) {
  const { t, language } = useLanguages();
  const at = Date.parse(entry.at);
  return (
    <DetailDrawer title={t(`source_${entry.source}`)} onClose={onClose}>
      <Stack gap="lg">
        <div>
          <Text className={`${textStyles.mono} ${textStyles.wrap}`} dir="auto" mb={6}>
            {[entry.method, entry.path].filter(Boolean).join(' ')}
          </Text>
          <Outcome entry={entry} />
          <ErrorMeaning project={project} code={entry.error} />
        </div>
        <Times entry={entry} />
        <Facts
          facts={[
            [t('time'), formatMoment(entry.at, language)],
            [t('role'), entry.role],
            [t('size'), entry.bytes === null ? null : formatBytes(entry.bytes, language)],
            ['ID', entry.request_id],
          ]}
        />
        {entry.statement === null ? null : (
          <Part title={t('statement')}>
            <Snippet label={t('statement')} text={entry.statement} />
            <Group mt="xs">
              <OpenSql
                project={project}
                sql={planOf(entry.statement, entry.role)}
                label={t('explainInEditor')}
              />
            </Group>
          </Part>
        )}
        <Button
          variant="default"
          w="fit-content"
          onClick={onClose}
          renderRoot={(props) => (
            <Link
              to="/projects/$slug/inside"
              params={{ slug: project.slug }}
              search={{
                view: 'history',
                since: localTime(at - AROUND_MS),
                until: localTime(at + AROUND_MS + 1_000),
              }}
              {...props}
            />
          )}
        >
          {t('aroundThisTime')}
        </Button>
      </Stack>
    </DetailDrawer>
  );
}

/**
 * The plan for the role, with its policies. It has no values, because the statement has parameters (PostgreSQL 16 or
 * later).
 */
function planOf(statement: string, role: string | null): string {
  const asRole = role === null ? '' : `set local role ${identifier(role)};\n`;
  return `${asRole}explain (generic_plan) ${statement}`;
}

function ErrorMeaning({ project, code }: { project: Project; code: string | null }) {
  const { t } = useLanguages();
  const meaning = code === null ? null : meaningOf(code);
  if (meaning === null) return null;
  return (
    <Text size="sm" mt={6}>
      {t(meaning)}{' '}
      {code === '42501' ? (
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link to="/projects/$slug/policies" params={{ slug: project.slug }} {...props} />
          )}
        >
          {t('policies')}
        </Anchor>
      ) : null}
    </Text>
  );
}

/** The times of a request, with the share of the database. */
function Times({ entry: { ms, ms_database: database } }: { entry: HistoryEntry }) {
  const { t, language } = useLanguages();
  if (ms === null) return null;
  const share = database === null || ms === 0 ? 0 : Math.min(100, (100 * database) / ms);
  const text =
    database === null
      ? formatMs(ms, language)
      : t('timesOfRequest', { total: formatMs(ms, language), database: formatMs(database, language) });
  return (
    <div>
      <Text size="sm" mb={4}>
        {text}
      </Text>
      {database === null ? null : <Progress value={share} aria-label={t('database')} />}
    </div>
  );
}

function Facts({ facts }: { facts: readonly (readonly [string, string | null])[] }) {
  return (
    <Stack gap={4}>
      {facts.map(([label, value]) =>
        value === null ? null : (
          <Group key={label} gap="xs" wrap="nowrap">
            <Text size="sm" c="dimmed" w={90}>
              {label}
            </Text>
            <Code className={textStyles.wrap}>{value}</Code>
            {label === 'ID' ? <Copy value={value} /> : null}
          </Group>
        ),
      )}
    </Stack>
  );
}
