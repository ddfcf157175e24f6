/** The SQL editor: CodeMirror with PostgreSQL's words and the names of the catalog. */
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import {
  bracketMatching,
  ensureSyntaxTree,
  HighlightStyle,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { diagnosticCount, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useComputedColorScheme } from '@mantine/core';
import { type RefObject, useEffect, useRef } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { columnsInScope } from '../../lib/sql-columns';
import { shortIdentifier } from '../../lib/sql-text';
import styles from './sql.module.css';

/** A part of the text. */
export interface Piece {
  readonly sql: string;
  /** Offset of the beginning. */
  readonly from: number;
}

export interface EditorHandle {
  /** The selection, or all text if nothing is selected. */
  readonly wanted: () => Piece;
  readonly text: () => string;
  /**
   * The selected statement, or the statement at the cursor, which is then selected. Null if several or none are
   * selected.
   */
  readonly statement: () => Piece | null;
  /** Writes a name at the cursor. */
  readonly insert: (text: string) => void;
  /** Replaces the selection, or all text, by a converted text, unless the text has changed since. */
  readonly rewrite: (make: (text: string) => Promise<string>) => Promise<void>;
  /**
   * Underlines a position in a text that was run, and moves the cursor there. The position is one-based, as in
   * PostgreSQL.
   */
  readonly markError: (piece: Piece, line: number, column: number, message: string) => void;
}

interface SqlEditorProps {
  readonly initial: string;
  readonly label: string;
  readonly hint: string;
  /** Tells users of a screen reader how to leave the editor with the keyboard. */
  readonly keys: string;
  readonly relations: readonly Relation[];
  readonly onRun: () => void;
  readonly onChange: (text: string) => void;
  readonly handle: RefObject<EditorHandle | null>;
}

const highlightOf = (keyword: string, text: string, number: string, comment: string, type: string) =>
  HighlightStyle.define([
    { tag: tags.keyword, color: keyword },
    { tag: [tags.string, tags.special(tags.string)], color: text },
    { tag: [tags.number, tags.bool, tags.null], color: number },
    { tag: tags.comment, color: comment, fontStyle: 'italic' },
    { tag: [tags.typeName, tags.standard(tags.name)], color: type },
  ]);

/** Legible also on the background of the active line. */
const LIGHT = highlightOf('#0b6e69', '#964200', '#7a2fa8', '#5a636e', '#1f5fae');
const DARK = highlightOf('#6cbfb9', '#e3b778', '#d3a0e8', '#95a0ac', '#8fb8f0');

const STYLE = EditorView.theme({
  '&': { height: '100%', fontSize: '13.5px', backgroundColor: 'transparent' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'transparent', border: 'none', color: 'var(--mantine-color-dimmed)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': { caretColor: 'var(--mantine-color-text)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '.cm-activeLine': { backgroundColor: 'light-dark(#0000000a, #ffffff0a)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'light-dark(#b9e2df, #14534f)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    border: '1px solid var(--mantine-color-default-border)',
  },
});

/** Cancels a list of completions that is not open yet, because CodeMirror closes only open lists. */
const COMPLETION_NEEDS_FOCUS = EditorView.domEventHandlers({
  blur: ({ relatedTarget }, view) => {
    if (!view.dom.contains(relatedTarget as Node | null)) closeCompletion(view);
  },
});

const described = ({ label, hint, keys }: Pick<SqlEditorProps, 'label' | 'hint' | 'keys'>): Extension => [
  placeholder(hint),
  EditorView.contentAttributes.of({ 'aria-label': label, 'aria-description': keys, tabindex: '0' }),
];

export function SqlEditor({ initial, relations, onRun, onChange, handle, ...texts }: SqlEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');
  const run = useRef(onRun);
  const changed = useRef(onChange);
  const parts = useRef({ language: new Compartment(), colours: new Compartment() });
  const view = useRef<EditorView | null>(null);
  useEffect(() => {
    run.current = onRun;
    changed.current = onChange;
  });

  useEffect(() => {
    const { language, colours } = parts.current;
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: initial,
        extensions: [
          keymap.of([{ key: 'Mod-Enter', run: (view) => (closeCompletion(view), run.current(), true) }]),
          lineNumbers(),
          history(),
          drawSelection(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          autocompletion(),
          described(texts),
          keymap.of([
            ...closeBracketsKeymap,
            ...completionKeymap,
            ...historyKeymap,
            indentWithTab,
            ...defaultKeymap,
          ]),
          language.of([]),
          colours.of([]),
          STYLE,
          EditorView.lineWrapping,
          COMPLETION_NEEDS_FOCUS,
          EditorView.updateListener.of((update) => {
            if (!update.docChanged) return;
            changed.current(update.state.doc.toString());
            queueMicrotask(() => clearErrors(update.view));
          }),
        ],
      }),
    });
    view.current = editor;
    handle.current = handleOf(editor);
    return () => editor.destroy();
    // The text belongs to the editor from here on.
  }, []);

  useEffect(() => {
    const schema = Object.fromEntries(
      relations.map(({ schema: name, name: table, columns }) => [
        name === 'public' ? table : `${name}.${table}`,
        columns.map((column) => column.name),
      ]),
    );
    const support = sql({ dialect: PostgreSQL, schema });
    const columns = support.language.data.of({ autocomplete: columnSource(relations) });
    view.current?.dispatch({ effects: parts.current.language.reconfigure([support, columns]) });
  }, [relations]);

  useEffect(() => {
    const style = scheme === 'dark' ? DARK : LIGHT;
    view.current?.dispatch({
      effects: parts.current.colours.reconfigure([
        syntaxHighlighting(style),
        EditorView.darkTheme.of(scheme === 'dark'),
      ]),
    });
  }, [scheme]);

  return <div ref={place} className={styles.editor} />;
}

