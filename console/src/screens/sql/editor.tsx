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
  defaultHighlightStyle,
  ensureSyntaxTree,
  HighlightStyle,
  syntaxHighlighting,
  syntaxTree,
} from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
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
import { identifier } from '../../lib/sql-text';
import styles from './sql.module.css';

export interface EditorHandle {
  /** The selection, or all text. */
  readonly wanted: () => string;
  readonly text: () => string;
  /** The selected statement, or the one at the cursor, which is then selected. Null if several are selected, or none is there. */
  readonly statement: () => string | null;
  readonly replace: (text: string) => void;
  /** Marks a place of the text that was run. One-based, as PostgreSQL counts. */
  readonly goTo: (line: number, column: number) => void;
}

interface SqlEditorProps {
  readonly initial: string;
  readonly label: string;
  readonly hint: string;
  readonly relations: readonly Relation[];
  readonly onRun: () => void;
  readonly onChange: (text: string) => void;
  readonly handle: RefObject<EditorHandle | null>;
}

const DARK = HighlightStyle.define([
  { tag: tags.keyword, color: '#6cbfb9' },
  { tag: [tags.string, tags.special(tags.string)], color: '#e3b778' },
  { tag: [tags.number, tags.bool, tags.null], color: '#d3a0e8' },
  { tag: tags.comment, color: '#95a0ac', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: '#8fb8f0' },
]);

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

/** CodeMirror closes an open list of completions itself; one still being prepared would open over what came next. */
const COMPLETION_NEEDS_FOCUS = EditorView.domEventHandlers({
  blur: ({ relatedTarget }, view) => {
    if (!view.dom.contains(relatedTarget as Node | null)) closeCompletion(view);
  },
});

export function SqlEditor({ initial, label, hint, relations, onRun, onChange, handle }: SqlEditorProps) {
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
          placeholder(hint),
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
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          COMPLETION_NEEDS_FOCUS,
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current(update.state.doc.toString());
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
    const style = scheme === 'dark' ? DARK : defaultHighlightStyle;
    view.current?.dispatch({
      effects: parts.current.colours.reconfigure([
        syntaxHighlighting(style),
        EditorView.darkTheme.of(scheme === 'dark'),
      ]),
    });
  }, [scheme]);

  return <div ref={place} className={styles.editor} />;
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
        apply: /^[a-z_][a-z0-9_$]*$/.test(label) ? label : identifier(label),
      })),
    };
  };

/** Longer texts are parsed as far as this time allows, in milliseconds. */
const PARSE_MS = 500;

function statementOf(view: EditorView): string | null {
  const { state } = view;
  const { from, to, empty, head } = state.selection.main;
  const tree = ensureSyntaxTree(state, state.doc.length, PARSE_MS) ?? syntaxTree(state);
  const statements = tree.topNode.getChildren('Statement');
  if (!empty) {
    const touched = statements.filter((one) => one.from < to && one.to > from);
    return touched.length === 1 ? state.sliceDoc(from, to) : null;
  }
  // A cursor after the last semicolon belongs to the statement before it.
  const here = statements.find((one) => head <= one.to) ?? statements.at(-1);
  if (!here) return null;
  if (statements.length > 1) view.dispatch({ selection: { anchor: here.from, head: here.to } });
  return state.sliceDoc(here.from, here.to);
}

function handleOf(view: EditorView): EditorHandle {
  return {
    wanted: () => {
      const { from, to } = view.state.selection.main;
      return from === to ? view.state.doc.toString() : view.state.sliceDoc(from, to);
    },
    text: () => view.state.doc.toString(),
    statement: () => statementOf(view),
    replace: (text) => {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      view.focus();
    },
    goTo: (line, column) => {
      const start = view.state.selection.main;
      const first = start.empty ? 1 : view.state.doc.lineAt(start.from).number;
      const number = Math.min(first + line - 1, view.state.doc.lines);
      const { from, to } = view.state.doc.line(number);
      view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
      // A field or a dialog that was opened during the run keeps the focus.
      const { activeElement, body } = document;
      if (activeElement === body || activeElement?.tagName === 'BUTTON') view.focus();
    },
  };
}
