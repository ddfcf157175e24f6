/** Composes a mail from its kind and values: chooses the template, adds the link, renders. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/app-error';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { MailTemplate, MailValues } from '../../infra/mail/mail-template';
import { TemplateFault, TemplateRenderer } from '../../infra/mail/template-renderer';
import { Project } from '../../projects/project';
import { chooseTemplate } from './choose-template';
import { MailKind } from './mail-kinds';
import type { NewDevice } from './mail-sealer.service';

interface MailContent {
  readonly kind: MailKind;
  readonly name: string;
  /** The recipient's address. */
  readonly email: string;
  /** Absent in a notice. */
  readonly token?: string;
  /** See SealedMail. */
  readonly code?: string;
  readonly redirectTo?: string | null;
  readonly newEmail?: string;
  readonly device?: NewDevice;
  readonly date: Date;
  readonly lifetimeMs: number;
  /** Language tags, in order of preference. */
  readonly languages: readonly string[];
}

const SAMPLE = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  token: 'sample-token',
  newEmail: 'ada@new.example.com',
  device: { ip: '203.0.113.7', client: 'Firefox, Windows' },
  date: new Date(Date.UTC(2026, 0, 2, 3, 4)),
  lifetimeMs: 3_600_000,
} satisfies Omit<MailContent, 'kind' | 'languages'>;

const SAMPLE_CODE = '123456';

/** The types of GoTrue's links. */
const LINK_TYPES: Readonly<Partial<Record<MailKind, string>>> = {
  reset: 'recovery',
  verify: 'signup',
  email_change: 'email_change',
  invite: 'invite',
  magic_link: 'magiclink',
};

@Injectable()
export class MailComposer {
  private readonly logger = new Logger('Mail');

  constructor(
    @Inject(SERVER_CONFIG) private readonly server: ServerConfig,
    private readonly renderer: TemplateRenderer,
  ) {}

  /** Uses the project's own template, or Plinth's if that fails: the token must reach its recipient. */
  async compose(project: Project, content: MailContent): Promise<MailTemplate> {
    const values = this.valuesOf(project, content);
    const { template, standard } = chooseTemplate(project, content.kind, content.languages);
    try {
      return await this.renderer.render(template, values, project.id);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      this.logger.warn(
        `project ${project.slug}: the template "${content.kind}" failed, the default one is used: ${error.message}`,
      );
      return this.renderer.render(standard, values, project.id);
    }
  }

  /**
   * Composes a mail from sample values.
   * @param draft replaces parts of the project's template
   * @throws AppError 400 that describes the fault in the template
   */
  async preview(
    project: Project,
    { kind, language }: { kind: MailKind; language?: string },
    draft: Partial<MailTemplate>,
  ): Promise<MailTemplate> {
    const languages = language === undefined ? [] : [language];
    const { template } = chooseTemplate(project, kind, languages);
    const code = kind === 'reauthentication' ? SAMPLE_CODE : undefined;
    const values = this.valuesOf(project, { ...SAMPLE, code, kind, languages });
    return this.renderOrRefuse({ ...template, ...draft }, values, 'The template', project.id);
  }

  /**
   * Renders a template of a project with sample values.
   * @throws AppError 400 that names the template, the part and the fault
   */
  async assertRenders(key: string, template: Partial<MailTemplate>): Promise<void> {
    const { name, email, token, newEmail, device, date } = SAMPLE;
    const account = { project: 'Sample', name, email, new_email: newEmail };
    const link = { token, code: SAMPLE_CODE, link: 'https://example.com/', hours: 1 };
    const values = { ...account, ...link, ...device, signed_in_at: timeOf(date) };
    const whole = { subject: '', text: '', html: '', ...template };
    await this.renderOrRefuse(whole, values, `mail_templates["${key}"]`);
  }

  /** Links begin with PUBLIC_URL or the address in the project's settings, never with the Host header of a request. */
  linkFor(project: Project, kind: MailKind, token: string, redirectTo?: string | null): string {
    if (redirectTo !== undefined) return this.flowLink(project, LINK_TYPES[kind] ?? kind, token, redirectTo);
    const isPassword = kind === 'reset' || kind === 'invite';
    const { reset_redirect_url: reset, verify_redirect_url: verify } = project.settings;
    const own = isPassword ? reset : verify;
    const page = own ?? `${this.server.publicUrl}/v1/auth/${project.id}/${isPassword ? 'reset' : 'verify'}`;
    const link = new URL(page);
    link.searchParams.set('token', token);
    return link.href;
  }

  private flowLink(project: Project, type: string, token: string, redirectTo: string | null): string {
    const link = new URL(`${this.server.publicUrl}/p/${project.slug}/auth/v1/verify`);
    link.searchParams.set('token', token);
    link.searchParams.set('type', type);
    if (redirectTo !== null) link.searchParams.set('redirect_to', redirectTo);
    return link.href;
  }

  private async renderOrRefuse(
    template: MailTemplate,
    values: MailValues,
    subject: string,
    tenant?: string,
  ): Promise<MailTemplate> {
    try {
      return await this.renderer.render(template, values, tenant);
    } catch (error) {
      if (!(error instanceof TemplateFault)) throw error;
      throw invalidParameters(`${subject} is not valid: ${error.message}`);
    }
  }

  private valuesOf(project: Project, content: MailContent): MailValues {
    const { kind, token, redirectTo } = content;
    return {
      project: project.name,
      name: isSafeName(content.name) ? content.name : content.email,
      email: content.email,
      new_email: content.newEmail ?? null,
      token: token ?? null,
      code: content.code ?? null,
      link: token === undefined ? null : this.linkFor(project, kind, token, redirectTo),
      hours: Math.round(content.lifetimeMs / 3_600_000),
      signed_in_at: content.device ? timeOf(content.date) : null,
      ip: content.device?.ip ?? null,
      client: content.device?.client ?? null,
    };
  }
}

/** Minutes, in UTC: the recipient's zone is not known. */
const timeOf = (date: Date): string => `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Sign-up accepts the address of another person with any name, so a name that may be a link or a message is not mailed. */
function isSafeName(name: string): boolean {
  return name.length <= 80 && !/[\p{C}:/\\@<>]|\.\S|[!?;]/u.test(name);
}
