/** Runs the text of a tab of the SQL editor, and keeps the result, the history, and the link in the address. */
import { useMutation } from '@tanstack/react-query';
import { useSetState } from '@mantine/hooks';
import { type RefObject, useRef } from 'react';
import { ApiError } from '../../api/errors';
import { type Project, runSql, useCatalogChanged, useMayWrite } from '../../queries/projects';
import { type Danger, dangersIn } from '../../lib/sql-danger';
import { remember } from '../../lib/sql-history';
import { type Parameters, parametersOf } from '../../lib/sql-parameters';
import type { EditorHandle, Piece } from './editor';
import type { ParameterValues } from './parameters-dialog';

/** Commands that leave the catalog and the grids up to date. */
const READING = new Set(['SELECT', 'EXPLAIN', 'SHOW', 'BEGIN', 'COMMIT', 'ROLLBACK', 'SET']);

/** Prefixes of a statement. */
const PREFIXES = {
  run: '',
  explain: 'explain (format json, verbose false) ',
  analyze: 'explain (analyze, buffers, format json) ',
};

export type SqlAction = keyof typeof PREFIXES;

interface Wanted {
  readonly piece: Piece;
  readonly action: SqlAction;
}

interface Run extends Wanted {
  /** The statement as it is sent. */
  readonly sql: string;
  readonly values: readonly (string | null)[];
  /** Number of characters in the first line before the piece. */
  readonly before: number;
  /** The whole text of the editor. */
  readonly text: string;
}

export function useSqlRun(
  project: Project,
  editor: RefObject<EditorHandle | null>,
  /** Called with each statement that is sent. */
  onSent: (sql: string) => void,
) {
  const abort = useRef<AbortController | null>(null);
  const [state, setState] = useSetState({
    limit: '1000',
    asksForOne: false,
    /** A run that waits until its dangers are confirmed. */
    asked: null as (Wanted & { readonly dangers: readonly Danger[] }) | null,
    /** A run that waits for the values of its parameters. */
    asksValues: null as (Wanted & { readonly parameters: Parameters }) | null,
    values: new Map() as ParameterValues,
  });
  const changed = useCatalogChanged(project);
  const mayRun = useMayWrite(project);
  const run = useMutation({
    mutationFn: async ({ sql, action, values }: Run) => {
      abort.current = new AbortController();
      const since = performance.now();
      const isRun = action === 'run';
      const options = { max_rows: Number(state.limit), all_results: isRun, text_values: isRun };
      const parameters = values.length > 0 ? { parameters: [...values] } : {};
      // A plan runs read-only, so it changes nothing, whatever follows its statement.
      const reading = action === 'explain' ? { read_only: true } : {};
      const all = { ...options, ...parameters, ...reading };
      const answer = await runSql(project.id, sql, all, abort.current.signal);
      return { answer, ms: performance.now() - since };
    },
    onSuccess: ({ answer }) => {
      if (answer.statements.some(({ command }) => !READING.has(command ?? ''))) void changed();
    },
    onError: (error, { piece, before, text }) => {
      const location = error instanceof ApiError ? error.database?.location : null;
      // The position refers to the text that was run, so the cursor does not move if the text was edited since.
      if (!location || editor.current?.text() !== text) return;
      const column = location.column - (location.line === 1 ? before : 0);
      editor.current.markError(piece, location.line, Math.max(1, column), error.message);
    },
  });
  const start = (action: SqlAction): void => {
    // EXPLAIN accepts one statement, and would run any statements after it.
    const piece = action === 'run' ? editor.current?.wanted() : editor.current?.statement();
    setState({ asksForOne: action !== 'run' && !piece });
    if (!piece || piece.sql.trim() === '' || run.isPending || !mayRun) return;
    const dangers = action === 'explain' ? [] : dangersIn(piece.sql);
    if (dangers.length > 0) setState({ asked: { piece, action, dangers } });
    else withValues({ piece, action });
  };
  const withValues = (wanted: Wanted): void => {
    const parameters = parametersOf(wanted.piece.sql);
    if (parameters) setState({ asksValues: { ...wanted, parameters } });
    else send(wanted, wanted.piece.sql, PREFIXES[wanted.action], []);
  };
  const send = (wanted: Wanted, sql: string, prefix: string, values: readonly (string | null)[]): void => {
    const text = editor.current?.text() ?? '';
    remember(project.id, wanted.piece.sql.trim(), Date.now());
    onSent(wanted.piece.sql.trim());
    run.mutate({ ...wanted, sql: prefix + sql, values, before: prefix.length, text });
  };
  return {
    ...state,
    mayRun,
    result: run,
    start,
    cancel: (): void => abort.current?.abort(),
    confirm: (wanted: Wanted): void => withValues(wanted),
    closeQuestion: (): void => setState({ asked: null }),
    sendWith: (values: ParameterValues): void => {
      const { asksValues } = state;
      if (!asksValues) return;
      const { parameters, action } = asksValues;
      setState({ asksValues: null, values });
      send(asksValues, parameters.sql, PREFIXES[action], parameters.valuesOf(values));
    },
    closeValues: (): void => setState({ asksValues: null }),
    setLimit: (limit: string): void => setState({ limit }),
  };
}

export type SqlRun = ReturnType<typeof useSqlRun>;
