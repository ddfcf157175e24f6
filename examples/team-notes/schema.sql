-- Teams with owners, editors and viewers. docs/guides/policies.md explains each policy.
create table teams (
  id uuid primary key default gen_random_uuid(),
  name text not null check (length(name) between 1 and 100)
);
create table members (
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null,
  email text not null,
  role text not null check (role in ('owner', 'editor', 'viewer')),
  primary key (team_id, user_id)
);
create index on members (user_id);
create table notes (
  id bigint generated always as identity primary key,
  team_id uuid not null references teams on delete cascade,
  text text not null check (length(text) between 1 and 2000),
  updated_at timestamptz not null default now()
);
create index on notes (team_id);
create table invitations (
  code uuid primary key default gen_random_uuid(),
  team_id uuid not null references teams on delete cascade,
  role text not null check (role in ('editor', 'viewer')),
  expires_at timestamptz not null default now() + interval '7 days'
);
create index on invitations (team_id);

-- In a schema that is not served over HTTP. Security definer: a policy on members that read members would never end.
create schema private;
grant usage on schema private to authenticated;
create function private.my_teams(roles text[] default array['owner', 'editor', 'viewer']) returns setof uuid
  language sql stable security definer set search_path = ''
  as $$ select team_id from public.members where user_id = auth.uid() and role = any (roles) $$;

create policy "members see their teams" on teams for select to authenticated
  using (id in (select private.my_teams()));
create policy "owners delete teams" on teams for delete to authenticated
  using (id in (select private.my_teams(array['owner'])));

create policy "members see each other" on members for select to authenticated
  using (team_id in (select private.my_teams()));
-- Of a membership, only the role can be changed. Rows are added by the two functions below.
revoke insert, update on members from anon, authenticated;
grant update (role) on members to authenticated;
create policy "owners change the roles of others" on members for update to authenticated
  using (team_id in (select private.my_teams(array['owner'])) and user_id <> (select auth.uid()));
create policy "owners remove others, and members leave" on members for delete to authenticated
  using (case when user_id = (select auth.uid()) then role <> 'owner'
         else team_id in (select private.my_teams(array['owner'])) end);

create policy "members read" on notes for select to authenticated
  using (team_id in (select private.my_teams()));
create policy "editors write" on notes to authenticated
  using (team_id in (select private.my_teams(array['owner', 'editor'])));

create policy "owners manage invitations" on invitations to authenticated
  using (team_id in (select private.my_teams(array['owner'])));

create function create_team(team_name text) returns uuid
  language plpgsql security definer set search_path = ''
  as $$
  declare team uuid;
  begin
    insert into public.teams (name) values (team_name) returning id into team;
    insert into public.members values (team, auth.uid(), auth.jwt() ->> 'email', 'owner');
    return team;
  end $$;
create function accept_invitation(invitation uuid) returns uuid
  language plpgsql security definer set search_path = ''
  as $$
  declare accepted public.invitations;
  begin
    delete from public.invitations where code = invitation and expires_at > now() returning * into accepted;
    if accepted.code is null then
      raise exception 'This invitation is not valid any more' using errcode = 'P0001';
    end if;
    insert into public.members values (accepted.team_id, auth.uid(), auth.jwt() ->> 'email', accepted.role)
      on conflict do nothing;
    return accepted.team_id;
  end $$;
revoke execute on function create_team, accept_invitation from public, anon;
grant execute on function create_team, accept_invitation to authenticated;
