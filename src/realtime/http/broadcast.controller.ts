/** Broadcasts over HTTP, for senders without a WebSocket. */
import {
  applyDecorators,
  Controller,
  Param,
  Post,
  Query,
  Req,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { ApiBody, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { invalidCredentials, missingApiKey } from '../../access/access.errors';
import type { Caller } from '../../access/caller';
import { CurrentCaller } from '../../access/current-caller.decorator';
import { AppError, databaseUnreachable, invalidParameters } from '../../common/errors/app-error';
import type { JsonValue } from '../../common/text/json';
import { JsonBodyInterceptor } from '../../http/bodies/json-body.interceptor';
import { documentHandlers } from '../../http/docs/controller-docs';
import { ErrorDocs } from '../../http/docs/error-docs';
import { Answer, Describe, Errors, JSON_BODY, JsonBody } from '../../http/docs/operation.decorators';
import * as f from '../../http/model/fields';
import { projectNotFound } from '../../projects/projects.errors';
import { ChannelBroadcast } from '../channel-broadcast.service';
import { ChannelRightsRepository } from '../channel-rights.repository';
import { BroadcastDto, checkedPayload, isName, readBroadcast } from './broadcast.dto';
import { PayloadBodyInterceptor } from './payload-body.interceptor';
import { realtimeErrorBody } from './realtime-error.renderer';
import { RealtimeGuard } from './realtime.guard';

const DOCS = new ErrorDocs({
  name: 'RealtimeError',
  bodyOf: realtimeErrorBody,
  codeOf: ({ code }) => code,
  schemaOf: (_status, codes) => ({
    type: 'object',
    additionalProperties: false,
    required: ['message', 'code'],
    properties: {
      message: { type: 'string', description: 'Human-readable reason' },
      code: { type: 'string', enum: codes as string[] },
    },
  }),
});

const channelForbidden = (topic: string): AppError =>
  new AppError(403, 'forbidden', `You may not send to the private channel ${topic}`);

/** Documents a payload that is the whole body. */
const PayloadBody = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(JSON_BODY, true),
    ApiBody({
      required: true,
      // Documented like a column of type jsonb: any JSON.
      schema: { type: 'object', additionalProperties: { 'x-postgres-type': 'jsonb' } as object },
      examples: { example: { summary: 'Example', value: { x: 1 } } },
    }),
  );

class BroadcastQuery extends f.model({
  private: f.optional.choice(['true', 'false'], 'The channel is private'),
}) {}

@ApiTags('realtime')
@ApiSecurity({ apikey: [], bearer: [] })
@UseGuards(RealtimeGuard)
@documentHandlers(() => ({
  docs: DOCS,
  errors: [
    invalidCredentials(),
    missingApiKey(),
    channelForbidden('room-1'),
    projectNotFound(),
    databaseUnreachable(),
  ],
}))
@Controller('p/:project_slug/realtime/v1/api/broadcast')
export class BroadcastController {
  constructor(
    private readonly broadcasts: ChannelBroadcast,
    private readonly rights: ChannelRightsRepository,
  ) {}

  @Post()
  @UseInterceptors(JsonBodyInterceptor)
  @Describe(`Send messages to channels
    Clients that have joined get them, as if a member of the channel had sent them. Nothing is sent if one message is refused.`)
  @JsonBody(BroadcastDto)
  @Answer(202, 'The messages were sent')
  @Errors(invalidParameters('messages must be a list of 1 to 100 messages'))
  async sendBroadcasts(@CurrentCaller() caller: Caller, @Req() request: Request): Promise<void> {
    const messages = readBroadcast(request.body);
    const topics = new Set(messages.filter((message) => message.private).map(({ topic }) => topic));
    for (const topic of topics) await this.assertMaySend(caller, topic);
    for (const { topic, event, payload, private: isPrivate = false } of messages)
      this.send(caller, topic, event, payload, isPrivate);
  }

  @Post(':topic/events/:event')
  @Describe(`Send one message to a channel
    The body is its payload: JSON, or bytes, which clients of protocol 2.0.0 get.`)
  @UseInterceptors(PayloadBodyInterceptor)
  @PayloadBody()
  @Answer(202, 'The message was sent')
  @Errors(invalidParameters('topic and event must have 1 to 255 characters'))
  async sendBroadcast(
    @CurrentCaller() caller: Caller,
    @Param('topic') topic: string,
    @Param('event') event: string,
    @Query() query: BroadcastQuery,
    @Req() request: Request,
  ): Promise<void> {
    if (!isName(topic) || !isName(event))
      throw invalidParameters('topic and event must have 1 to 255 characters');
    const body = request.body as JsonValue | Buffer;
    const payload = Buffer.isBuffer(body) ? body : checkedPayload(body);
    const isPrivate = query.private === 'true';
    if (isPrivate) await this.assertMaySend(caller, topic);
    this.send(caller, topic, event, payload, isPrivate);
  }

  private send(
    { project }: Caller,
    name: string,
    event: string,
    payload: JsonValue | Buffer,
    isPrivate: boolean,
  ): void {
    this.broadcasts.send({ projectId: project.id, name, isPrivate, event, payload });
  }

  /** @throws AppError 403 if a policy does not let the caller send */
  private async assertMaySend(caller: Caller, topic: string): Promise<void> {
    const { sendBroadcast } = await this.rights.find(caller, topic);
    if (!sendBroadcast) throw channelForbidden(topic);
  }
}
