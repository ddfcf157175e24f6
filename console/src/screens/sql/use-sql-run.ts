/** Runs the text of the SQL editor, and keeps what was run: its result, the history, and the link in the address. */
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useSetState } from '@mantine/hooks';
import { type RefObject, useRef } from 'react';
import { ApiError } from '../../api/errors';
import { type Project, runSql, useCatalogChanged, useMayWrite } from '../../queries/projects';
import { type Danger, dangersIn } from '../../lib/sql-danger';
import { forget, readHistory, remember } from '../../lib/sql-history';
import type { EditorHandle } from './editor';

const route = getRouteApi('/signed-in/projects/$slug/sql');
const LINKED_CHARACTERS = 1500;
/** Commands after which the catalog and grids are still up to date. */
const READING = new Set(['SELECT', 'EXPLAIN', 'SHOW', 'BEGIN', 'COMMIT', 'ROLLBACK', 'SET']);

/** Stand before a statement. A plan changes nothing, whatever follows its statement. */
const PREFIXES = {
  run: '',
  explain: 'set transaction read only; explain (format json, verbose false) ',
  analyze: 'explain (analyze, buffers, format json) ',
};

export type SqlAction = keyof typeof PREFIXES;

interface AskedRun {
  readonly sql: string;
  readonly action: SqlAction;
  readonly dangers: readonly Danger[];
}

interface Run {
  readonly sql: string;
  readonly action: SqlAction;
  /** All of the editor. */
  readonly text: string;
}

export function useSqlRun(project: Project, editor: RefObject<EditorHandle | null>) {
  const navigate = route.useNavigate();
  const abort = useRef<AbortController | null>(null);
  const [state, setState] = useSetState({
    limit: '1000',
    entries: readHistory(project.id),
    asksForOne: false,
    /** A run that waits for a confirmation. */
    asked: null as AskedRun | null,
  });
  const changed = useCatalogChanged(project);
  const mayRun = useMayWrite(project);
  const run = useMutation({
    mutationFn: async ({ sql, action }: Run) => {
      abort.current = new AbortController();
      const since = performance.now();
      const isRun = action === 'run';
      const options = { max_rows: Number(state.limit), all_results: isRun, text_values: isRun };
      const answer = await runSql(project.id, PREFIXES[action] + sql, options, abort.current.signal);
      return { answer, ms: performance.now() - since };
    },
    onSuccess: ({ answer }) => {
      if (answer.statements.some(({ command }) => !READING.has(command ?? ''))) void changed();
    },
    onError: (error, { action, text }) => {
      const location = error instanceof ApiError ? error.database?.location : null;
      // The place is that of the text that was run. The cursor stays if the text was edited since.
      if (!location || editor.current?.text() !== text) return;
      const before = location.line === 1 ? PREFIXES[action].length : 0;
      editor.current.goTo(location.line, Math.max(1, location.column - before));
    },
  });
  const start = (action: SqlAction): void => {
    // EXPLAIN takes one statement: those after it would run.
    const wanted = action === 'run' ? editor.current?.wanted() : editor.current?.statement();
    const sql = wanted?.trim();
    setState({ asksForOne: action !== 'run' && sql === undefined });
    if (!sql || run.isPending || !mayRun) return;
    const dangers = action === 'explain' ? [] : dangersIn(sql);
    if (dangers.length > 0) setState({ asked: { sql, action, dangers } });
    else send(sql, action);
  };
  const send = (sql: string, action: SqlAction): void => {
    setState({ entries: remember(project.id, sql, Date.now()) });
    // The address links to the SQL that was run, as far as servers and browsers take it.
    if (sql.length <= LINKED_CHARACTERS) void navigate({ search: { query: sql }, replace: true });
    run.mutate({ sql, action, text: editor.current?.text() ?? '' });
  };
  return {
    ...state,
    mayRun,
    result: run,
    start,
    cancel: (): void => abort.current?.abort(),
    confirm: ({ sql, action }: AskedRun): void => send(sql, action),
    closeQuestion: (): void => setState({ asked: null }),
    setLimit: (limit: string): void => setState({ limit }),
    clearHistory: (): void => {
      forget(project.id);
      setState({ entries: [] });
    },
  };
}

export type SqlRun = ReturnType<typeof useSqlRun>;
