/** Finds the project and the language of a hosted page, and answers with it. */
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { type AppError, httpError } from '../../common/errors/app-error';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { languageFor } from '../mail/languages/languages';
import { type MailPage, mailPage, type PageContext, pageOf } from './mail-page';

@Injectable()
export class MailPageContexts {
  constructor(
    private readonly projects: ProjectRegistry,
    private readonly admission: AdmissionGuard,
  ) {}

  /** @param name id or slug of the project @throws AppError 404, 429, 503 */
  async find(page: PageContext['page'], name: string, request: Request): Promise<PageContext> {
    const project = (await this.projects.findById(name)) ?? (await this.projects.findBySlug(name));
    if (!project) throw httpError(404, 'There is no such page');
    this.admission.admit(project, request.method);
    const wanted = parseAcceptLanguage(request.get('accept-language'));
    return { page, project, texts: languageFor([...wanted, project.settings.locale]) };
  }
}

export function respondWithPage(
  response: Response,
  status: number,
  page: MailPage,
  extraHeaders: Readonly<Record<string, string>> = {},
): void {
  const { headers, html } = mailPage(page);
  response
    .status(status)
    .set({ ...headers, ...extraHeaders })
    .send(html);
}

export function respondWithFailure(response: Response, context: PageContext, error: AppError): void {
  const { invalidToken, tooCommon, failed } = context.texts.pages;
  const messages: Readonly<Record<string, string>> = {
    invalid_token: invalidToken,
    weak_password: tooCommon,
  };
  const message = messages[error.code] ?? failed;
  respondWithPage(response, error.status, pageOf(context, { message }), error.headers);
}
