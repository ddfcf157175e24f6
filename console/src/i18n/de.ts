import { apiPages } from './de/api-pages';
import { common } from './de/common';
import { connect } from './de/connect';
import { editing } from './de/editing';
import { history } from './de/history';
import { inside } from './de/inside';
import { objects } from './de/objects';
import { outcomes } from './de/outcomes';
import { overview } from './de/overview';
import { pause } from './de/pause';
import { people } from './de/people';
import { policies } from './de/policies';
import { projects } from './de/projects';
import { realtime } from './de/realtime';
import { schedules } from './de/schedules';
import { signIn } from './de/sign-in';
import { signInMethods } from './de/sign-in-methods';
import { sql } from './de/sql';
import { storage } from './de/storage';
import { tables } from './de/tables';
import { users } from './de/users';
import { webhooks } from './de/webhooks';
import type { Key } from './en';

/** The texts in German. */
export const de: Readonly<Record<Key, string>> = {
  ...apiPages,
  ...common,
  ...connect,
  ...editing,
  ...history,
  ...inside,
  ...objects,
  ...outcomes,
  ...overview,
  ...pause,
  ...people,
  ...policies,
  ...projects,
  ...realtime,
  ...schedules,
  ...signIn,
  ...signInMethods,
  ...sql,
  ...storage,
  ...tables,
  ...users,
  ...webhooks,
};
