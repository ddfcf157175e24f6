import { TemplateRenderer } from '../../../infra/mail/template-renderer';
import { MAIL_KINDS } from '../mail-kinds';
import { parseAcceptLanguage } from '../../../http/syntax/accept-language';
import { languageFor, LANGUAGES, withFallbacks } from './languages';

const renderer = new TemplateRenderer();
afterAll(() => renderer.onApplicationShutdown());

const VALUES = {
  project: 'P & Co',
  name: 'Ada',
  email: 'ada@example.com',
  new_email: 'new@example.com',
  link: 'https://example.com/?token=abc',
  token: 'abc',
  signed_in_at: '2026-01-02 03:04 UTC',
  ip: '203.0.113.7',
  client: 'Firefox, Windows',
};

describe('Accept-Language', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['de', ['de']],
    ['fr-CH, de;q=0.8', ['fr-CH', 'de']],
    ['en;q=0.5, it, es;q=0.9', ['it', 'es', 'en']],
    ['de;q=0, fr', ['fr']],
    ['*, ../../etc, de;q=x, it', ['it']],
    ['{{7*7}}', []],
  ])('%j gives %j', (header, tags) => {
    expect(parseAcceptLanguage(header)).toEqual(tags);
  });

  it('is read up to a maximum length', () => {
    expect(parseAcceptLanguage(`${'xx,'.repeat(100_000)}de`)).toHaveLength(10);
  });
});

describe('a language', () => {
  it('is also found by a regional tag', () => {
    expect(withFallbacks(['de-CH-1996'])).toEqual(['de-ch-1996', 'de-ch', 'de']);
    expect(languageFor(['pt-BR', 'de-AT']).tag).toBe('de');
  });

  it('is English if no preferred language exists', () => {
    expect(languageFor(['xx']).tag).toBe('en');
    expect(languageFor([]).tag).toBe('en');
  });
});

describe.each(LANGUAGES.map((language) => [language.tag, language] as const))(
  'in "%s"',
  (_tag, { mails, pages }) => {
    it.each(MAIL_KINDS)('a mail "%s" is complete in text and HTML', async (kind) => {
      for (const hours of [1, 24]) {
        const code: Record<string, string> = kind === 'reauthentication' ? { code: '123456' } : {};
        const mail = await renderer.render(mails[kind], { ...VALUES, ...code, hours });
        expect(mail.subject).toContain('P & Co');
        expect(mail.text).toContain('Ada');
        expect(mail.html).toContain('P &amp; Co');
        expect(mail.text + mail.html).not.toMatch(/undefined|\{\{|\{%/);
        if (kind === 'email_change_notice') {
          expect(mail.text).toContain('new@example.com');
          continue;
        }
        if (kind === 'new_device') {
          for (const part of [mail.text, mail.html]) {
            expect(part).toContain('2026-01-02 03:04 UTC');
            expect(part).toContain('203.0.113.7');
            expect(part).toContain('Firefox, Windows');
          }
          continue;
        }
        if (kind === 'reauthentication') {
          expect(mail.text).toContain('123456');
          expect(mail.html).toContain('123456');
          continue;
        }
        expect(mail.text).toMatch(/^https:\/\/example\.com\/\?token=abc$/m);
        expect(mail.text).toMatch(/^abc$/m);
        expect(mail.html).toContain('href="https://example.com/?token=abc"');
        expect(mail.text).toContain(String(hours));
      }
    });

    it('the pages have all texts', () => {
      const texts = JSON.stringify(pages);
      expect(texts).not.toContain('""');
      expect(pages.tooShort).toContain('{min}');
    });
  },
);
