/** Bodies of the endpoints for mail previews and test mails. */
import { Matches } from 'class-validator';
import { LANGUAGE_TAG } from '../../../common/text/language-tag';
import { MAX_EMAIL } from '../../../identity/email-address';
import { MAIL_KINDS } from '../../mail/mail-kinds';
import * as f from '../../../http/model/fields';
import type { FailedMail } from '../../mail/outgoing-mail';

/** Characters of a part of a template. */
const MAX_TEMPLATE = 200_000;

@f.Example({ kind: 'reset', language: 'en', subject: 'Hello {{ user.name }}' })
export class MailPreviewDto extends f.model({
  kind: f.choice(MAIL_KINDS),
  language: f.optional(
    f.field<string>({ type: String, description: "Default: the project's locale" }, [
      Matches(LANGUAGE_TAG, { message: 'language must be a tag such as de or pt-BR' }),
    ]),
  ),
  subject: f.optional.text("Liquid; default: the project's own subject", { max: MAX_TEMPLATE }),
  text: f.optional.text("Liquid; default: the project's own text", { max: MAX_TEMPLATE }),
  html: f.optional.text("Liquid; default: the project's own HTML", { max: MAX_TEMPLATE }),
}) {}

@f.Example({ kind: 'reset', to: 'ada@example.com', language: 'en' })
export class TestMailDto extends f.model(MailPreviewDto, {
  to: f.text({ min: 1, max: MAX_EMAIL, format: 'email', example: 'ada@example.com' }),
}) {}

export class ListFailedMailsQuery extends f.model({
  limit: f.optional.digits(1, 1_000, 'Default: 100'),
}) {}

const ID = 'k3v9x0a1b2c3d4e5f6g7';

export class FailedMailResponse extends f.model({
  id: f.uuid(),
  kind: f.text('The template: reset, verify, ...', { example: 'reset' }),
  recipient: f.text({ example: 'ada@example.com' }),
  created_at: f.time(),
  attempts: f.whole('Deliveries that failed', { minimum: 0, example: 8 }),
  last_error: f.nullable.text({ example: '550 no such mailbox' }),
}) {}

export class FailedMailsResponse extends f.model({
  mails: f.list(FailedMailResponse),
}) {}

/** An undeliverable mail of any project. */
export class FailedMailDetailResponse extends f.model(FailedMailResponse, {
  project_id: f.text({ example: ID }),
  project_slug: f.text({ example: 'acme' }),
}) {}

export const toFailedMail = ({ id, kind, recipient, ...mail }: FailedMail): FailedMailResponse => ({
  id,
  kind,
  recipient,
  created_at: mail.createdAt,
  attempts: mail.attempts,
  last_error: mail.lastError,
});

export class QueuedMail extends f.model({
  id: f.uuid(),
  queued: f.flag({ example: true }),
}) {}
