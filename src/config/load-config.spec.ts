import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, loadConfig } from './load-config';
import { TUNING } from './tuning';

let DATA_DIR: string;
beforeEach(() => (DATA_DIR = mkdtempSync(join(tmpdir(), 'plinth-config-'))));
afterEach(() => rmSync(DATA_DIR, { recursive: true, force: true }));

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadConfig({ DATA_DIR, ...environment });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('loadConfig', () => {
  describe('with settings in files', () => {
    const given = (content: string): string => {
      const file = join(DATA_DIR, 'secret');
      writeFileSync(file, content);
      return file;
    };
    const KEY = 'a master key of more than 32 characters, with spaces ';

    it('takes the content without the line break at its end', () => {
      for (const end of ['', '\n', '\r\n'])
        expect(loadConfig({ DATA_DIR, MASTER_KEY_FILE: given(KEY + end) }).secrets.masterKey).toBe(KEY);
    });

    it('validates the content, and shows none of it', () => {
      const faults = faultsOf({ MASTER_KEY_FILE: given('short'), PORT_FILE: '', HOST_FILE: ' ' });
      expect(faults).toEqual([expect.stringMatching(/^MASTER_KEY must be (?!.*short)/)]);
    });

    it('refuses a file that is missing, empty, or given in addition to the value', () => {
      const missing = join(DATA_DIR, 'missing');
      expect(faultsOf({ REDIS_URL_FILE: missing })).toEqual([
        expect.stringMatching(/^REDIS_URL_FILE cannot be read: ENOENT/),
      ]);
      const file = given(' \n');
      expect(faultsOf({ REDIS_URL_FILE: file })).toContain(`REDIS_URL_FILE: ${file} is empty`);
      expect(faultsOf({ REDIS_URL: 'redis://a', REDIS_URL_FILE: given('redis://b') })).toEqual([
        'REDIS_URL_FILE: give either the value or its file',
      ]);
    });

    it('reads no file that a setting with such a name means otherwise', () =>
      expect(loadConfig({ DATA_DIR, BACKUP_IDENTITY_FILE: '/etc/identity' }).backups.identityFile).toBe(
        '/etc/identity',
      ));
  });

  it('reports all faults in one message', () => {
    const environment = {
      PORT: 'http',
      WORKERS: '0',
      DATABASE_URL: 'mysql://x',
      MASTER_KEY: 'short',
      LOG_LEVEL: 'loud',
    };
    const faults = faultsOf(environment);
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual(Object.keys(environment).sort());
    expect(() => loadConfig({ DATA_DIR, ...environment })).toThrow(
      new RegExp(
        Object.keys(environment)
          .map((name) => `(?=[\\s\\S]*- ${name} must be )`)
          .join(''),
      ),
    );
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['EMBEDDED_DATABASE_PORT', '80'],
    ['EMBEDDED_DATABASE_PORT', '65536'],
    ['EMBEDDED_DATABASE_PORT', '8080'],
    ['DATABASE_URL', 'postgres://plinth:a#b@example.com/plinth'],
    ['DATABASE_URL', 'postgres://plinth:50%@example.com/plinth'],
    ['DATABASE_URL', 'postgres:/example.com'],
    ['PUBLIC_URL', 'localhost:8080'],
    ['PUBLIC_URL', 'ftp://example.com'],
    ['REDIS_URL', 'http://example.com'],
    ['SMTP_URL', 'mail.example.com'],
    ['MAIL_FROM', 'nobody'],
    ['PLATFORM_ADMIN_KEY', 'too-short'],
    ['PLATFORM_ADMIN_KEY', 'long enough, but no bearer token'],
    ['METRICS_PORT', '0'],
    ['METRICS_PORT', '8080'],
    ['METRICS_TOKEN', 'short'],
    ['STORAGE_PROVIDER', 'floppy'],
    ['MAX_FILE_SIZE', 'big'],
    ['MAX_FILE_SIZE', '0'],
    ['METRICS_PORT', '65536'],
    ['METRICS_PORT', '10.0.0.1:'],
    ['QUOTAS', 'requests_per_day=7'],
    ['BACKUP_URL', 'mysql://backups'],
    ['BACKUP_URL', 's3://bucket?colour=red'],
    ['BACKUP_URL', 's3://bucket?endpoint=minio'],
    ['BACKUP_URL', 's3://key@bucket'],
    ['BACKUP_URL', 'file:///backups?compression=7z'],
    ['BACKUP_URL', 'file:///backups?incremental=yes'],
    ['SHUTDOWN_TIMEOUT', 'soon'],
    ['BREACHED_PASSWORDS_URL', 'ftp://example.com/list'],
  ])('refuses %s=%s, names it once and does not repeat the value', (name, value) => {
    const [fault = '', ...others] = faultsOf({ [name]: value });
    expect(others).toEqual([]);
    expect(fault.split(name)).toHaveLength(2);
    expect(fault.startsWith(name)).toBe(true);
    if (value.length > 5) expect(fault).not.toContain(value);
  });

  it.each([
    [{ PORT: '99999' }, 'PORT must be a whole number from 1 to 65535'],
    [{ PORT: 'http' }, 'PORT must be a whole number from 1 to 65535'],
    [{ WORKERS: '0' }, 'WORKERS must be a whole number from 1 to 64'],
    [{ EMBEDDED_DATABASE_PORT: '80' }, 'EMBEDDED_DATABASE_PORT must be a whole number from 1024 to 65535'],
    [{ EMBEDDED_DATABASE_PORT: '8080' }, 'EMBEDDED_DATABASE_PORT must not be the same as PORT'],
    [{ MAX_FILE_SIZE: 'big' }, 'MAX_FILE_SIZE must be a size of 1 or more bytes, such as 50MiB'],
    [{ MASTER_KEY: 'short' }, 'MASTER_KEY must be 32 or more characters'],
    [{ PUBLIC_URL: 'example.com' }, 'PUBLIC_URL must be an address such as https://example.com'],
    [
      { DATABASE_URL: 'mysql://x' },
      'DATABASE_URL must be an address such as postgres://user:password@host, with #, /, :, ?, @ and % in the password percent-encoded',
    ],
  ])('says of %j: %s', (environment, fault) => expect(faultsOf(environment)).toEqual([fault]));

  it.each([
    [{}, 18_080],
    [{ PORT: '3000' }, 13_000],
    [{ PORT: '55535' }, 65_535],
    [{ PORT: '55536' }, 45_536],
    [{ PORT: '0' }, 0],
    [{ PORT: '3000', EMBEDDED_DATABASE_PORT: '6000' }, 6_000],
    [{ EMBEDDED_DATABASE_PORT: '0' }, 0],
  ])('puts the embedded database of %j on port %d', (environment, port) => {
    expect(loadConfig({ DATA_DIR, ...environment }).database.embeddedPort).toBe(port);
  });

  it('limits the memory of statements where PostgreSQL shares the memory', () => {
    const two = { WORKERS: '2', REDIS_URL: 'redis://cache.example' };
    const limits = [{}, two, { DATABASE_URL: 'postgres://db.example/plinth' }].map(
      (env) => loadConfig({ DATA_DIR, ...env }).server.maxStatementBytes,
    );
    expect(limits[1]).toBe(Math.floor(limits[0]! / 2));
    expect(limits[2]).toBe(Infinity);
  });

  it('makes the memory of all bodies large enough for the largest body', () => {
    const large = { MAX_BODY_SIZE: '100MiB' };
    expect(loadConfig({ DATA_DIR, ...large }).server.maxBufferedBytes).toBe(1_200 * 1024 * 1024);
    expect(loadConfig({ DATA_DIR }).server.maxBufferedBytes).toBe(384 * 1024 * 1024);
  });

  it('makes the memory of all results large enough for the largest result', () => {
    const large = { MAX_RESULT_SIZE: '100MiB' };
    expect(loadConfig({ DATA_DIR, ...large }).server.maxBufferedResultBytes).toBe(400 * 1024 * 1024);
    expect(loadConfig({ DATA_DIR }).server.maxBufferedResultBytes).toBe(256 * 1024 * 1024);
  });

  it('needs Redis for more than one process', () => {
    expect(faultsOf({ WORKERS: '2' })).toEqual([expect.stringContaining('REDIS_URL')]);
    expect(faultsOf({ WORKERS: '2', REDIS_URL: 'redis://127.0.0.1' })).toEqual([]);
  });

  it.each([
    [{ STORAGE_PROVIDER: 's3' }, 'STORAGE_URL: the provider "s3" needs it'],
    [{ STORAGE_PROVIDER: 'gcs' }, 'STORAGE_URL: the provider "gcs" needs it'],
    [{ STORAGE_PROVIDER: 's3', STORAGE_URL: 'file:///files' }, 'STORAGE_PROVIDER must be "disk"'],
    [{ STORAGE_URL: '/var/lib/files' }, 'STORAGE_URL must have a form such as file:///'],
    [{ STORAGE_URL: 's3://Not A Bucket' }, 'STORAGE_URL must have a form such as file:///'],
    [{ STORAGE_URL: 's3://box?colour=red' }, 'STORAGE_URL must have a form such as file:///'],
    [{ STORAGE_URL: 's3://box/%' }, 'STORAGE_URL must have a form such as file:///'],
    [{ STORAGE_URL: 'file:///a%2Fb' }, 'STORAGE_URL must have a form such as file:///'],
    [{ STORAGE_URL: 's3://Box' }, 'STORAGE_URL: bucket and folder'],
    [{ STORAGE_URL: 's3://box/x%20y' }, 'STORAGE_URL: bucket and folder'],
    [{ STORAGE_URL: 's3://box?endpoint=minio:9000' }, 'STORAGE_URL: endpoint must be'],
    [{ STORAGE_URL: 's3://box?region=eu/1' }, 'STORAGE_URL: region must be'],
    [{ STORAGE_URL: 's3://box?path_style=yes' }, 'STORAGE_URL: path_style must be'],
    [{ STORAGE_URL: 's3://id@box' }, 'STORAGE_URL: give both'],
    [{ STORAGE_URL: 's3://:secret@box' }, 'STORAGE_URL: give both'],
    [{ STORAGE_URL: 'gs://box?key_file=/nowhere.json' }, 'STORAGE_URL: key_file cannot be read'],
    [
      { STORAGE_URL: `gs://box?key_file=${__filename}` },
      'STORAGE_URL: key_file cannot be read: it is not JSON',
    ],
    [{ STORAGE_URL: 'file:///files?accel_redirect=files' }, 'STORAGE_URL: accel_redirect must be'],
    [{ STORAGE_URL: 'file:///files?limit=much' }, 'STORAGE_URL: limit must be a size'],
    [{ STORAGE_URL: 's3://box?limit=5GiB' }, 'STORAGE_URL: limit: only files on a disk'],
    [{ STORAGE_URL: 's3://box?accel_redirect=/files' }, 'STORAGE_URL: accel_redirect: nginx'],
    [{ CLAMD_URL: 'tcp://127.0.0.1:3310?timeout=0' }, 'CLAMD_URL must be'],
    [{ CLAMD_URL: 'tcp://127.0.0.1:3310?timeout=3601' }, 'CLAMD_URL must be'],
    [{ CLAMD_URL: 'tcp://127.0.0.1:3310?timeout=soon' }, 'CLAMD_URL must be'],
  ])('reports the fault in the storage %j: %s', (environment, fault) => {
    expect(faultsOf(environment)).toEqual([expect.stringContaining(fault)]);
  });

  it.each([
    [{}, { provider: 'disk', s3: null, gcs: null, accelRedirect: null }],
    [
      { STORAGE_URL: 'file:///mnt/other%20disk?accel_redirect=/internal/' },
      { provider: 'disk', diskDir: '/mnt/other disk', accelRedirect: '/internal' },
    ],
    [
      { STORAGE_PROVIDER: 's3', STORAGE_URL: 's3://box/a/b/?endpoint=http://minio:9000/' },
      {
        provider: 's3',
        gcs: null,
        s3: {
          bucket: 'box',
          prefix: 'a/b/',
          endpoint: 'http://minio:9000',
          region: 'us-east-1',
          pathStyle: true,
          credentials: null,
        },
      },
    ],
    [{ STORAGE_URL: 's3://box' }, { provider: 's3', s3: { endpoint: null, pathStyle: false, prefix: '' } }],
    [
      { STORAGE_URL: 'gs://box' },
      { provider: 'gcs', s3: null, gcs: { bucket: 'box', keyFile: null, timeoutMs: 30_000 } },
    ],
    [
      { CLAMD_URL: 'unix:/run/clamd.ctl?timeout=5' },
      { clamd: { address: { path: '/run/clamd.ctl' }, timeoutMs: 5_000 } },
    ],
  ])('reads the storage %j', (environment, storage) => {
    expect(loadConfig({ DATA_DIR, ...environment }).storage).toMatchObject(storage);
  });

  it('reads how staff sign in by OpenID Connect', () => {
    const given = { issuer: 'https://id.example.com', client_id: 'plinth' };
    expect(loadConfig({ DATA_DIR, STAFF_SIGN_IN: JSON.stringify({ oidc: given }) }).staff.oidc).toEqual({
      issuer: 'https://id.example.com',
      clientId: 'plinth',
      clientSecret: null,
      scopes: 'openid email profile',
      groupsClaim: 'groups',
      roles: {},
    });
    for (const wrong of [
      '{',
      '{}',
      '[]',
      '{"oidc": null}',
      JSON.stringify({ oidc: given, colour: 'red' }),
      JSON.stringify({ oidc: { ...given, client_id: '' } }),
      JSON.stringify({ oidc: { ...given, issuer: 'http://id.example.com' } }),
      JSON.stringify({ oidc: { ...given, issuer: 'id.example.com' } }),
      JSON.stringify({ oidc: { ...given, scopes: 'email' } }),
      JSON.stringify({ oidc: { ...given, colour: 'red' } }),
      JSON.stringify({ oidc: { ...given, roles: { platform: { role: 'king' } } } }),
    ])
      expect(faultsOf({ STAFF_SIGN_IN: wrong })).toEqual([
        expect.stringContaining('STAFF_SIGN_IN must be JSON as in STAFF_SIGN_IN={"oidc": {"issuer": '),
      ]);
  });

  it('treats an empty variable as absent', () => {
    const config = loadConfig({ DATA_DIR, PORT: '', DATABASE_URL: ' ', REDIS_URL: '', LOG_LEVEL: '' });
    expect([config.server.port, config.database.url, config.redisUrl, config.logLevel]).toEqual([
      8080,
      null,
      null,
      'info',
    ]);
  });

  it.each([
    ['1048576', 1_048_576],
    ['50MB', 52_428_800],
    ['50 MiB', 52_428_800],
    ['2g', 2_147_483_648],
  ])('reads the size %s', (text, bytes) => {
    expect(loadConfig({ DATA_DIR, MAX_FILE_SIZE: text }).storage.maxFileBytes).toBe(bytes);
  });

  it.each([
    [{ PORT: '9000' }, 'http://localhost:9000'],
    [{ PUBLIC_URL: 'https://api.example.com/' }, 'https://api.example.com'],
    [{ PUBLIC_URL: 'https://example.com/plinth//' }, 'https://example.com/plinth'],
  ])('derives the public address from %j', (environment, url) => {
    expect(loadConfig({ DATA_DIR, ...environment }).server.publicUrl).toBe(url);
  });

  it.each([
    [{}, false],
    [{ TRUST_PROXY: 'false' }, false],
    [{ TRUST_PROXY: '2' }, 2],
    [{ TRUST_PROXY: '10.0.0.0/8, 127.0.0.1' }, '10.0.0.0/8, 127.0.0.1'],
  ])('reads the trusted proxies from %j', (environment, trusted) => {
    expect(loadConfig({ DATA_DIR, ...environment }).server.trustProxy).toBe(trusted);
  });

  it('generates both keys once, readable for the owner alone', () => {
    const first = loadConfig({ DATA_DIR }).secrets;
    expect(first.platformAdminKey).not.toBe(first.masterKey);
    for (const [file, secret] of [
      ['platform-admin-key', first.platformAdminKey],
      ['master-key', first.masterKey],
    ] as const) {
      expect(statSync(join(DATA_DIR, file)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(DATA_DIR, file), 'utf8').trim()).toBe(secret);
      expect(Buffer.from(secret, 'base64url').length).toBe(32);
    }
    expect(loadConfig({ DATA_DIR }).secrets).toEqual(first);
  });

  it('uses the keys of the environment, and then generates none', () => {
    const given = { PLATFORM_ADMIN_KEY: 'a'.repeat(24), MASTER_KEY: 'b'.repeat(32) };
    expect(loadConfig({ DATA_DIR, ...given }).secrets).toMatchObject({
      platformAdminKey: given.PLATFORM_ADMIN_KEY,
    });
    expect(() => statSync(join(DATA_DIR, 'master-key'))).toThrow('ENOENT');
  });

  it('does not treat an unreadable key as missing', () => {
    loadConfig({ DATA_DIR });
    chmodSync(join(DATA_DIR, 'master-key'), 0);
    if (process.getuid?.() === 0) return; // root reads everything
    expect(() => loadConfig({ DATA_DIR })).toThrow('EACCES');
  });

  it.each([
    [{ BACKUP_URL: 'file:///data/files/backups', STORAGE_URL: 'file:///data/files' }, 'BACKUP_URL'],
    [{ BACKUP_URL: 'file:///data', STORAGE_URL: 'file:///data/files' }, 'BACKUP_URL'],
    [{ STORAGE_URL: 's3://one/a', BACKUP_URL: 's3://one/a' }, 'BACKUP_URL'],
    [{ BACKUP_PASSPHRASE: 'a long passphrase', BACKUP_PASSPHRASE_FILE: 'x' }, 'BACKUP_PASSPHRASE_FILE'],
  ])('refuses a destination of backups that overlaps the files: %j', (environment, setting) => {
    expect(faultsOf(environment).map((fault) => fault.split(':')[0])).toEqual([setting]);
  });

  it("uses the storage provider's server and key for backups by default", () => {
    const STORAGE_URL = 's3://id:secret@one?endpoint=https://s3.example.com&region=eu-1';
    const { backups } = loadConfig({ DATA_DIR, STORAGE_URL, BACKUP_URL: 's3://two' });
    expect(backups.destination.s3).toMatchObject({
      bucket: 'two',
      endpoint: 'https://s3.example.com',
      region: 'eu-1',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    });
  });

  it.each([
    [undefined, { provider: 'disk', s3: null, gcs: null }, 'gzip'],
    ['file:///mnt/other%20disk?compression=none', { provider: 'disk', diskDir: '/mnt/other disk' }, 'none'],
    [
      's3://id:a%2Fb@box/one/two?endpoint=https://s3.example.com/&region=eu-1&path_style=false',
      {
        provider: 's3',
        s3: {
          bucket: 'box',
          prefix: 'one/two/',
          endpoint: 'https://s3.example.com',
          region: 'eu-1',
          pathStyle: false,
          credentials: { accessKeyId: 'id', secretAccessKey: 'a/b' },
          timeoutMs: 30_000,
        },
      },
      'gzip',
    ],
    [
      'gs://box',
      { provider: 'gcs', gcs: { bucket: 'box', prefix: '', endpoint: null, keyFile: null } },
      'gzip',
    ],
  ])('reads the destination of backups %s', (url, destination, compression) => {
    const { backups } = loadConfig({ DATA_DIR, BACKUP_URL: url });
    expect(backups).toMatchObject({ destination, compression });
  });

  it.each([
    ['BACKUP_DIR', 'BACKUP_URL=file:///'],
    ['BACKUP_BUCKET', 'BACKUP_URL=s3://'],
    ['METRICS_HOST', 'METRICS_PORT=address:port'],
    ['STORAGE_BUCKET', 'STORAGE_URL=s3://bucket/folder'],
    ['STORAGE_S3_REGION', 'STORAGE_URL=s3://key:secret@bucket/folder'],
    ['STORAGE_DISK_DIR', 'STORAGE_URL=file:///directory'],
    ['CLAMD_TIMEOUT', 'CLAMD_URL=tcp://...?timeout=...'],
    ['STAFF_OIDC_ISSUER', 'STAFF_SIGN_IN={"oidc": {"issuer": '],
    ['STAFF_LDAP', 'STAFF_SIGN_IN={"ldap": {"url": '],
    ['STORAGE_TOTAL_LIMIT', 'STORAGE_URL=file:///directory?limit=...'],
    ['DISK_BALLAST', 'DISK_RESERVE=...'],
    ['HISTORY_SIZE', 'HISTORY_DAYS='],
    ['QUOTAS_PRO', 'QUOTAS=pro:'],
  ])('refuses the former %s and names its replacement', (name, form) => {
    expect(faultsOf({ [name]: 'x' })).toEqual([expect.stringContaining(`${name} has a new format: ${form}`)]);
  });

  it('ignores a former setting next to the current setting, so that both versions start during an upgrade', () =>
    expect(faultsOf({ STORAGE_DISK_DIR: '/files', STORAGE_URL: 'file:///files' })).toEqual([]));

  it.each([
    ['9090', '0.0.0.0'],
    ['127.0.0.1:9090', '127.0.0.1'],
    ['[::1]:9090', '::1'],
  ])('serves metrics on %s', (text, host) => {
    expect(loadConfig({ DATA_DIR, METRICS_PORT: text }).server.metrics).toEqual({ port: 9_090, host });
  });

  it('takes a file as the list of breached passwords, if it can be read', () => {
    const list = pathToFileURL(__filename).href;
    expect(loadConfig({ DATA_DIR, BREACHED_PASSWORDS_URL: list }).auth.breachedPasswordsUrl).toBe(list);
    expect(faultsOf({ BREACHED_PASSWORDS_URL: `${list}.nowhere` })).toEqual([
      expect.stringContaining('BREACHED_PASSWORDS_URL: the file cannot be read: ENOENT'),
    ]);
  });

  it('reads the quotas of plans', () => {
    const QUOTAS = 'free: requests_per_day=50000 database_quota_bytes=500MiB; pro: mails_per_day=2';
    expect(loadConfig({ DATA_DIR, QUOTAS }).planQuotas).toMatchObject({
      free: { requests_per_day: 50_000, database_quota_bytes: 500 * 1024 * 1024, mails_per_day: null },
      pro: { mails_per_day: 2 },
      enterprise: { mails_per_day: null },
    });
  });

  it('cannot be changed afterwards', () => {
    const config = loadConfig({ DATA_DIR });
    expect(Object.isFrozen(config) && Object.isFrozen(config.server)).toBe(true);
  });
});

it('makes a guess of the passphrase of an archive cost 32 MiB of memory', () => {
  expect(128 * 8 * TUNING.passphraseCost).toBe(32 * 1024 * 1024);
});
