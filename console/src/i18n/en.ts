import { apiPages } from './en/api-pages';
import { common } from './en/common';
import { connect } from './en/connect';
import { editing } from './en/editing';
import { history } from './en/history';
import { inside } from './en/inside';
import { objects } from './en/objects';
import { outcomes } from './en/outcomes';
import { overview } from './en/overview';
import { pause } from './en/pause';
import { people } from './en/people';
import { policies } from './en/policies';
import { projects } from './en/projects';
import { realtime } from './en/realtime';
import { schedules } from './en/schedules';
import { signIn } from './en/sign-in';
import { signInMethods } from './en/sign-in-methods';
import { sql } from './en/sql';
import { storage } from './en/storage';
import { tables } from './en/tables';
import { users } from './en/users';
import { webhooks } from './en/webhooks';

/** The texts in English. Words in braces are values. Each area of the console has its own module. */
export const en = {
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
} as const;

export type Key = keyof typeof en;
export type Text<One extends Key> = (typeof en)[One];
