/** The page: a room's messages, who is here, and who is writing. */
import type { RealtimeChannel } from '@supabase/supabase-js';
import type { Tables } from './database';
import { plinth } from './plinth';

type Message = Tables<'messages'>;
interface Person {
  user_id: string;
  name: string;
}

const SHOWN_MESSAGES = 100;
const WRITING_SHOWN_MS = 2000;

const room = decodeURIComponent(location.hash.slice(1)) || 'lobby';
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const messages = new Map<number, Message>();
let channel: RealtimeChannel | undefined;

/** Runs an action and shows its error. */
async function run(action: () => Promise<unknown>): Promise<void> {
  element('problem').textContent = '';
  try {
    await action();
  } catch (error) {
    element('problem').textContent = error instanceof Error ? error.message : String(error);
  }
}

/** Joins the room if there is a session. */
async function join(): Promise<void> {
  const { data } = await plinth.auth.getSession();
  const user = data.session?.user;
  element('enter').hidden = user !== undefined;
  element('app').hidden = user === undefined;
  if (!user) return;
  const me: Person = { user_id: user.id, name: user.user_metadata.name };

  // A private channel asks for the token when it joins.
  await plinth.realtime.setAuth();
  const joined = plinth.channel(`room:${room}`, { config: { private: true } });
  channel = joined;
  joined
    .on<Message>(
      'postgres_changes',
      { event: 'INSERT', schema: 'public', table: 'messages', filter: `room=eq.${room}` },
      (change) => show([change.new]),
    )
    .on('presence', { event: 'sync' }, () => showPeople(Object.values(joined.presenceState<Person>()).flat()))
    .on('broadcast', { event: 'writing' }, ({ payload }) => showWriting(payload.name))
    .subscribe((status, error) => {
      // Also after each new connection: what was sent in between is read from the table.
      if (status === 'SUBSCRIBED') void run(() => Promise.all([joined.track(me), readRecent()]));
      else if (error) element('problem').textContent = error.message;
    });
  element('send').oninput = () =>
    void joined.send({ type: 'broadcast', event: 'writing', payload: { name: me.name } });
}

async function readRecent(): Promise<void> {
  const { data } = await plinth
    .from('messages')
    .select()
    .eq('room', room)
    .order('id', { ascending: false })
    .limit(SHOWN_MESSAGES)
    .throwOnError();
  show(data);
}

/** Adds messages to those shown. One that is read and told, too, is shown once. */
function show(added: Message[]): void {
  for (const message of added) messages.set(message.id, message);
  const shown = [...messages.values()].sort((one, other) => one.id - other.id).slice(-SHOWN_MESSAGES);
  const list = element('messages');
  list.replaceChildren(
    ...shown.map(({ name, text, sent_at }) => {
      const item = Object.assign(document.createElement('li'), { title: new Date(sent_at).toLocaleString() });
      item.append(Object.assign(document.createElement('b'), { textContent: name }), text);
      return item;
    }),
  );
  list.scrollTop = list.scrollHeight;
}

/** A user who has the room open in two windows is shown once. */
function showPeople(people: Person[]): void {
  const names = new Map(people.map(({ user_id, name }) => [user_id, name]));
  element('people').textContent = [...names.values()].sort().join(', ');
}

let hide: ReturnType<typeof setTimeout> | undefined;
function showWriting(name: string): void {
  clearTimeout(hide);
  element('writing').textContent = `${name} is writing ...`;
  hide = setTimeout(() => (element('writing').textContent = ''), WRITING_SHOWN_MS);
}

element<HTMLFormElement>('enter').onsubmit = (event) => {
  event.preventDefault();
  const name = new FormData(event.target as HTMLFormElement).get('name');
  void run(async () => {
    const { error } = await plinth.auth.signInAnonymously({ options: { data: { name } } });
    if (error) throw error;
    await join();
  });
};
element<HTMLFormElement>('send').onsubmit = (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const text = new FormData(form).get('text') as string;
  void run(async () => {
    await plinth.from('messages').insert({ room, text }).throwOnError();
    form.reset();
  });
};
element('leave').onclick = () =>
  run(async () => {
    if (channel) await plinth.removeChannel(channel);
    await plinth.auth.signOut();
    await join();
  });
window.onhashchange = () => location.reload();
element('room').textContent = room;
void run(join);
