import { MailTemplate } from './mail-template';
import { TemplateFault, TemplateRenderer } from './template-renderer';

const renderer = new TemplateRenderer();
afterAll(() => renderer.onApplicationShutdown());

const render = (parts: Partial<MailTemplate>): Promise<MailTemplate> =>
  renderer.render({ subject: 's', text: 't', html: 'h', ...parts }, { name: '<b>Ada</b>', token: 'abc' });

/** A refusal within this time does not block the event loop; a template that is not interrupted can take half a second. */
const MOMENT_MS = 200;

/** Milliseconds that work took, and the longest time for which it blocked the event loop. */
async function timesOf(begin: () => Promise<unknown>): Promise<{ took: number; stalled: number }> {
  const start = performance.now();
  let [stalled, last] = [0, start];
  const look = (): void => {
    const now = performance.now();
    stalled = Math.max(stalled, now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  await begin().catch(() => undefined);
  look();
  clearInterval(timer);
  return { took: last - start, stalled };
}

/** True when the event loop stalled in three successive attempts to render a template. */
async function stalls(work: () => Promise<unknown>): Promise<boolean> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { took, stalled } = await timesOf(work);
    if (stalled < Math.max(took / 2, MOMENT_MS)) return false;
  }
  return true;
}

it('escapes values in HTML only, and keeps line breaks out of the subject', async () => {
  const template = { subject: 'a\r\nBcc: x {{ name }}', text: '{{ name }}', html: '<p>{{ name }}</p>' };
  expect(await render(template)).toEqual({
    subject: 'a Bcc: x <b>Ada</b>',
    text: '<b>Ada</b>',
    html: '<p>&lt;b&gt;Ada&lt;/b&gt;</p>',
  });
});

describe('a template that does too much is refused without blocking the event loop', () => {
  const nest = (depth: number): string =>
    '{% for i in (1..1000) %}'.repeat(depth) + 'x' + '{% endfor %}'.repeat(depth);
  it.each([
    ['loops in loops', nest(5)],
    ['empty loops in loops', nest(5).replace('x', '')],
    ['a huge range', '{% for i in (1..99999999999) %}{{ i }}{% endfor %}'],
    ['a range that is only assigned', '{% assign a = (1..999999999) %}{{ a | size }}'],
    [
      'text that doubles',
      `{% assign a = "xxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(60)}{{ a }}`,
    ],
    ['more text than a template may have', 'x'.repeat(300_000)],
    [
      'replacing that multiplies',
      `{% assign a = "aaaaaaaaaa" %}${'{% assign a = a | replace: "a", a %}'.repeat(9)}{{ a }}`,
    ],
  ])('%s', async (_what, text) => {
    const work = (): Promise<unknown> => render({ text });
    await expect(work()).rejects.toBeInstanceOf(TemplateFault);
    await expect(work()).rejects.toThrow(/^(text: |it takes )/);
    expect(await stalls(work)).toBe(false);
    // The next mail is rendered.
    expect((await render({ text: '{{ token }}' })).text).toBe('abc');
  });
});

describe('a template can reach only its values', () => {
  it.each([
    ['{% include "/etc/passwd" %}'],
    ['{% render "/etc/passwd" %}'],
    ['{% layout "../../package.json" %}'],
    ['{% include name %}'],
    ['{{ name | no_such_filter }}'],
    ['{% no_such_tag %}'],
    ['{{ name '],
  ])('%s is reported with the part of the mail', async (html) => {
    await expect(render({ html })).rejects.toThrow(/^html: /);
  });

  it.each([
    ['{{ name.constructor }}'],
    ['{{ name.__proto__ }}'],
    ['{{ constructor }}'],
    ['{{ __proto__ }}'],
    ['{{ name.constructor.constructor }}'],
    ['{{ process }}{{ global }}{{ require }}'],
    ['{{ toString }}'],
  ])('%s is empty', async (text) => {
    expect((await render({ text })).text).toBe('');
  });
});
