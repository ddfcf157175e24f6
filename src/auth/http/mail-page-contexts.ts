/** Finds the project and the language of a hosted page, and answers with it. */
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { httpError } from '../../common/errors/http-errors';
import { projectPaused } from '../../database/pools/pool.errors';
import { parseAcceptLanguage } from '../../http/syntax/accept-language';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { languageFor } from '../mail/languages/languages';
import { type MailPage, mailPage } from './mail-page';
import { type PageContext } from './mail-page';

@Injectable()
export class MailPageContexts {
  constructor(private readonly projects: ProjectRegistry) {}

  /** @param name id or slug of the project @throws AppError 404, 503 */
  async find(page: PageContext['page'], name: string, request: Request): Promise<PageContext> {
    const project = (await this.projects.findById(name)) ?? (await this.projects.findBySlug(name));
    if (!project) throw httpError(404, 'There is no such page');
    if (project.database.isPaused) throw projectPaused();
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
