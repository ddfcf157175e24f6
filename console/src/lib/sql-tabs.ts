/** The tabs of a project's SQL editor. Pure, but for the ids of new tabs. */

export interface SqlTab {
  readonly id: string;
  /** Name of the saved query that was opened in the tab. */
  readonly name: string | null;
  readonly text: string;
  /** The query in the address while the tab is shown: the query that the tab was opened with, or that was run last. */
  readonly query: string | undefined;
}

export interface SqlTabs {
  /** At least one. */
  readonly tabs: readonly SqlTab[];
  readonly active: string;
}

export type TabAction =
  | { readonly kind: 'open'; readonly text: string; readonly name?: string; readonly query?: string }
  | { readonly kind: 'write'; readonly id: string; readonly text: string; readonly query?: string }
  | { readonly kind: 'choose' | 'close'; readonly id: string };

const MAX_TABS = 30;
const TITLE_CHARACTERS = 24;

const tabOf = (text: string, name: string | null = null, query?: string): SqlTab => ({
  id: crypto.randomUUID(),
  name,
  text,
  query,
});

export function reduceTabs({ tabs, active }: SqlTabs, action: TabAction): SqlTabs {
  const at = tabs.findIndex(({ id }) => id === active);
  switch (action.kind) {
    case 'open': {
      const same = tabs.find(
        ({ name, text }) => name !== null && name === action.name && text === action.text,
      );
      if (same) return { tabs, active: same.id };
      const tab = tabOf(action.text, action.name, action.query);
      // An empty tab is reused, and the oldest tab is closed if there are too many.
      const others = tabs[at]?.text.trim() === '' ? tabs.toSpliced(at, 1) : tabs;
      return { tabs: [...others.slice(-(MAX_TABS - 1)), tab], active: tab.id };
    }
    case 'write':
      return {
        active,
        tabs: tabs.map((tab) =>
          tab.id === action.id ? { ...tab, text: action.text, query: action.query ?? tab.query } : tab,
        ),
      };
    case 'choose':
      return { tabs, active: action.id };
    case 'close': {
      const left = tabs.filter(({ id }) => id !== action.id);
      if (left.length === 0) return first('');
      return { tabs: left, active: active === action.id ? left[Math.max(0, at - 1)]!.id : active };
    }
  }
}

function first(text: string, query?: string): SqlTabs {
  const tab = tabOf(text, null, query);
  return { tabs: [tab], active: tab.id };
}

/** The name, or the beginning of the text without its comments; null for an empty tab. */
export function titleOf({ name, text }: SqlTab): string | null {
  const plain = text
    .slice(0, 2_000)
    .replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return name ?? (plain === '' ? null : plain.slice(0, TITLE_CHARACTERS));
}

/**
 * The initial tabs. A query of the address that has no tab gets a new tab. @param kept stored tabs, or null @param text
 * of the first tab
 */
export function beginTabs(kept: SqlTabs | null, query: string | undefined, text: string): SqlTabs {
  if (!kept) return first(query ?? text, query);
  if (query === undefined) return kept;
  const same = kept.tabs.find((tab) => tab.query === query);
  return same ? { ...kept, active: same.id } : reduceTabs(kept, { kind: 'open', text: query, query });
}
