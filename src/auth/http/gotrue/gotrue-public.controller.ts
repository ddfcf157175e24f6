/** GoTrue's paths that need no credential. */
import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { PublicRoute } from '../../../access/public-route.decorator';
import { documentHandlers } from '../../../http/docs/controller-docs';
import { Answer, Describe } from '../../../http/docs/operation.decorators';
import { tooManyHeaders } from '../../../http/request-head';
import { GoTrueHealthResponse } from './dto/gotrue-responses';
import { GOTRUE_BASE, GOTRUE_DOCS } from './gotrue-api.decorator';

const GoTrueDocs = documentHandlers(() => ({ docs: GOTRUE_DOCS.plain, errors: [tooManyHeaders()] }));

@ApiTags('auth')
@GoTrueDocs
@Controller(GOTRUE_BASE)
export class GoTruePublicController {
  @Get('health')
  @PublicRoute('a probe; the answer is the same for every project')
  @Describe(`Probe (GoTrue)
    Says that this surface is served; the answer is the same for every project.`)
  @Answer(200, 'The name of the surface', GoTrueHealthResponse)
  goTrueHealth(): GoTrueHealthResponse {
    return { version: 'v2', name: 'GoTrue', description: 'The surface of GoTrue, served by Plinth' };
  }
}
