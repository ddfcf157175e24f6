/**
 * Mail templates in Liquid: a language made for templates that strangers write. It has no code, and here it has no
 * files and no network either, and limits on time and memory. In HTML every value is escaped.
 */
import { Liquid } from 'liquidjs';

export interface MailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export type MailValues = Readonly<Record<string, string | number | null>>;

const LIMITS = { parseLimit: 200_000, renderLimit: 500, memoryLimit: 5_000_000 };
const COMMON = { ...LIMITS, ownPropertyOnly: true, strictFilters: true, templates: {}, cache: false };

const plain = new Liquid(COMMON);
const markup = new Liquid({ ...COMMON, outputEscape: 'escape' });

/** @throws Error (liquidjs) for a template that does not parse, or does too much */
export async function renderMail(template: MailTemplate, values: MailValues): Promise<MailTemplate> {
  const [subject, text, html] = await Promise.all([
    render(plain, template.subject, values),
    render(plain, template.text, values),
    render(markup, template.html, values),
  ]);
  // A line break in a subject would begin another header.
  return { subject: subject.replace(/\s+/g, ' ').trim(), text, html };
}

async function render(engine: Liquid, source: string, values: MailValues): Promise<string> {
  return String(await engine.parseAndRender(source, { ...values }));
}