/** Removes the mark, which is valid only for the text that was run. */
function clearErrors(view: EditorView): void {
  if (diagnosticCount(view.state) > 0) view.dispatch(setDiagnostics(view.state, []));
}

/** Columns of the tables that the statement names, without the name of a table before them. */
const columnSource =
  (relations: readonly Relation[]) =>
  (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\w$]+/);
    const from = word?.from ?? context.pos;
    if ((!word && !context.explicit) || context.state.sliceDoc(from - 1, from) === '.') return null;
    const statements = syntaxTree(context.state).topNode.getChildren('Statement');
    const statement = statements.find((one) => one.from <= from && one.to >= from) ?? statements.at(-1);
    const text = statement ? context.state.sliceDoc(statement.from, statement.to) : '';
    return {
      from,
      validFor: /^[\w$]*$/,
      options: columnsInScope(text, relations).map(({ label, detail }) => ({
        label,
        detail,
        type: 'property',
        boost: 10,
        apply: shortIdentifier(label),
      })),
    };
  };

/** Time limit for parsing a long text, in milliseconds. */
const PARSE_MS = 500;

function statementOf(view: EditorView): Piece | null {
  const { state } = view;
  const { from, to, empty, head } = state.selection.main;
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
  const statements = tree.topNode.getChildren('Statement');
  if (!empty) {
    const touched = statements.filter((one) => one.from < to && one.to > from);
    return touched.length === 1 ? { sql: state.sliceDoc(from, to), from } : null;
  }
  // A cursor after the last semicolon belongs to the statement before it.
  const here = statements.find((one) => head <= one.to) ?? statements.at(-1);
  if (!here) return null;
  if (statements.length > 1) view.dispatch({ selection: { anchor: here.from, head: here.to } });
  return { sql: state.sliceDoc(here.from, here.to), from: here.from };
}

function handleOf(view: EditorView): EditorHandle {
  return {
    wanted: () => {
      const { from, to, empty } = view.state.selection.main;
      return empty
        ? { sql: view.state.doc.toString(), from: 0 }
        : { sql: view.state.sliceDoc(from, to), from };
    },
    text: () => view.state.doc.toString(),
    statement: () => statementOf(view),
    insert: (text) => {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    rewrite: async (make) => {
      const { doc, selection } = view.state;
      const { from, to, empty } = selection.main;
      const range = empty ? { from: 0, to: doc.length } : { from, to };
      const insert = await make(view.state.sliceDoc(range.from, range.to));
      if (view.state.doc !== doc) return;
      const changes = view.state.changes({ ...range, insert });
      view.dispatch({
        changes,
        selection: empty ? { anchor: changes.mapPos(from) } : { anchor: from, head: from + insert.length },
      });
      view.focus();
    },
    markError: (piece, line, column, message) => {
      const from = placeOf(piece, line, column);
      const word = view.state.wordAt(from);
      // An error at the end of the text has no character to underline.
      const to = Math.max(word?.to ?? 0, Math.min(from + 1, view.state.doc.length));
      const start = from === to ? Math.max(0, from - 1) : from;
      view.dispatch(
        { selection: { anchor: from }, scrollIntoView: true },
        setDiagnostics(view.state, [{ from: start, to, severity: 'error', message }]),
      );
      // A field or dialog that was opened during the run keeps the focus.
      const { activeElement, body } = document;
      if (activeElement === body || activeElement?.tagName === 'BUTTON') view.focus();
    },
  };
}

/** Converts a position. PostgreSQL counts characters, the editor counts UTF-16 units. */
function placeOf({ sql, from }: Piece, line: number, column: number): number {
  const lines = sql.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const units = [...(lines[line - 1] ?? '')].slice(0, column - 1).join('').length;
  return Math.min(from + before + units, from + sql.length);
}
