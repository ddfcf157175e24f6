/** The captcha of a project (setting `captcha`): its provider says whether the user solved it, before the route does anything. */
import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { projectOf } from '../../access/current-caller.decorator';
import { isJsonObject, parseJson } from '../../common/text/json';
import { Errors } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';
import { GuessThrottle } from '../../identity/guess-throttle.service';
import { originOf } from '../../identity/http/current-origin.decorator';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import type { Project } from '../../projects/project';
import { openSettingSecret } from '../../projects/setting-secrets';
import { CAPTCHA_URLS, type CaptchaSetting } from '../../projects/settings/captcha.setting';
import { captchaFailed, captchaUnavailable } from '../auth.errors';

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 1024 };
/** Characters. Tokens of both providers are shorter. */
const MAX_TOKEN = 10_000;
const EXEMPT_GRANTS = Symbol('grants without a captcha');

@Injectable()
class CaptchaInterceptor implements NestInterceptor {
  constructor(
    private readonly http: OutboundHttp,
    private readonly throttle: GuessThrottle,
  ) {}

  /** @throws AppError 400, 429 after many wrong tokens, 503 if the provider fails */
  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const project = projectOf(request);
    const { captcha } = project.settings;
    const grants = Reflect.getMetadata(EXEMPT_GRANTS, context.getHandler()) as readonly unknown[];
    const isExempt = request.apiKey?.role === 'service_role' || grants.includes(request.query.grant_type);
    if (captcha && !isExempt) await this.assertSolved(project, captcha, request);
    return next.handle();
  }

  /** Limits for how many wrong tokens of a client address the provider is asked. */
  private async assertSolved(project: Project, setting: CaptchaSetting, request: Request): Promise<void> {
    const token = tokenIn(request.body);
    if (typeof token !== 'string' || token === '' || token.length > MAX_TOKEN) throw captchaFailed();
    const from = { project, origin: originOf(request) };
    if (!(await this.throttle.attemptFrom(from, () => this.isSolved(project, setting, token))))
      throw captchaFailed();
  }

  private async isSolved(project: Project, setting: CaptchaSetting, token: string): Promise<boolean> {
    const secret = openSettingSecret(project, 'captcha', setting);
    const request = {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ secret, response: token }).toString(),
    };
    try {
      const answer = await this.http.send(setting.url ?? CAPTCHA_URLS[setting.provider], request, LIMITS);
      const result = parseJson(await answer.text());
      if (!isJsonObject(result) || typeof result.success !== 'boolean')
        throw new Error(`it answers ${answer.status}`);
      return result.success;
    } catch (error) {
      throw captchaUnavailable(error);
    }
  }
}

function tokenIn(body: unknown): unknown {
  const security = isJsonObject(body) ? body.gotrue_meta_security : null;
  return isJsonObject(security) ? security.captcha_token : null;
}

/** A route that the captcha protects. @param exemptGrants values of `grant_type` that the route accepts without a captcha */
export const Captcha = (exemptGrants: readonly string[] = []): MethodDecorator =>
  applyDecorators(
    SetMetadata(EXEMPT_GRANTS, exemptGrants),
    UseInterceptors(CaptchaInterceptor),
    Errors(captchaFailed(), captchaUnavailable()),
  );

/** The member `gotrue_meta_security` in the body of a protected route. */
export const CAPTCHA = f.optional.json('The token from the captcha of the page, if the project has one', {
  properties: { captcha_token: { type: 'string', maxLength: MAX_TOKEN } },
});
