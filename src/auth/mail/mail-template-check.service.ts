/** Validates the mail templates of a project's settings before they are saved. */
import { Injectable } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
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

  /** @throws AppError 400 that names the template and the fault */
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
  if (!isTemplateKey(key)) {
    throw invalidParameters(
      `mail_templates["${key}"] is not a mail: a key is ${MAIL_KINDS.join(', ')}, alone or with a language (reset.de)`,
    );
  }
  if (!isJsonObject(template) || !Object.entries(template).every(isTemplatePart)) {
    throw invalidParameters(
      `mail_templates["${key}"] must be an object of subject, text and html, texts of at most ${MAX_PART} characters`,
    );
  }
  return template;
}

/** `reset` or `reset.de`. */
function isTemplateKey(key: string): boolean {
  const [kind = '', tag, ...rest] = key.split('.');
  return isMailKind(kind) && rest.length === 0 && (tag === undefined || LANGUAGE_TAG.test(tag));
}

function isTemplatePart([name, text]: [string, unknown]): boolean {
  return TEMPLATE_PARTS.some((part) => part === name) && typeof text === 'string' && text.length <= MAX_PART;
}
