/** GoTrue's paths for SAML identity providers: metadata, and the address of responses. */
import { Controller, Get, Param, Query, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { PublicRoute } from '../../../access/public-route.decorator';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { TEXT } from '../../../http/docs/documented-headers';
import { Describe, StreamAnswer, together } from '../../../http/docs/operation.decorators';
import { ClientThrottlerGuard, LIMIT_HEADERS } from '../../../identity/http/client-throttler.guard';
import { CurrentOrigin } from '../../../identity/http/current-origin.decorator';
import type { RequestOrigin } from '../../../identity/request-origin';
import { projectNotFound } from '../../../projects/projects.errors';
import { samlFailed } from '../../../identity/identity.errors';
import type { SamlRequest } from '../../directories/saml-provider';
import { isTrial, SamlSignIn } from '../../directories/saml-sign-in.service';
import { tooManyRequests } from '../auth-docs.decorator';
import { FormRoute, FormBody } from '../../../identity/http/form.decorator';
import { GOTRUE_BASE, GOTRUE_DOCS } from './gotrue-api.decorator';
import { redirect, redirectFault } from './gotrue-redirects';
import { respondWithPage } from '../mail-page-contexts';
import { trialPage } from './trial-page';
import { AppError } from '../../../common/errors/app-error';
import { PublicProjects } from './public-project.service';

const SAML_METADATA_DOCS = together(
  ApiQuery({ name: 'download', type: Boolean, required: false, description: 'As a file' }),
  StreamAnswer(
    'SAML 2.0 metadata',
    { 'application/xml': '<EntityDescriptor .../>' },
    { ...LIMIT_HEADERS, 'Content-Disposition': { description: 'With `download`', schema: TEXT } },
  ),
);

@ApiTags('auth')
@documentHandlers(() => ({ docs: GOTRUE_DOCS.limited, errors: [projectNotFound(), tooManyRequests()] }))
@Controller(`${GOTRUE_BASE}/sso/saml`)
export class GoTrueSamlController {
  constructor(
    private readonly signIns: SamlSignIn,
    private readonly projects: PublicProjects,
  ) {}

  @Get('metadata')
  @UseGuards(ClientThrottlerGuard)
  @PublicRoute('identity providers read it, and it only has addresses')
  @Describe(`Get the metadata of the service provider (GoTrue)
    Register this address, or the XML, at an identity provider of SAML.`)
  @SAML_METADATA_DOCS
  async goTrueSamlMetadata(
    @Param('project_slug') slug: string,
    @Query('download') download: unknown,
    @Res() response: Response,
  ): Promise<void> {
    const xml = await this.signIns.metadata(await this.projects.admit(slug, 'GET'));
    if (download === 'true') response.set('Content-Disposition', 'attachment; filename="metadata.xml"');
    response.set('Content-Type', 'application/xml; charset=utf-8').send(xml);
  }

  @FormRoute('acs', 'the signed response of the identity provider is the credential', true)
  @ApiExcludeEndpoint()
  async receive(
    @Param('project_slug') slug: string,
    @FormBody() form: URLSearchParams,
    @CurrentOrigin() origin: RequestOrigin,
    @Res() response: Response,
  ): Promise<void> {
    const project = await this.projects.admit(slug, 'POST');
    const [given = '', ...others] = form.getAll('SAMLResponse');
    let request: SamlRequest | null = null;
    try {
      if (others.length > 0) throw samlFailed();
      request = await this.signIns.open(project, given);
      const outcome = await this.signIns.complete({ project, origin }, request, given);
      if ('tried' in outcome) return respondWithPage(response, 200, trialPage(project, outcome.tried));
      const url = new URL(request.redirectTo);
      url.searchParams.set('code', outcome.code);
      redirect(response, url.href);
    } catch (error) {
      if (request && isTrial(request) && error instanceof AppError)
        return respondWithPage(response, 200, trialPage(project, null, error.message));
      redirectFault(response, request?.redirectTo ?? project.settings.site_url, error);
    }
  }
}
