import { JsonLogger } from './json-logger';

const TOKEN = `eyJ${'a'.repeat(40)}.eyJ${'b'.repeat(80)}.${'c-_'.repeat(14)}`;

function logged(write: (logger: JsonLogger) => void): Record<string, string> {
  let text = '';
  write(new JsonLogger('debug', { write: (line) => void (text += line) }));
  expect(text.split('\n')).toHaveLength(2);
  return JSON.parse(text) as Record<string, string>;
}

it('writes one JSON object per line, with the context that Nest passes last', () => {
  expect(logged((logger) => logger.error('broken\nfor good', 'the stack', 'Request'))).toMatchObject({
    level: 50,
    msg: 'broken\nfor good',
    stack: 'the stack',
    context: 'Request',
  });
});

it.each([
  ['a token', TOKEN, 'x [token] y'],
  ['an address with a token', `http://a.test/?apikey=${TOKEN}&b=1`, 'x http://a.test/?apikey=[token]&b=1 y'],
  ['a token that was cut off', TOKEN.slice(0, 60), 'x [token] y'],
  ['no token', 'eyJ.eyJ and eyJson', 'x eyJ.eyJ and eyJson y'],
])('blanks %s in messages and stacks', (_what, text, expected) => {
  const line = logged((logger) => logger.error(`x ${text} y`, `x ${text} y`, 'Request'));
  expect([line.msg, line.stack]).toEqual([expected, expected]);
});

it('limits the length of what it writes: an error that a project raised may have megabytes', () => {
  const long = 'x'.repeat(5_000_000);
  const { msg, stack } = logged((logger) => logger.error(long, long, 'Request'));
  expect([msg?.length, stack?.length]).toEqual([8_192, 8_192]);
});
