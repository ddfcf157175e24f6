/** SQL as the owner of the project's database. */
import {
  Alert,
  Badge,
  Button,
  Drawer,
  Group,
  Select,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import type { Schema } from '../../api/client';
import { ApiError } from '../../api/errors';
import {
  type Project,
  runSql,
  useCatalog,
  useCatalogChanged,
  useMayWrite,
  useProject,
} from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { planOf } from '../../lib/explain';
import { formatNumber, formatTime } from '../../lib/format';
import { forget, readHistory, remember } from '../../lib/sql-history';
import { Empty, Failure, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { type EditorHandle, SqlEditor } from './editor';
import { Plan } from './plan';
import { ResultTable } from './result-table';

const route = getRouteApi('/signed-in/projects/$slug/sql');
const LIMITS = ['100', '1000', '10000', '100000'];
/** Commands after which the catalog and grids may be out of date. */
const READING = new Set(['SELECT', 'EXPLAIN', 'SHOW', 'BEGIN', 'COMMIT', 'ROLLBACK', 'SET']);

interface Run {
  readonly query: string;
  readonly isPlan: boolean;
}

export function SqlScreen() {
  const { t } = useLanguages();
  const project = useProject();
  const { query } = route.useSearch();
  const relations = useCatalog(project).data ?? [];
  const editor = useRef<EditorHandle>(null);
  const abort = useRef<AbortController | null>(null);
  const [limit, setLimit] = useState('1000');
  const [entries, setEntries] = useState(() => readHistory(project.id));
  const [isHistoryOpen, historyDrawer] = useDisclosure();
  const changed = useCatalogChanged(project);
  const mayRun = useMayWrite(project);
  const run = useMutation({
    mutationFn: async ({ query: text }: Run) => {
      abort.current = new AbortController();
      const since = performance.now();
      const answer = await runSql(project.id, text, { max_rows: Number(limit) }, abort.current.signal);
      return { answer, ms: performance.now() - since };
    },
    onSuccess: ({ answer }) => {
      if (answer.statements.some(({ command }) => !READING.has(command ?? ''))) void changed();
    },
    onError: (error) => {
      const location = error instanceof ApiError ? error.database?.location : null;
      if (location) editor.current?.goTo(location.line, location.column);
    },
  });
  const start = (prefix = ''): void => {
    const wanted = editor.current?.wanted().trim() ?? '';
    if (wanted === '' || run.isPending || !mayRun) return;
    setEntries(remember(project.id, wanted, Date.now()));
    run.mutate({ query: prefix + wanted, isPlan: prefix !== '' });
  };
  return (
    <div className="sql">
      <div className="sql-top">
        <SqlEditor
          initial={query ?? entries[0]?.sql ?? ''}
          label={t('sqlEditor')}
          hint={t('sqlHint')}
          relations={relations}
          handle={editor}
          onRun={() => start()}
          onChange={() => undefined}
        />
      </div>
      <div className="table-tools">
        <Group gap="xs">
          <Button
            size="xs"
            leftSection={<Icon name="play" size={14} />}
            loading={run.isPending}
            onClick={() => start()}
          >
            {t('run')}
          </Button>
          {run.isPending ? (
            <Button size="xs" variant="default" onClick={() => abort.current?.abort()}>
              {t('cancel')}
            </Button>
          ) : null}
          <Button
            size="xs"
            variant="default"
            disabled={run.isPending}
            onClick={() => start('explain (format json, verbose false) ')}
          >
            {t('explain')}
          </Button>
          <Tooltip label={t('analyzeHint')}>
            <Button
              size="xs"
              variant="default"
              disabled={run.isPending}
              onClick={() => start('explain (analyze, buffers, format json) ')}
            >
              {t('analyze')}
            </Button>
          </Tooltip>
        </Group>
        <Group gap="xs">
          <Select
            size="xs"
            w={120}
            aria-label={t('rowLimit')}
            data={LIMITS.map((value) => ({ value, label: t('limitRows', { count: value }) }))}
            value={limit}
            allowDeselect={false}
            onChange={(value) => setLimit(value ?? '1000')}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="history" size={14} />}
            onClick={historyDrawer.open}
          >
            {t('history')}
          </Button>
        </Group>
      </div>
      <div className="sql-result">
        {run.isPending ? <Loading /> : null}
        {run.error && !run.isPending ? <SqlFailure error={run.error} /> : null}
        {run.data && !run.isPending ? (
          <Result {...run.data} isPlan={run.variables?.isPlan ?? false} project={project} />
        ) : null}
        {mayRun ? null : <Alert m="md">{t('sqlForbidden')}</Alert>}
        {mayRun && run.isIdle ? <Empty icon="sql" title={t('sqlEmpty')} text={t('sqlEmptyText')} /> : null}
      </div>
      <Drawer
        opened={isHistoryOpen}
        onClose={historyDrawer.close}
        position="right"
        title={t('history')}
        closeButtonProps={{ 'aria-label': t('close') }}
      >
        <History
          entries={entries}
          onChoose={(text) => {
            editor.current?.replace(text);
            historyDrawer.close();
          }}
          onClear={() => {
            forget(project.id);
            setEntries([]);
          }}
        />
      </Drawer>
    </div>
  );
}

function SqlFailure({ error }: { error: Error }) {
  const { t } = useLanguages();
  if (error.name === 'AbortError') return <Alert m="md">{t('cancelled')}</Alert>;
  const location = error instanceof ApiError ? error.database?.location : null;
  return (
    <div className="page">
      <Failure error={error} />
      {location ? (
        <Text size="xs" c="dimmed" mt={4}>
          {t('lineColumn', { line: location.line, column: location.column })}
        </Text>
      ) : null}
    </div>
  );
}

interface ResultProps {
  readonly answer: Schema<'SqlAnswer'>;
  readonly ms: number;
  readonly isPlan: boolean;
  readonly project: Project;
}

function Result({ answer, ms, isPlan, project }: ResultProps) {
  const { t, language } = useLanguages();
  const rows = answer.rows as Readonly<Record<string, unknown>>[];
  const plan = isPlan ? planOf(rows) : null;
  return (
    <>
      <Group gap="xs" px="md" py={6}>
        {answer.statements.map(({ command, row_count: count }, index) => (
          <Badge key={index} variant="light" color="gray" tt="none">
            {command ?? '–'}
            {count === null ? '' : ` ${formatNumber(count, language)}`}
          </Badge>
        ))}
        <Text size="xs" c="dimmed">
          {t('tookMs', { ms: formatNumber(Math.round(ms), language) })}
        </Text>
        {answer.truncated ? (
          <Badge color="orange" variant="light">
            {t('truncated', { count: formatNumber(rows.length, language) })}
          </Badge>
        ) : null}
      </Group>
      {answer.notices.map((notice, index) => (
        <Alert key={index} mx="md" mb="xs" p="xs" variant="light">
          <Text size="xs" className="wrap">
            {notice}
          </Text>
        </Alert>
      ))}
      {plan ? <Plan node={plan} /> : null}
      {!plan && rows.length > 0 ? <ResultTable rows={rows} name={project.slug} /> : null}
      {!plan && rows.length === 0 ? (
        <Text px="md" size="sm" c="dimmed">
          {t('noResultRows')}
        </Text>
      ) : null}
    </>
  );
}

interface HistoryProps {
  readonly entries: ReturnType<typeof readHistory>;
  readonly onChoose: (sql: string) => void;
  readonly onClear: () => void;
}

function History({ entries, onChoose, onClear }: HistoryProps) {
  const { t, language } = useLanguages();
  return (
    <Stack gap="xs">
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
        <Button size="xs" variant="default" onClick={onClear}>
          {t('clearHistory')}
        </Button>
      ) : null}
    </Stack>
  );
}
