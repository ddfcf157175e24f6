/**
 * The page: the notes of a team and its members. It hides what a role may not do, and decides nothing: the policies do.
 */
import type { Tables } from './database';
import { plinth } from './plinth';

type Member = Tables<'members'>;
type Note = Tables<'notes'>;
const ROLES = ['owner', 'editor', 'viewer'];

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const teams = element<HTMLSelectElement>('teams');

/** Runs an action, and shows its error, if any, and everything again. */
async function run(action: () => Promise<unknown>): Promise<void> {
  element('problem').textContent = '';
  await action().catch(report);
  await show().catch(report);
}

const report = (error: unknown): void => {
  element('problem').textContent = error instanceof Error ? error.message : String(error);
};

const currentUser = async (): Promise<string | undefined> =>
  (await plinth.auth.getSession()).data.session?.user.id;

async function show(): Promise<void> {
  const user = await currentUser();
  element('credentials').hidden = user !== undefined;
  element('app').hidden = user === undefined;
  if (!user) return;
  // One request: row-level security leaves the caller's teams.
  const { data } = await plinth
    .from('teams')
    .select('id, name, members(*), notes(*)')
    .order('name')
    .order('id', { referencedTable: 'notes' })
    .throwOnError();
  const team = data.find(({ id }) => id === teams.value) ?? data[0];
  teams.replaceChildren(...data.map(({ id, name }) => new Option(name, id, false, id === team?.id)));
  element('team').hidden = team === undefined;
  if (team) showTeam(team.members, team.notes, user);
}

function showTeam(members: Member[], notes: Note[], user: string): void {
  const role = members.find(({ user_id }) => user_id === user)?.role;
  const writes = role !== 'viewer';
  element('notes').replaceChildren(...notes.map((note) => noteItem(note, writes)));
  element('add').hidden = !writes;
  element('members').replaceChildren(...members.map((member) => memberItem(member, user, role === 'owner')));
  element('invite').hidden = role !== 'owner';
}

function noteItem({ id, text }: Note, writes: boolean): HTMLLIElement {
  const item = document.createElement('li');
  item.append(text);
  if (writes) item.append(button('Delete', () => plinth.from('notes').delete().eq('id', id).throwOnError()));
  return item;
}

function memberItem(member: Member, user: string, isOwner: boolean): HTMLLIElement {
  const { team_id, user_id, email, role } = member;
  const item = document.createElement('li');
  const isSelf = user_id === user;
  if (isOwner && !isSelf) item.append(email, roleChoice(member));
  else item.append(`${email}: ${role}`);
  if (isSelf ? role !== 'owner' : isOwner) {
    const label = isSelf ? 'Leave' : 'Remove';
    item.append(
      button(label, () => plinth.from('members').delete().match({ team_id, user_id }).throwOnError()),
    );
  }
  return item;
}

function roleChoice({ team_id, user_id, email, role }: Member): HTMLSelectElement {
  const choice = Object.assign(document.createElement('select'), { ariaLabel: `Role of ${email}` });
  choice.append(...ROLES.map((name) => new Option(name, name, false, name === role)));
  choice.onchange = () =>
    run(async () =>
      plinth.from('members').update({ role: choice.value }).match({ team_id, user_id }).throwOnError(),
    );
  return choice;
}

const button = (textContent: string, action: () => PromiseLike<unknown>): HTMLButtonElement =>
  Object.assign(document.createElement('button'), { textContent, onclick: () => run(async () => action()) });

/** Handles a form: clears it after the action. */
function onSubmit(
  id: string,
  action: (form: FormData, submitter: HTMLElement | null) => Promise<unknown>,
): void {
  const form = element<HTMLFormElement>(id);
  form.onsubmit = (event) => {
    event.preventDefault();
    void run(async () => {
      await action(new FormData(form), event.submitter);
      form.reset();
    });
  };
}

onSubmit('credentials', async (form, submitter) => {
  const credentials = { email: form.get('email') as string, password: form.get('password') as string };
  const isNew = (submitter as HTMLButtonElement).value === 'signup';
  const { data, error } = isNew
    ? await plinth.auth.signUp(credentials)
    : await plinth.auth.signInWithPassword(credentials);
  if (error) throw error;
  // A project may require a verified address.
  if (!data.session) throw new Error('Follow the link in the mail, then sign in.');
  await accept();
});
onSubmit('create', async (form) => {
  const { data } = await plinth.rpc('create_team', { team_name: form.get('name') as string }).throwOnError();
  teams.replaceChildren(new Option('', data));
});
onSubmit('add', async (form) =>
  plinth
    .from('notes')
    .insert({ team_id: teams.value, text: form.get('text') as string })
    .throwOnError(),
);
onSubmit('invite', async (form) => {
  const invitation = { team_id: teams.value, role: form.get('role') as string };
  const { data } = await plinth.from('invitations').insert(invitation).select('code').single().throwOnError();
  element('invitation').textContent = `${location.origin}${location.pathname}#${data.code}`;
});
teams.onchange = () => run(async () => undefined);
element('sign-out').onclick = () => run(() => plinth.auth.signOut());

/** Accepts the invitation that the address names, once there is a session. */
async function accept(): Promise<void> {
  const invitation = location.hash.slice(1);
  if (!invitation || !(await currentUser())) return;
  history.replaceState(null, '', location.pathname);
  const { data } = await plinth.rpc('accept_invitation', { invitation }).throwOnError();
  teams.replaceChildren(new Option('', data));
}
void run(accept);
