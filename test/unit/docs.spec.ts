/** Compares the documentation with the product. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { runCli } from '../../src/cli/run-cli';
import { EnvironmentVariables } from '../../src/config/env.schema';
import { DEFAULT_SETTINGS } from '../../src/projects/project-settings';
import { savedLogins } from '../../src/config/saved-logins';
import { cliEnvironment } from '../support/cli-environment';

const ROOT = join(__dirname, '../..');

/** All text files that readers of the repository see. */
function texts(): [file: string, text: string][] {
  const files = readdirSync(ROOT).filter((name) => /^(README|CHANGELOG).md$|^\.env\.example$/.test(name));
  for (const folder of ['bench', 'deploy', 'docker', 'docs', 'migrations', 'scripts', 'src']) {
    const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
    files.push(...entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name)));
  }
  return files.map((file) => [
    relative(ROOT, resolve(ROOT, file)),
    readFileSync(resolve(ROOT, file), 'utf8'),
  ]);
}

it('no text runs the command line by an npm package name that somebody else owns', () => {
  const wrong = texts().filter(([, text]) => /npx +(-\S+ +)*plinth/.test(text));
  expect(wrong.map(([file]) => file)).toEqual([]);
});

/** Names of the pages in a folder. */
const markdown = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.md'),
  );

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const sorted = (names: Iterable<string | undefined>): (string | undefined)[] => [...new Set(names)].sort();

describe('links', () => {
  const pages = ['README.md', ...markdown('docs').map((page) => `docs/${page}`)];

  /** The anchors that GitHub generates for headings. */
  function anchorsOf(page: string): string[] {
    return [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    );
  }

  it.each(pages)('of %s have a target', (page) => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
    const dead = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), file));
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(dead).toEqual([]);
  });

  it.each(pages)('paths named in %s exist', (page) => {
    const folders = 'bench|deploy|docker|docs|migrations|scripts|src|test';
    const paths = [...read(page).matchAll(new RegExp(`\`((?:${folders})/[\\w./-]+)`, 'g'))].map(
      ([, path]) => path,
    );
    // Readers of docs/guides/containers.md create docker/.env, and files that a guide shows are in the reader's folder.
    const shown = [...read(page).matchAll(/^```\w+ (\S+)$/gm)].map(([, file]) => file);
    const missing = paths.filter(
      (path = '') => path !== 'docker/.env' && !shown.includes(path) && !existsSync(join(ROOT, path)),
    );
    expect(missing).toEqual([]);
  });

  it('of docs/README.md include every page', () => {
    const index = read('docs/README.md');
    const missing = pages.slice(1).filter((page) => !index.includes(`](${page.slice('docs/'.length)})`));
    expect(missing).toEqual(['docs/README.md']);
  });
});

it.each(markdown('docs/guides'))('docs/guides/%s begins with the result', (page) => {
  expect(read(`docs/guides/${page}`).split('\n')[2]).toMatch(/^At the end/);
});

it('README.md has at most 700 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(700);
});

describe('docs/reference/administration.md', () => {
  const page = read('docs/reference/administration.md');

  it('explains exactly the settings of a project, with their defaults', () => {
    const table = page.slice(page.indexOf('| Setting | Default |'), page.indexOf('### Audit log'));
    const rows = [...table.matchAll(/^\| (`[a-z].*?) \| (.*?) \|/gm)];
    const defaults = new Map(
      rows.flatMap(([, names = '', value = '']) =>
        [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name, value.replaceAll('`', '')] as const),
      ),
    );
    expect(sorted(defaults.keys())).toEqual(sorted(Object.keys(DEFAULT_SETTINGS)));
    for (const [name, value] of Object.entries(DEFAULT_SETTINGS) as [string, unknown][]) {
      if (['boolean', 'number', 'string'].includes(typeof value))
        expect([name, defaults.get(name)]).toEqual([name, String(value)]);
    }
  });

  it('names every action of the audit log', () => {
    const actions = texts()
      .filter(([file]) => file.startsWith('src/'))
      .flatMap(([, text]) => [...text.matchAll(/(?:action: |entryFor\()'(project\.[a-z.]+)'/g)]);
    expect(actions.length).toBeGreaterThan(5);
    expect(
      sorted(actions.map(([, action]) => action)).filter((action) => !page.includes(`\`${action}\``)),
    ).toEqual([]);
  });

  it('calls every command of the command line, each as it can be called', async () => {
    const examples = [...page.matchAll(/^plinth (.+?)(?: +#.*)?$/gm)].map(([, line = '']) => line);
    const reachServer = 'the server is asked';
    for (const line of examples) {
      const args = (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'(.*)'$/, '$1'));
      const { code, err } = await runWithoutServer(args, reachServer);
      const isRun = code === 0 || err.includes(reachServer) || err.includes('no such file');
      expect([line, code, isRun]).toEqual([line, code, true]);
    }
    for (const group of ['', 'project', 'storage']) {
      const { out } = await runWithoutServer([...group.split(' ').filter(Boolean), '--help'], reachServer);
      const commands = [...(out.split('Commands:')[1] ?? '').matchAll(/^ {2}([a-z0-9-]+)/gm)].map(
        ([, name]) => name,
      );
      const missing = commands.filter(
        (name) =>
          name !== 'help' && !examples.some((line) => `${line} `.startsWith(`${group} ${name} `.trimStart())),
      );
      expect([group, missing]).toEqual([group, []]);
    }
  });
});

async function runWithoutServer(
  args: string[],
  message: string,
): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const code = await runCli(
    args,
    cliEnvironment({
      connect: () => {
        throw new Error(message);
      },
      signIn: {
        server: () => {
          throw new Error(message);
        },
        logins: () => savedLogins({ XDG_CONFIG_HOME: '/nonexistent' }),
        ask: async () => '',
      },
      passphrase: () => 'a passphrase for the test',
      out: (text) => void (out += text),
      err: (text) => void (err += text),
    }),
  );
  return { code, out, err };
}

