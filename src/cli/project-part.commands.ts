/** `plinth webhooks`, `plinth schedules`, `plinth s3-keys` and `plinth api-keys`: parts of a project. */
import { table } from './command-context';
import { type Commands, operation, separated, wholeNumber } from './operation';

/** Ten years, as the server allows. */
const MAX_DAYS = 3_650;
const PROJECT = '/admin/v1/projects/{id}';
const WEBHOOK = `${PROJECT}/webhooks/{webhook_id}` as const;
const SCHEDULE = `${PROJECT}/schedules/{schedule_id}` as const;

export const WEBHOOK_COMMANDS: Commands = {
  'list <project>': operation(`GET ${PROJECT}/webhooks`, 'list the webhooks of a project', {
    text: (webhooks) =>
      table(
        webhooks.map(({ id, schema, table: name, events, url, enabled, failing_since }) => {
          const source = name === null ? '' : `${String(schema)}.${name}`;
          return { id, table: source, events: events.join(), url, enabled, failing_since };
        }),
      ),
  }),
  'create <project>': operation(`POST ${PROJECT}/webhooks`, 'create a webhook, and print its secret', {
    options: {
      events: [
        '--events <events>',
        'separated by commas',
        (option) => option.argParser(separated).makeOptionMandatory(),
      ],
      table: ['--table <table>', 'for INSERT, UPDATE and DELETE'],
      schema: ['--schema <schema>', 'of the table; default: public'],
      columns: [
        '--columns <columns>',
        'separated by commas; an UPDATE of only other columns is not delivered',
        (option) => option.argParser(separated),
      ],
      condition: ['--condition <sql>', 'about new and old'],
      url: ['--url <url>', 'that gets the requests'],
      secret: ['--secret <secret>', 'whsec_ and base64; default: a new one'],
    },
  }),
  'update <project> <webhook>': operation(`PATCH ${WEBHOOK}`, 'change a webhook', {
    options: {
      url: ['--url <url>', 'that gets the requests'],
      enabled: [
        '--enabled <boolean>',
        'true or false',
        (option) => option.argParser((text) => text === 'true'),
      ],
    },
  }),
  'rotate-secret <project> <webhook>': operation(
    `POST ${WEBHOOK}/secret`,
    'give a webhook another secret; the old one signs too for a day',
    { options: { secret: ['--secret <secret>', 'whsec_ and base64; default: a new one'] } },
  ),
  'delete <project> <webhook>': operation(`DELETE ${WEBHOOK}`, 'delete a webhook and its deliveries', {
    result: ({ webhook }) => ({ deleted: webhook }),
    text: (_answer, { webhook }) => `Webhook ${webhook} is deleted.\n`,
  }),
  'deliveries <project> <webhook>': operation(
    `GET ${WEBHOOK}/deliveries`,
    'list the deliveries of a webhook, the newest first',
    {
      options: {
        state: ['--state <state>', '', (option) => option.choices(['waiting', 'delivered', 'failed'])],
        limit: ['--limit <number>', 'deliveries to list', (option) => option.default('50')],
      },
    },
  ),
  'send-again <project> <webhook> <delivery>': operation(
    `POST ${WEBHOOK}/deliveries/{delivery_id}/retry`,
    'send a delivery again that failed or was delivered',
    {
      result: ({ delivery }) => ({ queued: delivery }),
      text: (_answer, { delivery }) => `Delivery ${delivery} is queued.\n`,
    },
  ),
};

export const SCHEDULE_COMMANDS: Commands = {
  'list <project>': operation(`GET ${PROJECT}/schedules`, 'list the schedules of a project', {
    columns: ['id', 'name', 'cron', 'time_zone', 'enabled'],
  }),
  'create <project>': operation(`POST ${PROJECT}/schedules`, 'create a schedule', {
    options: {
      name: ['--name <name>', 'unique in the project', (option) => option.makeOptionMandatory()],
      cron: ['--cron <expression>', 'five fields as in crontab', (option) => option.makeOptionMandatory()],
      time_zone: ['--time-zone <name>', 'such as Europe/Berlin; default: UTC'],
      sql: ['--sql <sql>', 'runs as the owner'],
      url: ['--url <url>', 'gets a request, in place of SQL'],
      body: ['--body <json>', 'of the request'],
    },
  }),
  'delete <project> <schedule>': operation(`DELETE ${SCHEDULE}`, 'delete a schedule and its history', {
    result: ({ schedule }) => ({ deleted: schedule }),
    text: (_answer, { schedule }) => `Schedule ${schedule} is deleted.\n`,
  }),
  'runs <project> <schedule>': operation(
    `GET ${SCHEDULE}/runs`,
    'list the runs of a schedule, the newest first',
    {
      options: { limit: ['--limit <number>', 'runs to list', (option) => option.default('20')] },
      text: (runs) => table(runs.map(({ id: _id, ...run }) => run)),
    },
  ),
};

export const S3_KEY_COMMANDS: Commands = {
  'list <project>': operation(`GET ${PROJECT}/s3-keys`, 'list the S3 keys of a project'),
  'create <project>': operation(`POST ${PROJECT}/s3-keys`, 'create an S3 key, and print its secret', {
    options: {
      name: ['--name <name>', 'what the key is for'],
      user_id: ['--user <id>', 'whose rights requests have; default: those of the service-role key'],
      bucket: ['--bucket <bucket>', 'the only bucket that the key reaches; default: all'],
      read_only: ['--read-only', 'the key may only read'],
    },
  }),
  'delete <project> <key>': operation(
    `DELETE ${PROJECT}/s3-keys/{access_key_id}`,
    'delete an S3 key, effective immediately',
    { result: ({ key }) => ({ deleted: key }), text: (_answer, { key }) => `S3 key ${key} is deleted.\n` },
  ),
};

export const API_KEY_COMMANDS: Commands = {
  'list <project>': operation(`GET ${PROJECT}/api-keys`, 'list the named keys of a project'),
  'create <project> <name>': operation(`POST ${PROJECT}/api-keys`, 'create a named key, and print it', {
    options: {
      kind: [
        '--kind <kind>',
        'publishable for browsers and apps, secret for servers',
        (option) => option.choices(['publishable', 'secret']).default('secret'),
      ],
      role: ['--role <role>', 'the database role; default: anon or service_role, by the kind'],
      expires_in: [
        '--days <days>',
        'days until the key expires; default: never',
        (option) => option.argParser((days) => wholeNumber(1, MAX_DAYS)(days) * 86_400),
      ],
    },
  }),
  'revoke <project> <key>': operation(
    `DELETE ${PROJECT}/api-keys/{key_id}`,
    'revoke a named key, effective immediately',
    { result: ({ key }) => ({ revoked: key }), text: (_answer, { key }) => `Key ${key} is revoked.\n` },
  ),
};
