/** The pages that mails link to, unless a project names pages of its own. */
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { randomBytes } from 'node:crypto';
import { PublicRoute } from '../../access/public-route.decorator';
import { httpError } from '../../common/errors/http-errors';
import { ANON_ROLE, projectKey } from '../../projects/project-keys';
import { Project } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { contentSecurityPolicy, MailPage, renderMailPage } from './mail-page';

@ApiExcludeController()
@Controller('v1/auth/:project_id')
export class MailPagesController {
  constructor(private readonly projects: ProjectRegistry) {}

  @Get('reset')
  @PublicRoute('a mail links to it; it shows a form and spends nothing')
  async reset(@Param('project_id') id: string, @Res() response: Response): Promise<void> {
    const project = await this.find(id);
    respond(response, {
      ...common(project),
      title: 'Choose a new password',
      endpoint: 'update-password',
      button: 'Save the password',
      done: 'Your password has been changed. You can sign in with it now.',
      asksForPassword: true,
    });
  }

  @Get('verify')
  @PublicRoute('a mail links to it; it shows a button and spends nothing')
  async verify(@Param('project_id') id: string, @Res() response: Response): Promise<void> {
    const project = await this.find(id);
    respond(response, {
      ...common(project),
      title: 'Confirm your email address',
      endpoint: 'verify-email',
      button: 'Confirm',
      done: 'Your email address has been confirmed.',
      asksForPassword: false,
    });
  }

  private async find(id: string): Promise<Project> {
    const project = await this.projects.findById(id);
    if (!project) throw httpError(404, 'There is no such page');
    return project;
  }
}

function common(project: Project): Pick<MailPage, 'project' | 'anonKey' | 'minPasswordLength'> {
  return {
    project: project.name,
    // Public by its nature (SPEC.md 2.2): every client of the project holds it.
    anonKey: projectKey(project, project.secrets[0], ANON_ROLE),
    minPasswordLength: project.settings.password_min_length,
  };
}

function respond(response: Response, page: MailPage): void {
  const nonce = randomBytes(16).toString('base64');
  response
    .status(200)
    .set({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(nonce),
      'Cache-Control': 'no-store',
      // The address holds the token.
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
    })
    .send(renderMailPage(page, nonce));
}