describe.each(['compose.yml', 'compose.single.yml', 'compose.cluster.yml'])('docker/%s', (file) => {
  const compose = read(`docker/${file}`);

  it('uses only variables that docs/guides/containers.md lists', () => {
    const variables = [...compose.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    const listed = [...read('docs/guides/containers.md').matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(
      ([, names]) => [...(names ?? '').matchAll(/\w+/g)].map(([name]) => name),
    );
    expect(listed).toEqual(expect.arrayContaining(variables));
  });

  it('sets only variables that Plinth knows', () => {
    const environment = /^ {4}environment:\n((?: {6}.*\n)+)/m.exec(compose)?.[1] ?? '';
    const names = [...environment.matchAll(/^ {6}(\w+):/gm)].map(([, name]) => name as string);
    expect(names).toContain('PUBLIC_URL');
    expect(Object.keys(new EnvironmentVariables())).toEqual(expect.arrayContaining(names));
  });
});

describe('deploy/', () => {
  it('sets only variables in Kubernetes that Plinth knows', () => {
    const replicas = read('deploy/kubernetes/replicas.yaml');
    const data = /^data:\n((?: {2}.*\n)+)/m.exec(replicas)?.[1] ?? '';
    const names = [
      ...[...data.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name),
      ...[...replicas.matchAll(/--from-literal=(\w+)/g)].map(([, name]) => name),
      ...[...read('deploy/kubernetes/single.yaml').matchAll(/- \{ name: ([A-Z_]+),/g)].map(
        ([, name]) => name,
      ),
    ];
    expect(names).toEqual(expect.arrayContaining(['PUBLIC_URL', 'MASTER_KEY', 'TRUST_PROXY']));
    // AWS's client reads its credentials itself.
    const known = [...Object.keys(new EnvironmentVariables()), 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
    expect(known).toEqual(expect.arrayContaining(names));
  });

  it('starts the program that the image starts', () => {
    const [, command] = /^CMD \[(.*)\]$/m.exec(read('docker/Dockerfile')) ?? [];
    const words = [...(command ?? '').matchAll(/"([^"]+)"/g)].map(([, word]) => word).join(' ');
    expect(words).toMatch(/^node .*dist\/src\/main\.js$/);
    expect(read('deploy/systemd/plinth.service')).toContain(
      `ExecStart=/usr/bin/env ${words.replace('dist/', '/opt/plinth/dist/')}\n`,
    );
    expect(read('scripts/release.mjs')).toContain(`exec ${words}`);
  });
});
