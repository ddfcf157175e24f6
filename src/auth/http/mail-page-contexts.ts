/** Finds the project and the language of a hosted page, and answers with it. */
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AdmissionGuard } from '../../access/admission.guard';
import { type AppError, httpError } from '../../common/errors/app-error';
import { originOf } from '../../identity/http/current-origin.decorator';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { languageFor } from '../mail/languages/languages';
import { type MailPage, mailPage, type PageContent, type PageContext, pageOf } from './mail-page';

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
    const origin = originOf(request);
    return { page, project, origin, texts: languageFor([...origin.languages, project.settings.locale]) };
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

/** @param status 400 for a form that is shown again, with the fault as its message */
export function showPage(response: Response, context: PageContext, content: PageContent, status = 200): void {
  respondWithPage(response, status, pageOf(context, content));
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
