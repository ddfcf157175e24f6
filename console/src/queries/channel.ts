/** A channel of a project's realtime service, joined as an identity, with the messages that arrive. */
import {
  REALTIME_LISTEN_TYPES,
  REALTIME_SUBSCRIBE_STATES,
  type RealtimeChannel,
  RealtimeClient,
} from '@supabase/realtime-js';
import { useEffect, useReducer, useRef } from 'react';
import { PLINTH_URL } from '../api/base-url';
import { type Identity, projectHeaders } from '../api/identity';
import type { Project } from './projects';

/** The channel to join. */
export interface ChannelChoice {
  readonly name: string;
  readonly isPrivate: boolean;
  readonly identity: Identity;
  /** A live table whose changes are also received. */
  readonly table: { readonly schema: string; readonly table: string } | null;
}

export interface ChannelMessage {
  readonly number: number;
  readonly at: Date;
  readonly kind: 'broadcast' | 'presence' | 'change' | 'system';
  readonly event: string;
  readonly payload: unknown;
}

type Status = 'left' | 'joining' | 'joined';

interface ChannelState {
  readonly status: Status;
  /** Newest first. */
  readonly messages: readonly ChannelMessage[];
  /** Presence keys of the members. */
  readonly present: readonly string[];
  /** The reason why the join was refused, or why the channel ended. */
  readonly problem: string | null;
}

type Action =
  | { readonly type: 'status'; readonly status: Status; readonly problem?: string | null }
  | { readonly type: 'arrived'; readonly message: ChannelMessage }
  | { readonly type: 'present'; readonly keys: readonly string[] }
  | { readonly type: 'cleared' };

/** Number of messages that the page holds. */
const MAX_MESSAGES = 200;
const LEFT: ChannelState = { status: 'left', messages: [], present: [], problem: null };

function reduce(state: ChannelState, action: Action): ChannelState {
  switch (action.type) {
    case 'status':
      return {
        ...state,
        status: action.status,
        problem: action.problem === undefined ? state.problem : action.problem,
        present: action.status === 'joined' ? state.present : [],
      };
    case 'arrived':
      return { ...state, messages: [action.message, ...state.messages].slice(0, MAX_MESSAGES) };
    case 'present':
      return { ...state, present: action.keys };
    case 'cleared':
      return { ...state, messages: [] };
  }
}

export function useChannel(project: Project) {
  const [state, dispatch] = useReducer(reduce, LEFT);
  const joined = useRef<Joined | null>(null);
  const leave = (): void => {
    joined.current?.end();
    joined.current = null;
    dispatch({ type: 'status', status: 'left', problem: null });
  };
  useEffect(() => () => joined.current?.end(), [project.id]);
  return {
    ...state,
    join: (choice: ChannelChoice): void => {
      joined.current?.end();
      dispatch({ type: 'status', status: 'joining', problem: null });
      joined.current = join(project, choice, dispatch);
    },
    leave,
    send: (event: string, payload: unknown) =>
      joined.current?.send(event, payload) ?? Promise.resolve('left'),
    clear: () => dispatch({ type: 'cleared' }),
  };
}

interface Joined {
  /** @returns `ok`, or the reason of the failure */
  readonly send: (event: string, payload: unknown) => Promise<string>;
  readonly end: () => void;
}

function join(project: Project, choice: ChannelChoice, dispatch: (action: Action) => void): Joined {
  let isOver = false;
  let client: RealtimeClient | undefined;
  let channel: RealtimeChannel | undefined;
  let number = 0;
  const tell = (action: Action): void => {
    if (!isOver) dispatch(action);
  };
  const arrived = (kind: ChannelMessage['kind'], event: string, payload: unknown): void =>
    tell({ type: 'arrived', message: { number: number++, at: new Date(), kind, event, payload } });

  const open = async (): Promise<void> => {
    const { apikey } = await projectHeaders(project.id, choice.identity);
    if (isOver) return;
    client = new RealtimeClient(`${PLINTH_URL.replace(/^http/, 'ws')}/realtime/v1`, {
      params: { apikey },
      accessToken: async () => {
        const { Authorization = '' } = await projectHeaders(project.id, choice.identity);
        return Authorization.replace('Bearer ', '');
      },
    });
    // Without this call, the first private channel would be joined with the key.
    await client.setAuth();
    if (isOver) return;
    const made = client.channel(choice.name, {
      config: { private: choice.isPrivate, broadcast: { self: true, ack: true } },
    });
    channel = made;
    made
      .on(REALTIME_LISTEN_TYPES.BROADCAST, { event: '*' }, ({ event, payload }) =>
        arrived('broadcast', event, payload),
      )
      .on(REALTIME_LISTEN_TYPES.PRESENCE, { event: 'join' }, ({ newPresences }) =>
        arrived('presence', 'join', newPresences),
      )
      .on(REALTIME_LISTEN_TYPES.PRESENCE, { event: 'leave' }, ({ leftPresences }) =>
        arrived('presence', 'leave', leftPresences),
      )
      .on(REALTIME_LISTEN_TYPES.PRESENCE, { event: 'sync' }, () =>
        tell({ type: 'present', keys: Object.keys(made.presenceState()) }),
      )
      .on(REALTIME_LISTEN_TYPES.SYSTEM, {}, (payload: { readonly status?: string }) =>
        arrived('system', payload.status ?? '', payload),
      );
    if (choice.table)
      made.on(REALTIME_LISTEN_TYPES.POSTGRES_CHANGES, { event: '*', ...choice.table }, (change) =>
        arrived('change', change.eventType, change),
      );
    made.subscribe((status, error) => {
      if (status === REALTIME_SUBSCRIBE_STATES.SUBSCRIBED)
        tell({ type: 'status', status: 'joined', problem: null });
      else if (status === REALTIME_SUBSCRIBE_STATES.CLOSED) tell({ type: 'status', status: 'left' });
      else tell({ type: 'status', status: 'joining', problem: error?.message ?? status });
    });
  };
  void open().catch((error: unknown) =>
    tell({ type: 'status', status: 'left', problem: error instanceof Error ? error.message : String(error) }),
  );
  return {
    send: (event, payload) => channel?.send({ type: 'broadcast', event, payload }) ?? Promise.resolve('left'),
    end: () => {
      isOver = true;
      void client?.disconnect();
    },
  };
}
