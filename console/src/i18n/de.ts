import { common } from './de/common';
import { people } from './de/people';
import { policies } from './de/policies';
import { projects } from './de/projects';
import { sql } from './de/sql';
import { storage } from './de/storage';
import { tables } from './de/tables';
import { users } from './de/users';
import type { Key } from './en';

/** The texts in German. */
export const de: Readonly<Record<Key, string>> = {
  ...common,
  ...people,
  ...policies,
  ...projects,
  ...sql,
  ...storage,
  ...tables,
  ...users,
};
