import { misspeltSettings } from './misspelt-settings';

describe('misspeltSettings', () => {
  it.each([
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['PUBLIC_ULR', 'PUBLIC_URL'],
    ['master_key', 'MASTER_KEY'],
  ])('suggests a name for %s, without its value', (name, suggestion) => {
    expect(misspeltSettings({ [name]: 'value-0815' })).toEqual([
      `${name} is not a setting and is ignored. Did you mean ${suggestion}?`,
    ]);
  });

  it('reports variables with the prefix of a setting', () => {
    expect(misspeltSettings({ SMTP_ENCRYPTION_MODE: 'tls' })).toEqual([
      'SMTP_ENCRYPTION_MODE is not a setting and is ignored. .env.example lists all settings.',
    ]);
  });

  it('ignores settings, foreign variables and empty variables', () => {
    expect(
      misspeltSettings({
        PORT: '8080',
        MASTER_KEY_FILE: '/run/secrets/master-key',
        HOME: '/root',
        HOSTNAME: 'a',
        PORTS: '1',
        LOGLEVEL: '',
        TMPDIR: '/tmp',
      }),
    ).toEqual([]);
  });
});
