/** The tabs of the SQL editor, kept in the browser, and the address, which links to the query of the active one. */
import { getRouteApi } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useReducer, useState } from 'react';
import { readHistory } from '../../lib/sql-history';
import { tabStore } from '../../lib/sql-tab-store';
import { beginTabs, reduceTabs, type SqlTabs, type TabAction } from '../../lib/sql-tabs';
import type { Project } from '../../queries/projects';

const route = getRouteApi('/signed-in/projects/$slug/sql');
/** Milliseconds between the last change and the save. */
const KEEP_AFTER_MS = 300;

export function useSqlTabs(project: Project) {
  const { query } = route.useSearch();
  const navigate = route.useNavigate();
  const [store] = useState(() => tabStore(project.id));
  const [state, dispatch] = useReducer(reduceTabs, null, () =>
    beginTabs(store.read(), query, readHistory(project.id)[0]?.sql ?? ''),
  );
  useKept(state, store.keep);
  const follow = useEffectEvent((wanted: string) => {
    const same = state.tabs.filter((tab) => tab.query === wanted);
    if (same.length === 0) dispatch({ kind: 'open', text: wanted, query: wanted });
    else if (!same.some(({ id }) => id === state.active)) dispatch({ kind: 'choose', id: same[0]!.id });
  });
  useEffect(() => {
    if (query !== undefined) follow(query);
  }, [query]);
  const act = (action: TabAction): void => {
    dispatch(action);
    const { tabs, active } = reduceTabs(state, action);
    const shown = tabs.find(({ id }) => id === active)?.query;
    // The new tab has another id in the state, but the same query.
    if (shown !== query) void navigate({ search: { query: shown }, replace: true });
  };
  return { state, act };
}

function useKept(state: SqlTabs, keep: (tabs: SqlTabs) => void): void {
  const keepNow = useEffectEvent(() => keep(state));
  useEffect(() => {
    const timer = setTimeout(() => keepNow(), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    const onHide = (): void => keepNow();
    addEventListener('pagehide', onHide);
    return () => {
      removeEventListener('pagehide', onHide);
      onHide();
    };
  }, []);
}
