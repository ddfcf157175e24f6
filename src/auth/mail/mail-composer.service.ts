/** From a kind of mail and its values to a finished mail: template, link, language. */
import { Inject, Injectable, Logger } from '@nestjs/common';
import { invalidParameters } from '../../common/errors/http-errors';
import { SERVER_CONFIG, ServerConfig } from '../../config/app-config';
import { MailTemplate, MailValues, renderMail } from '../../infra/mail/mail-template';
import { Project } from '../../projects/project';
import { DEFAULT_TEMPLATES, MailKind } from './mail-kinds';

export interface MailContent {
  readonly kind: MailKind;
  readonly name: string;
  /** The receiver's address. */
  readonly email: string;
  /** Absent in a notice. */
  readonly token?: string;
  readonly newEmail?: string;
  readonly lifetimeMs: number;
}

@Injectable()
export class MailComposer {
  private readonly logger = new Logger('Mail');

  constructor(@Inject(SERVER_CONFIG) private readonly server: ServerConfig) {}

  /** With the project's own template, or with Plinth's where that one fails: a token must reach its receiver. */
  async compose(project: Project, content: MailContent): Promise<MailTemplate> {
    const values = this.valuesOf(project, content);
    const standard = DEFAULT_TEMPLATES[content.kind];
    const own = ownTemplate(project, content.kind);
    if (!own) return renderMail(standard, values);
    try {
      return await renderMail({ ...standard, ...own }, values);
    } catch (error) {
      this.logger.warn(
        `project ${project.slug}: the template "${content.kind}" failed, the default one is used: ${String(error)}`,
      );
      return renderMail(standard, values);
    }
  }

  /**
   * How a mail would look, with values that stand for real ones.
   * @param draft parts of a template that replace the project's own
   * @throws AppError 400 saying what is wrong with the template
   */
  async preview(project: Project, kind: MailKind, draft: Partial<MailTemplate>): Promise<MailTemplate> {
    const sample = {
      kind,
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      token: 'sample-token',
      newEmail: 'ada@new.example.com',
      lifetimeMs: 3_600_000,
    };
    const template = { ...DEFAULT_TEMPLATES[kind], ...ownTemplate(project, kind), ...draft };
    try {
      return await renderMail(template, this.valuesOf(project, sample));
    } catch (error) {
      throw invalidParameters(`The template is not valid: ${error instanceof Error ? error.message : ''}`);
    }
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

/** The project's template in its language (`reset.de`), or in none (`reset`). */
function ownTemplate({ settings }: Project, kind: MailKind): Partial<MailTemplate> | undefined {
  const templates = settings.mail_templates;
  return templates[`${kind}.${settings.locale}`] ?? templates[kind];
}

/** A stranger may sign up with somebody's address and any name: what could be a link or a message is not mailed on. */
function greetableName(name: string): boolean {
  return name.length <= 80 && !/[\p{C}:/\\@<>]|\.\S|[!?;]/u.test(name);
}
