/** The client of the project. Its paths and types come from the project's OpenAPI document: `npm run generate`. */
import createClient from 'openapi-fetch';
import type { components, paths } from './schema';

export type Todo = components['schemas']['Todos'];
export type StoredFile = components['schemas']['FileResponse'];
type Session = components['schemas']['SessionResponse'];

const BASE_URL: string = import.meta.env.VITE_PLINTH_URL;
const ANON_KEY: string = import.meta.env.VITE_ANON_KEY;
const STORED_AS = 'session';

/** The anon key is a JWT that names the project. The paths of auth contain the project's id. */
const { project_id } = JSON.parse(atob(ANON_KEY.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));
type AuthPath<Name extends string> = Extract<keyof paths, `/v1/auth/${string}/${Name}`>;
const authPath = <Name extends string>(name: Name) => `/v1/auth/${project_id}/${name}` as AuthPath<Name>;

const auth = createClient<paths>({ baseUrl: BASE_URL, headers: { apikey: ANON_KEY } });
export const api = createClient<paths>({ baseUrl: BASE_URL, headers: { apikey: ANON_KEY } });

let session: Session | null = JSON.parse(localStorage.getItem(STORED_AS) ?? 'null');

function keep(newSession: Session | null): void {
  session = newSession;
  localStorage.setItem(STORED_AS, JSON.stringify(session));
}

export const isSignedIn = (): boolean => session !== null;

api.use({
  async onRequest({ request }) {
    request.headers.set('Authorization', `Bearer ${await accessToken()}`);
  },
  onResponse({ response }) {
    if (response.status === 401) keep(null);
  },
});

/** Refreshes the session in its last minute. Two refreshes at once get the same successor, so they need no lock. */
async function accessToken(): Promise<string> {
  if (session && session.expires_at * 1000 - Date.now() < 60_000) {
    const answer = await auth.POST(authPath('refresh'), { body: { refresh_token: session.refresh_token } });
    keep(answer.data?.session ?? null);
  }
  return session?.access_token ?? ANON_KEY;
}

export async function enter(how: 'login' | 'signup', email: string, password: string): Promise<void> {
  const body = { email, password };
  const answer =
    how === 'login'
      ? dataOf(await auth.POST(authPath('login'), { body }))
      : dataOf(await auth.POST(authPath('signup'), { body }));
  keep(answer.session);
  // A project may require a verified address.
  if (!session) throw new Error('Follow the link in the mail, then sign in.');
}

export async function signOut(): Promise<void> {
  await api.POST(authPath('logout'), { body: {} });
  keep(null);
}

type Problem = { message: string } | { error: { message: string } } | { detail: string };

/** @throws Error with the server's message; table REST, storage and auth have it in different members */
export function dataOf<T>(answer: { data?: T; error?: Problem }): NonNullable<T> {
  const { data, error } = answer;
  if (data !== undefined && data !== null) return data;
  if (error && 'message' in error) throw new Error(error.message);
  if (error && 'error' in error) throw new Error(error.error.message);
  throw new Error(error?.detail ?? 'The server sent no answer.');
}
