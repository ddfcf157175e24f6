import { formatHost, hostsOf, parseHost, withHostList } from './host-list';

describe('withHostList', () => {
  it('turns a URL with several hosts into a URL that URL and node-postgres can read', () => {
    const url = withHostList(
      'postgres://ada:p%40ss@a:5433,[2001:db8::7]:5434,c/plinth?target_session_attrs=any&sslmode=require',
    );
    const { hostname, port, pathname, password, searchParams } = new URL(url);
    expect({ hostname, port, pathname, password }).toEqual({
      hostname: 'a',
      port: '5433',
      pathname: '/plinth',
      password: 'p%40ss',
    });
    expect([...searchParams.keys()]).toEqual(['sslmode', 'hosts']);
    expect(hostsOf(url)).toEqual([
      { host: 'a', port: 5433 },
      { host: '2001:db8::7', port: 5434 },
      { host: 'c', port: 5432 },
    ]);
    expect(withHostList(url)).toBe(url);
  });

  it.each([
    'postgres://ada@db/plinth',
    'postgres:///plinth?host=/run/postgresql',
    'postgres://a,/plinth',
    'redis://a,b',
  ])('leaves %s unchanged, which has one host or is not a list', (url) => {
    expect(withHostList(url)).toBe(url);
    expect(hostsOf(url)).toEqual([]);
  });
});

describe('parseHost', () => {
  it.each([
    ['db.example.com', 'db.example.com', 5432],
    ['10.0.0.7:6432', '10.0.0.7', 6432],
    ['[::1]:1', '::1', 1],
  ])('reads %s', (text, host, port) => {
    expect(parseHost(text)).toEqual({ host, port });
    expect(parseHost(formatHost({ host, port }))).toEqual({ host, port });
  });

  it.each(['', ':5432', 'a:0', 'a:65536', 'a:b', 'a b', 'a:1:2', 'user@a'])('refuses "%s"', (text) => {
    expect(parseHost(text)).toBeNull();
  });
});
