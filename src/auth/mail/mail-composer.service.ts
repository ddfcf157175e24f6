/** From a kind of mail and its values to a finished mail: template, link, language. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { MailTemplate, MailValues } from '../../infra/mail/mail-template';
import { TemplateFault, TemplateRenderer } from '../../infra/mail/template-renderer';
import { Project } from '../../projects/project';
import { chooseTemplate } from './choose-template';
import { MailKind } from './mail-kinds';

export interface MailContent {
  readonly kind: MailKind;
  readonly name: string;
  /** The receiver's address. */
  readonly email: string;
  /** Absent in a notice. */
  readonly token?: string;
  readonly newEmail?: string;
  readonly lifetimeMs: number;
  /** Language tags, the most wanted first. */
  readonly languages: readonly string[];
}

const SAMPLE: Omit<MailContent, 'kind' | 'languages'> = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  token: 'sample-token',
  newEmail: 'ada@new.example.com',
  lifetimeMs: 3_600_000,
};

@Injectable()
export class MailComposer {
  private readonly logger = new Logger('Mail');

  constructor(
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
    private readonly renderer: TemplateRenderer,
  ) {}

  /** With the project's own template, or with Plinth's where that one fails: a token must reach its receiver. */
  async compose(project: Project, content: MailContent): Promise<MailTemplate> {
    const values = this.valuesOf(project, content);
    const { template, standard } = chooseTemplate(project, content.kind, content.languages);
    try {
      return await this.renderer.render(template, values);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      this.logger.warn(
        `project ${project.slug}: the template "${content.kind}" failed, the default one is used: ${error.message}`,
      );
      return this.renderer.render(standard, values);
    }
  }

  /**
   * How a mail would look, with values that stand for real ones.
   * @param draft parts of a template that replace the project's own
   * @throws AppError 400 saying what is wrong with the template
   */
  async preview(
    project: Project,
    { kind, language }: { kind: MailKind; language?: string },
    draft: Partial<MailTemplate>,
  ): Promise<MailTemplate> {
    const languages = language === undefined ? [] : [language];
    const { template } = chooseTemplate(project, kind, languages);
    const values = this.valuesOf(project, { ...SAMPLE, kind, languages });
    return this.tried({ ...template, ...draft }, values, 'The template');
  }

  /**
   * A template as a project would have it, tried with values that stand for real ones.
   * @throws AppError 400 naming the template, the part and the fault
   */
  async assertRenders(key: string, template: Partial<MailTemplate>): Promise<void> {
    const values = {
      project: 'Sample',
      new_email: SAMPLE.newEmail ?? null,
      hours: 1,
      link: 'https://example.com/',
    };
    const { name, email, token } = SAMPLE;
    const whole = { subject: '', text: '', html: '', ...template };
    await this.tried(whole, { ...values, name, email, token: token ?? null }, `mail_templates["${key}"]`);
  }

  /** Links begin with PUBLIC_URL or the project's own address, whatever Host a request claimed to be for. */
  linkFor(project: Project, kind: MailKind, token: string): string {
    const isPassword = kind === 'reset' || kind === 'invite';
    const { reset_redirect_url: reset, verify_redirect_url: verify } = project.settings;
    const own = isPassword ? reset : verify;
    const page = own ?? `${this.server.publicUrl}/v1/auth/${project.id}/${isPassword ? 'reset' : 'verify'}`;
    const link = new URL(page);
    link.searchParams.set('token', token);
    return link.href;
  }

  private async tried(template: MailTemplate, values: MailValues, what: string): Promise<MailTemplate> {
    try {
      return await this.renderer.render(template, values);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      throw invalidParameters(`${what} is not valid: ${error.message}`);
    }
  }

  private valuesOf(project: Project, content: MailContent): MailValues {
    const { kind, token } = content;
    return {
      project: project.name,
      name: greetableName(content.name) ? content.name : content.email,
      email: content.email,
      new_email: content.newEmail ?? null,
      token: token ?? null,
      link: token === undefined ? null : this.linkFor(project, kind, token),
      hours: Math.round(content.lifetimeMs / 3_600_000),
    };
  }
}

/** A stranger may sign up with somebody's address and any name: what could be a link or a message is not mailed on. */
function greetableName(name: string): boolean {
  return name.length <= 80 && !/[\p{C}:/\\@<>]|\.\S|[!?;]/u.test(name);
}
