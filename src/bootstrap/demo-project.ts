/** The project `demo`, which the first start creates for trying out Plinth. */
import type { INestApplicationContext } from '@nestjs/common';
import { join } from 'node:path';
import { APP_CONFIG, AppConfig } from '../config/app-config';
import { writeSecret } from '../config/secret-file';
import { OwnerDatabase } from '../projects/owner-database';
import { PlatformMetadataRepository } from '../install/platform-metadata.repository';
import { Project } from '../projects/project';
import { projectKey, SERVICE_ROLE } from '../projects/project-keys';
import { ProjectRegistry } from '../projects/project-registry.service';
import { ProjectsService } from '../projects/projects.service';

const DEMO_SLUG = 'demo';
const FIRST_START = 'first_start';

/** Idempotent: if the process is killed, the next start completes the project. */
const DEMO_SCHEMA = `
  create table if not exists public.todos (
    id bigint generated always as identity primary key,
    user_id uuid not null default auth.uid(),
    title text not null check (length(title) between 1 and 200),
    done boolean not null default false,
    created_at timestamptz not null default now()
  );
  create index if not exists todos_user_id on public.todos (user_id);
  drop policy if exists "a user manages own todos" on public.todos;
  create policy "a user manages own todos" on public.todos to authenticated
    using (user_id = (select auth.uid())) with check (user_id = (select auth.uid()));

  create table if not exists public.announcements (
    id bigint generated always as identity primary key,
    text text not null
  );
  drop policy if exists "anyone can read announcements" on public.announcements;
  create policy "anyone can read announcements" on public.announcements for select to anon, authenticated using (true);
  insert into public.announcements (text)
    select 'Welcome to Plinth' where not exists (select from public.announcements);

  insert into storage.buckets (name, slug, description)
    values ('files', 'files', 'A project bucket: every signed-in user may upload') on conflict do nothing;
`;

/** The demo project, as the first start prints it. */
export interface DemoProject {
  readonly project: Project;
  /** File in the data directory that holds the service-role key, mode 0600. */
  readonly serviceKeyFile: string;
}

/**
 * Creates the demo project, only once in an installation: if the project was deleted, it is not created again.
 * @returns the project if this call created it, else null
 */
export async function createDemoOnFirstStart(app: INestApplicationContext): Promise<DemoProject | null> {
  return app.get(PlatformMetadataRepository).once(FIRST_START, () => createDemo(app));
}

async function createDemo(app: INestApplicationContext): Promise<DemoProject> {
  const projects = app.get(ProjectsService);
  const existing = await app.get(ProjectRegistry).findBySlug(DEMO_SLUG);
  const project = existing ?? (await projects.create({ name: 'Demo', slug: DEMO_SLUG }));
  await app
    .get(OwnerDatabase)
    .use(await projects.get(project.id), 'the example schema of the first start', (client) =>
      client.query(DEMO_SCHEMA),
    );
  const { dataDir } = app.get<AppConfig>(APP_CONFIG);
  const serviceKeyFile = join(dataDir, 'demo-service-role-key');
  // Not printed to standard output, which ends up in logs.
  writeSecret(serviceKeyFile, projectKey(project, project.secrets[0], SERVICE_ROLE));
  return { project, serviceKeyFile };
}
