/** Mail templates as a project's settings hold them, checked before they are saved. */
import { Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { LANGUAGE_TAG } from '../../common/text/language-tag';
import { isJsonObject } from '../../common/text/json';
import { MailTemplate, TEMPLATE_PARTS } from '../../infra/mail/mail-template';
import { MailComposer } from './mail-composer.service';
import { isMailKind, MAIL_KINDS } from './mail-kinds';

/** Characters. */
const MAX_PART = 100_000;
const MAX_TEMPLATES = 100;

@Injectable()
export class MailTemplateCheck {
  constructor(private readonly composer: MailComposer) {}

  /** @throws AppError 400 naming what is wrong, and where */
  async assertValid(templates: Readonly<Record<string, unknown>>): Promise<void> {
    const entries = Object.entries(templates);
    if (entries.length > MAX_TEMPLATES) {
      throw invalidParameters(`mail_templates must not hold more than ${MAX_TEMPLATES} templates`);
    }
    const parsed = entries.map(([key, template]) => [key, parsedTemplate(key, template)] as const);
    for (const [key, template] of parsed) await this.composer.assertRenders(key, template);
  }
}

function parsedTemplate(key: string, template: unknown): Partial<MailTemplate> {
  const [kind = '', tag, ...rest] = key.split('.');
  if (!isMailKind(kind) || rest.length > 0 || (tag !== undefined && !LANGUAGE_TAG.test(tag))) {
    throw invalidParameters(
      `mail_templates["${key}"] is no mail: a key is ${MAIL_KINDS.join(', ')}, alone or with a language (reset.de)`,
    );
  }
  const isTemplate =
    isJsonObject(template) &&
    Object.entries(template).every(
      ([part, text]) =>
        (TEMPLATE_PARTS as readonly string[]).includes(part) &&
        typeof text === 'string' &&
        text.length <= MAX_PART,
    );
  if (!isTemplate) {
    throw invalidParameters(
      `mail_templates["${key}"] must be an object of subject, text and html, texts of at most ${MAX_PART} characters`,
    );
  }
  return template;
}
