/** SQL as the owner of the project's database. */
import { Alert, Button, Group, Select, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { ApiError } from '../../api/errors';
import { runSql, useCatalog, useCatalogChanged, useMayWrite, useProject } from '../../queries/projects';
import { useLanguages } from '../../i18n';
import { draftOf, keepDraft } from '../../lib/sql-drafts';
import { readHistory, remember } from '../../lib/sql-history';
import { SideDrawer } from '../../ui/dialog';
import { Empty, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { type EditorHandle, SqlEditor } from './editor';
import { Result, SqlFailure } from './result';
import { Statements } from './statements';

const route = getRouteApi('/signed-in/projects/$slug/sql');
const LIMITS = ['100', '1000', '10000', '100000'];
const LINKED_CHARACTERS = 1500;
/** Commands after which the catalog and grids may be out of date. */
const READING = new Set(['SELECT', 'EXPLAIN', 'SHOW', 'BEGIN', 'COMMIT', 'ROLLBACK', 'SET']);

/** A plan changes nothing, whatever stands after its statement. */
const EXPLAIN = 'set transaction read only; explain (format json, verbose false) ';
const ANALYZE = 'explain (analyze, buffers, format json) ';

interface Run {
  readonly query: string;
  /** Before the query, on its first line. Empty: the query itself is run. */
  readonly prefix: string;
  /** All of the editor. */
  readonly text: string;
}

export function SqlScreen() {
  const { t } = useLanguages();
  const project = useProject();
  const { query } = route.useSearch();
  const navigate = route.useNavigate();
  const relations = useCatalog(project).data ?? [];
  const editor = useRef<EditorHandle>(null);
  const abort = useRef<AbortController | null>(null);
  const [limit, setLimit] = useState('1000');
  const [entries, setEntries] = useState(() => readHistory(project.id));
  const [asksForOne, setAsksForOne] = useState(false);
  const [isHistoryOpen, historyDrawer] = useDisclosure();
  const changed = useCatalogChanged(project);
  const mayRun = useMayWrite(project);
  const run = useMutation({
    mutationFn: async ({ query: wanted, prefix }: Run) => {
      abort.current = new AbortController();
      const since = performance.now();
      const answer = await runSql(
        project.id,
        prefix + wanted,
        { max_rows: Number(limit), all_results: prefix === '' },
        abort.current.signal,
      );
      return { answer, ms: performance.now() - since };
    },
    onSuccess: ({ answer }) => {
      if (answer.statements.some(({ command }) => !READING.has(command ?? ''))) void changed();
    },
    onError: (error, { prefix, text }) => {
      const location = error instanceof ApiError ? error.database?.location : null;
      // The place is that of the text that was run. Somebody who types on keeps the cursor.
      if (!location || editor.current?.text() !== text) return;
      const before = location.line === 1 ? prefix.length : 0;
      editor.current.goTo(location.line, Math.max(1, location.column - before));
    },
  });
  const start = (prefix = ''): void => {
    // EXPLAIN takes one statement: those after it would run.
    const wanted = prefix === '' ? editor.current?.wanted().trim() : editor.current?.statement()?.trim();
    setAsksForOne(prefix !== '' && wanted === undefined);
    if (!wanted || run.isPending || !mayRun) return;
    setEntries(remember(project.id, wanted, Date.now()));
    // The address links to what was run, as far as servers and browsers take it.
    if (wanted.length <= LINKED_CHARACTERS) void navigate({ search: { query: wanted }, replace: true });
    run.mutate({ query: wanted, prefix, text: editor.current?.text() ?? '' });
  };
  return (
    <div className="sql">
      <div className="sql-top">
        <SqlEditor
          initial={draftOf(project.id, query) ?? query ?? entries[0]?.sql ?? ''}
          label={t('sqlEditor')}
          hint={t('sqlHint')}
          relations={relations}
          handle={editor}
          onRun={() => start()}
          onChange={(text) => keepDraft(project.id, { text, query })}
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
          <Button size="xs" variant="default" disabled={run.isPending} onClick={() => start(EXPLAIN)}>
            {t('explain')}
          </Button>
          <Tooltip label={t('analyzeHint')}>
            <Button size="xs" variant="default" disabled={run.isPending} onClick={() => start(ANALYZE)}>
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
            {t('openQueries')}
          </Button>
        </Group>
      </div>
      <div className="sql-result">
        {run.isPending ? <Loading /> : null}
        {run.error && !run.isPending ? <SqlFailure error={run.error} /> : null}
        {run.data && !run.isPending ? (
          <Result {...run.data} isPlan={run.variables?.prefix !== ''} project={project} />
        ) : null}
        {asksForOne ? <Alert m="md">{t('explainOne')}</Alert> : null}
        {mayRun ? null : <Alert m="md">{t('sqlForbidden')}</Alert>}
        {mayRun && run.isIdle ? <Empty icon="sql" title={t('sqlEmpty')} text={t('sqlEmptyText')} /> : null}
      </div>
      <SideDrawer opened={isHistoryOpen} onClose={historyDrawer.close} title={t('openQueries')}>
        <Statements
          project={project}
          current={editor.current?.text() ?? ''}
          entries={entries}
          onChoose={(text) => {
            editor.current?.replace(text);
            historyDrawer.close();
          }}
          onCleared={() => setEntries([])}
        />
      </SideDrawer>
    </div>
  );
}
