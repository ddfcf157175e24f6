/** The page: a user's photos as thumbnails, each with the address of the original. */
import { plinth } from './plinth';
import { upload } from './upload';

const PAGE = 48;
const LINK_SECONDS = 3600;
const THUMBNAIL = { width: 400, height: 400, resize: 'cover' } as const;

const photos = plinth.storage.from('photos');
const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const gallery = element('photos');

/** Runs an action and shows its error. */
async function run(action: () => Promise<unknown>): Promise<void> {
  element('problem').textContent = '';
  try {
    await action();
  } catch (error) {
    element('problem').textContent = error instanceof Error ? error.message : String(error);
  }
}

const folder = async (): Promise<string | undefined> =>
  (await plinth.auth.getSession()).data.session?.user.id;

async function start(): Promise<void> {
  const user = await folder();
  element('credentials').hidden = user !== undefined;
  element('app').hidden = user === undefined;
  gallery.replaceChildren();
  if (user) await showMore(user);
}

/** Adds the next page of photos, the newest first. */
async function showMore(user: string): Promise<void> {
  const { data, error } = await photos.list(user, {
    limit: PAGE,
    offset: gallery.childElementCount,
    sortBy: { column: 'created_at', order: 'desc' },
  });
  if (error) throw error;
  gallery.append(...(await Promise.all(data.map(({ name }) => figureOf(name, `${user}/${name}`)))));
  element('more').hidden = data.length < PAGE;
}

/** A photo whose thumbnail the server makes: `transform` is covered by the signature of the address. */
async function figureOf(name: string, path: string): Promise<HTMLElement> {
  const [original, thumbnail] = await Promise.all([
    photos.createSignedUrl(path, LINK_SECONDS),
    photos.createSignedUrl(path, LINK_SECONDS, { transform: THUMBNAIL }),
  ]);
  const figure = document.createElement('figure');
  const image = Object.assign(document.createElement('img'), { loading: 'lazy', alt: name });
  image.src = thumbnail.data?.signedUrl ?? '';
  const link = Object.assign(document.createElement('a'), { href: original.data?.signedUrl ?? '' });
  link.append(image);
  const remove = Object.assign(document.createElement('button'), { textContent: 'Delete' });
  remove.onclick = () =>
    run(async () => {
      const { error } = await photos.remove([path]);
      if (error) throw error;
      figure.remove();
    });
  const caption = document.createElement('figcaption');
  caption.append(name, ' ', remove);
  figure.append(link, caption);
  return figure;
}

element<HTMLFormElement>('credentials').onsubmit = (event) => {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement);
  const credentials = { email: form.get('email') as string, password: form.get('password') as string };
  const isNew = (event.submitter as HTMLButtonElement).value === 'signup';
  void run(async () => {
    const { data, error } = isNew
      ? await plinth.auth.signUp(credentials)
      : await plinth.auth.signInWithPassword(credentials);
    if (error) throw error;
    // A project may require a verified address.
    if (!data.session) throw new Error('Follow the link in the mail, then sign in.');
    await start();
  });
};
element<HTMLInputElement>('files').onchange = (event) => {
  const input = event.target as HTMLInputElement;
  const progress = element<HTMLProgressElement>('progress');
  void run(async () => {
    const user = await folder();
    progress.hidden = false;
    try {
      for (const file of input.files ?? []) {
        await upload(file, `${user}/${file.name}`, (share) => (progress.value = share));
      }
    } finally {
      progress.hidden = true;
      input.value = '';
      await start();
    }
  });
};
element('more').onclick = () => run(async () => showMore((await folder())!));
element('sign-out').onclick = () =>
  run(async () => {
    await plinth.auth.signOut();
    await start();
  });
void run(start);
