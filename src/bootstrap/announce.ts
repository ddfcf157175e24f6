/** The output of a started server: its address, and on the first start three commands to paste. */
import { ServerConfig } from '../config/app-config';
import { PRODUCT } from '../config/product';
import { Project } from '../projects/project';
import { ANON_ROLE, projectKey } from '../projects/project-keys';
import type { DemoProject } from './demo-project';

/**
 * @param demo the demo project if this start created it
 * @param setupLink the link to create the first owner; null if an owner exists
 */
export function announcement(
  server: ServerConfig,
  demo: DemoProject | null,
  setupLink: string | null,
): string {
  const base = server.publicUrl;
  const owner =
    setupLink === null
      ? ''
      : `  First owner         ${setupLink}\n                      (works once, for a day; ${PRODUCT.commandLine} setup-link makes another one)\n`;
  const head = `\nPlinth serves on ${base}\n  Console             ${base}/console\n  API documentation   ${base}/docs\n${owner}`;
  return demo
    ? `${head}${demoText(base, demo)}`
    : `${head}  Keys of a project   ${PRODUCT.commandLine} project keys <slug>\n`;
}

function demoText(base: string, { project: demo, serviceKeyFile }: DemoProject): string {
  const anon = projectKey(demo, demo.secrets[0], ANON_ROLE);
  return `
A project "${demo.slug}" was created, with tables todos and announcements and a bucket files.
  Project id          ${demo.id}
  anon key            ${anon}
  service_role key    in ${serviceKeyFile} (secret: it bypasses row-level security)

Paste these lines into a shell. They sign a user up, write and read rows of that user, and share a file:

${tourLines(base, demo, anon).join('\n\n')}

`;
}

/** A text that is different each time the lines are pasted, in any POSIX shell; not all of them have `$RANDOM`. */
const UNIQUE = '$(date +%s)$$';

/** The first line sets KEY and TOKEN for the others. It uses `sed`, because not every machine has a JSON tool. */
function tourLines(base: string, demo: Pick<Project, 'id' | 'slug'>, anonKey: string): string[] {
  const json = `-H 'Content-Type: application/json'`;
  const user = `-H "apikey: $KEY" -H "Authorization: Bearer $TOKEN"`;
  const storage = `${base}/p/${demo.slug}/storage`;
  return [
    `KEY=${anonKey}; TOKEN=$(curl -s ${base}/v1/auth/${demo.id}/signup -H "apikey: $KEY" ${json} -d '{"email":"ada-'${UNIQUE}'@example.com","password":"correct horse"}' | ${field('access_token')}); echo "signed up: $TOKEN"`,
    `curl -s ${base}/rest/v1/todos ${user} ${json} -d '{"title":"Try Plinth"}'; echo; curl -s "${base}/rest/v1/todos?done=is.false&select=id,title" ${user}; echo`,
    `FILE=$(echo 'Hello from Plinth' | curl -s ${storage}/buckets/files/upload ${user} -F 'file=@-;filename=hello-'${UNIQUE}'.txt' | ${field('id')}); URL=$(curl -s ${storage}/files/$FILE/signed-url ${user} ${json} -d '{"expiry":"1h"}' | ${field('url')}); echo "shared: $URL"; curl -s "$URL"`,
  ];
}

/** A shell filter that prints the member with that name; the quotes distinguish `id` from `bucket_id`. */
function field(name: string): string {
  return `sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/'`;
}
