/** Webhooks of a project, their queue, and the trigger function that writes it in the transaction of the change. */
export const WEBHOOKS = `
  create schema if not exists hooks;
  revoke all on schema hooks from public;
  grant usage on schema hooks to service_role;

  -- Kept by the administration, which runs as the owner. Triggers of the tables have the id as their argument.
  create table if not exists hooks.webhooks (
    id uuid primary key,
    -- Null for events of auth and storage, and for hooks.http_post().
    table_schema text,
    table_name text,
    events text[] not null,
    columns text[],
    condition text,
    -- Null: hooks.http_post() names it.
    url text,
    enabled boolean not null default true,
    -- AES-256-GCM under the secret of the project's data.
    sealed_secrets bytea not null,
    -- Since when the receiver has not accepted anything.
    failing_since timestamptz,
    created_at timestamptz not null default pg_catalog.now(),
    updated_at timestamptz not null default pg_catalog.now()
  );

  -- No foreign key to webhooks: each change of a table would lock the webhook's row.
  create table if not exists hooks.deliveries (
    id uuid primary key default pg_catalog.gen_random_uuid(),
    seq bigint generated always as identity,
    webhook_id uuid not null,
    -- What one receiver's slowness delays: the webhook, or the server that hooks.http_post() names.
    lane uuid not null,
    -- Deliveries of a lane with the same key are sent in the order of seq.
    key bigint not null,
    event text not null,
    payload text not null,
    -- Of hooks.http_post().
    url text,
    headers jsonb,
    created_at timestamptz not null default pg_catalog.now(),
    state text not null default 'waiting' check (state in ('waiting', 'delivered', 'failed')),
    attempts integer not null default 0,
    first_attempt_at timestamptz,
    next_attempt_at timestamptz not null default '-infinity',
    finished_at timestamptz
  );
  create index if not exists deliveries_of_webhook on hooks.deliveries (webhook_id, seq);
  create index if not exists deliveries_due on hooks.deliveries (lane, next_attempt_at, seq) where state = 'waiting';
  create index if not exists deliveries_in_order on hooks.deliveries (lane, key, seq) where state = 'waiting';
  create index if not exists deliveries_finished on hooks.deliveries (state, finished_at) where finished_at is not null;

  create table if not exists hooks.attempts (
    delivery_id uuid not null references hooks.deliveries on delete cascade,
    number integer not null,
    at timestamptz not null,
    duration_ms integer not null,
    -- Null without an answer.
    status integer,
    error text,
    answer text,
    primary key (delivery_id, number)
  );

  alter table hooks.webhooks enable row level security;
  alter table hooks.deliveries enable row level security;
  alter table hooks.attempts enable row level security;
  grant select, update (failing_since) on hooks.webhooks to service_role;
  grant select, insert, update, delete on hooks.deliveries, hooks.attempts to service_role;

  -- Arguments: the webhook, the event, the columns of the key as a JSON array, and for events of auth and storage the columns that
  -- are told. A row of more than 256 KiB is told by its key.
  create or replace function hooks.enqueue() returns trigger
    language plpgsql security definer set search_path = '' as $$
  declare
    fresh jsonb := pg_catalog.to_jsonb(new);
    former jsonb := pg_catalog.to_jsonb(old);
    row_key jsonb;
    body jsonb;
  begin
    select pg_catalog.jsonb_object_agg(k.name, coalesce(former, fresh) operator(pg_catalog.->) k.name) into row_key
      from pg_catalog.jsonb_array_elements_text(tg_argv[2]::jsonb) k(name);
    if tg_nargs > 3 then
      select pg_catalog.jsonb_object_agg(c.name, coalesce(fresh, former) operator(pg_catalog.->) c.name) into fresh
        from pg_catalog.jsonb_array_elements_text(tg_argv[3]::jsonb) c(name);
      body := pg_catalog.jsonb_build_object('type', tg_argv[1], 'timestamp', pg_catalog.now(), 'record', fresh);
    else
      body := pg_catalog.jsonb_build_object('type', tg_argv[1], 'timestamp', pg_catalog.now(), 'schema', tg_table_schema,
        'table', tg_table_name, 'record', fresh, 'old_record', former);
    end if;
    if pg_catalog.octet_length(body::text) > 262144 then
      body := body operator(pg_catalog.||) pg_catalog.jsonb_build_object('truncated', true,
        'record', case when tg_op <> 'DELETE' or tg_nargs > 3 then coalesce(row_key, '{}') end,
        'old_record', case when tg_op <> 'INSERT' then coalesce(row_key, '{}') end);
    end if;
    insert into hooks.deliveries (webhook_id, lane, key, event, payload)
      values (tg_argv[0]::uuid, tg_argv[0]::uuid, coalesce(pg_catalog.hashtextextended(row_key::text, 0), 0), tg_argv[1], body::text);
    perform pg_catalog.pg_notify('plinth_hooks', '');
    return null;
  end $$;
  revoke all on function hooks.enqueue() from public;

  -- Sends a request when the transaction commits, signed with the secret of the webhook whose event is http_post. Requests to the
  -- same server with the same key are sent in order.
  create or replace function hooks.http_post(url text, body jsonb, headers jsonb default '{}', key text default null)
    returns uuid language plpgsql security definer set search_path = '' as $$
  declare
    message uuid := pg_catalog.gen_random_uuid();
    sender uuid;
  begin
    select w.id into sender from hooks.webhooks w where w.events = array['http_post'] and w.enabled
      order by w.created_at limit 1;
    if sender is null then
      raise exception 'hooks.http_post() needs a webhook with the event http_post' using errcode = '55000';
    end if;
    if url is null or url !~ '^https?://[^/?#]+' or pg_catalog.length(url) > 2048
      or body is null or pg_catalog.octet_length(body::text) > 262144
      or pg_catalog.jsonb_typeof(headers) is distinct from 'object' or pg_catalog.octet_length(headers::text) > 8192 then
      raise exception 'hooks.http_post() takes an http or https address, a body of at most 256 KiB and an object of headers'
        using errcode = '22023';
    end if;
    insert into hooks.deliveries (id, webhook_id, lane, key, event, payload, url, headers)
      values (message, sender,
        pg_catalog.md5(sender::text operator(pg_catalog.||) pg_catalog.lower(pg_catalog.substring(url, '^https?://[^/?#]+')))::uuid,
        pg_catalog.hashtextextended(coalesce(key, message::text), 0), 'http_post', body::text, url, headers);
    perform pg_catalog.pg_notify('plinth_hooks', '');
    return message;
  end $$;
  revoke all on function hooks.http_post(text, jsonb, jsonb, text) from public;
  grant execute on function hooks.http_post(text, jsonb, jsonb, text) to service_role;
`;
