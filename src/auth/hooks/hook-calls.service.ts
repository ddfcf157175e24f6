/** Hooks over HTTP: signed calls to the servers of a project. They stay within the limits of OutboundHttp. */
import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../common/text/json';
import { Clock } from '../../common/time/clock';
import { OutboundHttp } from '../../infra/outbound/outbound-http';
import { webhookHeaders } from '../../infra/outbound/standard-webhooks';
import { type HookName, openSettingSecret } from '../../projects/setting-secrets';
import type { Project } from '../../projects/project';
import type { HookAddress } from '../../projects/settings/hook.setting';

/** Milliseconds: the same limit as for a hook that is a function. */
const TIMEOUT_MS = 5_000;
/** Bytes. */
const MAX_BODY = 64 * 1024;

@Injectable()
export class HookCalls {
  constructor(
    private readonly http: OutboundHttp,
    private readonly clock: Clock,
  ) {}

  /** @param id the event's id, which further attempts repeat @returns the body, a stranger's input @throws Error */
  async call(
    project: Project,
    name: HookName,
    target: HookAddress,
    input: JsonObject,
    id: string = randomUUID(),
  ): Promise<string | null> {
    const body = JSON.stringify(input);
    const message = { id, timestamp: this.clock.nowSeconds(), body };
    const headers = webhookHeaders(openSettingSecret(project, name, target), message);
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BODY };
    const answer = await this.http.send(target.url, { method: 'POST', headers, body }, limits);
    if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    return (await answer.text()) || null;
  }
}
