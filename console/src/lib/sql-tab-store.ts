/**
 * The browser's store for the tabs of the SQL editor. A window keeps its tabs across a reload, and a new window begins
 * with the last saved tabs.
 */
import { currentSession, personOf } from '../api/session';
import type { SqlTabs } from './sql-tabs';

interface TabStore {
  readonly read: () => SqlTabs | null;
  readonly keep: (tabs: SqlTabs) => void;
}

/** The store of the person who is signed in; each person has a separate store. */
export function tabStore(projectId: string): TabStore {
  const name = `plinth.sql-tabs.${projectId}.${personOf(currentSession()) ?? ''}`;
  return {
    read: () => {
      try {
        const text = sessionStorage.getItem(name) ?? localStorage.getItem(name);
        const kept = JSON.parse(text ?? 'null') as SqlTabs | null;
        const isWhole = kept?.tabs.every(({ text }) => typeof text === 'string');
        return isWhole && kept?.tabs.some(({ id }) => id === kept.active) ? kept : null;
      } catch {
        return null;
      }
    },
    keep: (tabs) => {
      for (const storage of [sessionStorage, localStorage])
        try {
          storage.setItem(name, JSON.stringify(tabs));
        } catch {
          // The storage of the browser is full or forbidden: the tabs last as long as the page.
        }
    },
  };
}
