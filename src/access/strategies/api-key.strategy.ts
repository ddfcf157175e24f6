/** The `apikey` header: names the project, and is verified with that project's secret. */
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport-jwt';
import { isJsonObject, JsonObject } from '../../common/text/json';
import type { ApiKey } from '../../projects/api-keys';
import { ANON_ROLE, KeyRole, SERVICE_ROLE } from '../../projects/project-keys';
import { Project, ProjectSecret } from '../../projects/project';
import { ProjectRegistry } from '../../projects/project-registry.service';
import { untimelyCredentials } from '../access.errors';
import { TokenVerifier } from '../token-verifier';
import { passportSecret, PINNED_VERIFICATION } from './verification';

export interface VerifiedApiKey {
  readonly project: Project;
  readonly role: KeyRole;
  readonly claims: JsonObject;
  /** Undefined if the key is one of the two that are signed with the project's secret. */
  readonly named?: ApiKey;
}

@Injectable()
export class ApiKeyStrategy extends PassportStrategy(Strategy, 'apikey') {
  constructor(
    private readonly registry: ProjectRegistry,
    private readonly tokens: TokenVerifier,
  ) {
    super({
      ...PINNED_VERIFICATION,
      jwtFromRequest: (request: Request) => request.get('apikey') ?? null,
      secretOrKeyProvider: (
        _request: Request,
        token: string,
        done: (error: unknown, secret?: string) => void,
      ) => {
        this.secretOf(token).then(
          (secret) =>
            done(secret === null ? new Error('no project with such a key') : null, passportSecret(secret)),
          // A failed lookup says nothing about the credential: it must not become a 401.
          (error: unknown) => done(new LookupFailure(error)),
        );
      },
    });
  }

  /** A key carries the project's id and one of the two key roles; a user's token does not. */
  async validate(_request: Request, claims: unknown): Promise<VerifiedApiKey | false> {
    if (!isJsonObject(claims) || typeof claims.project_id !== 'string') return false;
    if (!this.tokens.isTimely(claims)) throw untimelyCredentials();
    if (claims.role !== ANON_ROLE && claims.role !== SERVICE_ROLE) return false;
    // A read-only token as apikey would give its role to a bearer that may write.
    if (claims.read_only === true) return false;
    const project = await this.registry.findById(claims.project_id);
    return project ? { project, role: claims.role, claims } : false;
  }

  private async secretOf(token: string): Promise<ProjectSecret | null> {
    const id = this.tokens.peek(token)?.project_id;
    const project = typeof id === 'string' ? await this.registry.findById(id) : null;
    return project && this.tokens.secretFor(project, token);
  }
}

/** Carries an error of the registry through passport, which treats every other error as failed credentials. */
export class LookupFailure extends Error {
  constructor(readonly reason: unknown) {
    super('the lookup of a project failed');
  }
}
