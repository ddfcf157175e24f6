-- Messages of a chat. The server fills in author, name and time: clients write the room and the text only.
create table messages (
  id bigint generated always as identity primary key,
  room text not null check (length(room) between 1 and 60),
  text text not null check (length(text) between 1 and 2000),
  author_id uuid not null default auth.uid(),
  name text not null default coalesce(auth.jwt() -> 'user_metadata' ->> 'name', 'Somebody') check (length(name) <= 60),
  sent_at timestamptz not null default now()
);
create index on messages (room, id);

revoke insert, update on messages from anon, authenticated;
grant insert (room, text) on messages to authenticated;
create policy "users read" on messages for select to authenticated using (true);
create policy "users write" on messages for insert to authenticated with check (author_id = (select auth.uid()));
create policy "authors delete" on messages for delete to authenticated using (author_id = (select auth.uid()));

-- Clients are told of new messages.
create publication supabase_realtime for table messages;

-- Who is here, and who is writing: presence and broadcast of the private channels room:<name>.
create policy "users follow rooms" on realtime.messages for select to authenticated
  using (realtime.topic() like 'room:%');
create policy "users take part in rooms" on realtime.messages for insert to authenticated
  with check (realtime.topic() like 'room:%');
