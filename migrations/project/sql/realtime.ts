/** Names and signatures are Supabase's, so that policies and triggers move over as they are (docs/reference/realtime.md). */
export const REALTIME = `
  create schema if not exists realtime;
  grant usage on schema realtime to anon, authenticated, service_role;

  -- Messages that SQL sends, kept for three days. Policies for select decide who receives from a private channel, those for
  -- insert who sends to it. Messages of clients pass without a row.
  create table if not exists realtime.messages (
    id uuid primary key default pg_catalog.gen_random_uuid(),
    topic text not null,
    extension text not null,
    event text,
    payload jsonb,
    private boolean default false,
    inserted_at timestamptz not null default pg_catalog.clock_timestamp(),
    updated_at timestamptz not null default pg_catalog.now()
  );
  create index if not exists messages_inserted_at on realtime.messages (inserted_at);
  create index if not exists messages_replay on realtime.messages (topic, inserted_at) where private;
  alter table realtime.messages enable row level security;
  grant select, insert on realtime.messages to anon, authenticated, service_role;

  -- The channel that a policy decides about.
  create or replace function realtime.topic() returns text language sql stable
    as $$ select nullif(pg_catalog.current_setting('realtime.topic', true), '') $$;

  -- A notification has less than 8,000 bytes, so it names the rows by their ids. One insert of a hundred also removes old rows.
  create or replace function realtime.announce_messages() returns trigger
    language plpgsql security definer set search_path = '' as $$
  begin
    perform pg_catalog.pg_notify('plinth_realtime', pg_catalog.string_agg(numbered.id::text, ',' order by numbered.n))
      from (select id, pg_catalog.row_number() over () as n from added where extension = 'broadcast') numbered
      group by (numbered.n - 1) / 200 order by (numbered.n - 1) / 200;
    if pg_catalog.random() < 0.01 then
      delete from realtime.messages where id in (
        select id from realtime.messages where inserted_at < pg_catalog.now() - interval '3 days'
          order by inserted_at limit 1000 for update skip locked);
    end if;
    return null;
  end $$;
  drop trigger if exists announce_messages on realtime.messages;
  create trigger announce_messages after insert on realtime.messages referencing new table as added
    for each statement execute function realtime.announce_messages();

  -- Sends to the clients in a channel when the transaction commits. A message that cannot be sent is a warning: a trigger that
  -- sends does not fail the change that it reports.
  create or replace function realtime.send(payload jsonb, event text, topic text, private boolean default true)
    returns void language plpgsql as $$
  declare
    message_id uuid := pg_catalog.gen_random_uuid();
  begin
    perform pg_catalog.set_config('realtime.topic', send.topic, true);
    insert into realtime.messages (id, topic, extension, event, payload, private)
      values (message_id, send.topic, 'broadcast', send.event,
        case when pg_catalog.jsonb_typeof(send.payload) = 'object'
          then pg_catalog.jsonb_build_object('id', message_id) operator(pg_catalog.||) send.payload
          else send.payload end,
        send.private);
  exception when others then
    raise warning 'the message was not sent: %', sqlerrm;
  end $$;

  -- For triggers: sends a changed row.
  create or replace function realtime.broadcast_changes(topic_name text, event_name text, operation text, table_name text,
    table_schema text, new record, old record, level text default 'ROW') returns void language plpgsql as $$
  begin
    if level = 'STATEMENT' then
      raise exception 'broadcast_changes is called by triggers for each row';
    end if;
    perform realtime.send(
      pg_catalog.jsonb_build_object('old_record', old, 'record', new, 'operation', operation, 'table', table_name,
        'schema', table_schema),
      event_name, topic_name);
  end $$;

  -- What the caller may do in a channel, by the policies: each is tried with a row, and undone. The names of variables cannot be
  -- those of columns.
  create or replace function realtime.channel_rights(channel text, caller text) returns text[] language plpgsql as $$
  declare
    rights text[] := '{}';
    found_rights text[];
    probes uuid[] := array[pg_catalog.gen_random_uuid(), pg_catalog.gen_random_uuid()];
    kind text;
  begin
    perform pg_catalog.set_config('realtime.topic', channel, true);
    begin
      perform pg_catalog.set_config('role', 'service_role', true);
      insert into realtime.messages (id, topic, extension, private, payload, event)
        values (probes[1], channel, 'broadcast', true, '{}', ''), (probes[2], channel, 'presence', true, '{}', '');
      perform pg_catalog.set_config('role', caller, true);
      select pg_catalog.array_agg('select ' operator(pg_catalog.||) m.extension) into found_rights
        from realtime.messages m where m.id = any (probes);
      rights := rights operator(pg_catalog.||) coalesce(found_rights, '{}');
      raise exception using errcode = 'PLUND';
    exception when sqlstate 'PLUND' or insufficient_privilege then
      null;
    end;
    foreach kind in array array['broadcast', 'presence'] loop
      begin
        insert into realtime.messages (topic, extension, private, payload, event) values (channel, kind, true, '{}', '');
        rights := rights operator(pg_catalog.||) array['insert ' operator(pg_catalog.||) kind];
        raise exception using errcode = 'PLUND';
      exception when sqlstate 'PLUND' or insufficient_privilege then
        null;
      end;
    end loop;
    return rights;
  end $$;
`;
