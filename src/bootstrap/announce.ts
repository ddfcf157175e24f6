/** What Plinth prints when it serves: where it is, and on the first start three lines to paste. */
import { ServerConfig } from '../config/app-config';
import { Project } from '../projects/project';
import { ANON_ROLE, projectKey, SERVICE_ROLE } from '../projects/project-keys';

/** @param demo the demo project when this start created it */
export function announcement(server: ServerConfig, demo: Project | null): string {
  const base = server.publicUrl;
  const head = `\nPlinth serves on ${base}\n  API documentation   ${base}/docs\n`;
  return demo
    ? `${head}${demoText(base, demo)}`
    : `${head}  Keys of a project   npm run plinth -- project keys <slug>\n`;
}

function demoText(base: string, demo: Project): string {
  const anon = projectKey(demo, demo.secrets[0], ANON_ROLE);
  const service = projectKey(demo, demo.secrets[0], SERVICE_ROLE);
  return `
A project "${demo.slug}" was created, with tables todos and announcements and a bucket files.
  Project id          ${demo.id}
  anon key            ${anon}
  service_role key    ${service}   (secret: bypasses row-level security)

Paste these lines into a shell. They sign a user up, write and read rows of that user, and share a file:

${tourLines(base, demo, anon).join('\n\n')}

`;
}

/** Each line stands alone but for TOKEN, which the first one sets. */
export function tourLines(base: string, demo: Pick<Project, 'id' | 'slug'>, anonKey: string): string[] {
  const json = `-H 'Content-Type: application/json'`;
  const user = `-H "apikey: ${anonKey}" -H "Authorization: Bearer $TOKEN"`;
  const storage = `${base}/p/${demo.slug}/storage`;
  return [
    `TOKEN=$(curl -s ${base}/v1/auth/${demo.id}/signup -H "apikey: ${anonKey}" ${json} -d '{"email":"ada-'$RANDOM$RANDOM'@example.com","password":"correct horse"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'); echo "$TOKEN"`,
    `curl -s ${base}/rest/v1/todos ${user} ${json} -d '{"title":"Try Plinth"}'; echo; curl -s "${base}/rest/v1/todos?done=is.false&select=id,title" ${user}; echo`,
    `FILE=$(echo 'Hello from Plinth' | curl -s ${storage}/buckets/files/upload ${user} -F 'file=@-;filename=hello-'$RANDOM$RANDOM'.txt' | sed 's/.*"data":{"id":"\\([^"]*\\)".*/\\1/'); curl -s ${storage}/files/$FILE/signed-url ${user} ${json} -d '{"expiry":"1h"}' | sed 's/.*"url":"\\([^"]*\\)".*/\\1/' | tee /dev/stderr | xargs curl -s`,
  ];
}
