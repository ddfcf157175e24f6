/** Bodies of POST .../realtime/v1/api/broadcast. */
import { invalidParameters } from '../../common/errors/app-error';
import { isJsonObject, isNestedDeeper, type JsonValue } from '../../common/text/json';
import { FREE_OBJECT } from '../../http/docs/documented-types';
import { MAX_FRAME_BYTES, MAX_NESTING, MAX_TOPIC_LENGTH } from '../realtime-limits';
import * as f from '../../http/model/fields';

const MAX_MESSAGES = 100;
const NAME = { type: 'string', minLength: 1, maxLength: MAX_TOPIC_LENGTH } as const;

class BroadcastMessageDto extends f.model({
  topic: f.field<string>({ ...NAME, description: 'The name of the channel' }),
  event: f.field<string>({ ...NAME, description: 'The event that clients listen for' }),
  payload: f.field<JsonValue>({ ...FREE_OBJECT, description: 'JSON of up to 256 KiB' }),
  private: f.optional.flag('The channel is private: policies decide whether the caller may send'),
}) {}

export class BroadcastDto extends f.model({
  messages: f.list(BroadcastMessageDto, 'Sent in this order', {
    maxItems: MAX_MESSAGES,
    example: [{ topic: 'room-1', event: 'moved', payload: { x: 1 }, private: false }],
  }),
}) {}

/** Validates by hand, because class-validator would copy the payloads. @throws AppError 400 for a malformed body */
export function readBroadcast(body: unknown): BroadcastMessageDto[] {
  const messages = isJsonObject(body) ? body.messages : undefined;
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES)
    throw invalidParameters(`messages must be a list of 1 to ${MAX_MESSAGES} messages`);
  return messages.map((message, index) => {
    const { topic, event, payload = null, private: isPrivate } = isJsonObject(message) ? message : {};
    if (!isName(topic) || !isName(event))
      throw invalidParameters(
        `messages.${index}: topic and event must have 1 to ${MAX_TOPIC_LENGTH} characters`,
      );
    if (isPrivate !== undefined && typeof isPrivate !== 'boolean')
      throw invalidParameters(`messages.${index}: private must be a boolean value`);
    return { topic, event, payload: checkedPayload(payload), private: isPrivate === true };
  });
}

export const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_TOPIC_LENGTH;

/** @throws AppError 400 for a payload that is too large or too deeply nested */
export function checkedPayload(payload: JsonValue): JsonValue {
  const text = JSON.stringify(payload);
  if (Buffer.byteLength(text) > MAX_FRAME_BYTES)
    throw invalidParameters(`A payload may have at most ${MAX_FRAME_BYTES} bytes`);
  if (isNestedDeeper(text, MAX_NESTING))
    throw invalidParameters(`A payload may have at most ${MAX_NESTING} levels`);
  return payload;
}
