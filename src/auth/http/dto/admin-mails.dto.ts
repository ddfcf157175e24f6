/** Bodies of the endpoints for mail previews and test mails. */
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { LANGUAGE_TAG } from '../../../common/text/language-tag';
import { Example } from '../../../http/docs/example.decorator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { MAIL_KINDS, type MailKind } from '../../mail/mail-kinds';
import { IsText } from '../../../identity/http/checks';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';
import { WholeNumber } from '../../../http/input/whole-number';
import { UUID_EXAMPLE } from '../../../http/docs/documented-types';

/** Characters of a part of a template. */
const MAX_TEMPLATE = 200_000;

@Example({ kind: 'reset', language: 'en', subject: 'Hello {{ user.name }}' })
export class MailPreviewDto {
  @ApiProperty({ enum: MAIL_KINDS })
  @IsIn(MAIL_KINDS)
  kind!: MailKind;

  @OptionalProperty({ type: String, example: 'de', description: "Default: the project's locale" })
  @Matches(LANGUAGE_TAG, { message: 'language must be a tag such as de or pt-BR' })
  language?: string;

  @OptionalProperty({ description: "Liquid; default: the project's own subject" })
  @IsText({ max: MAX_TEMPLATE })
  subject?: string;

  @OptionalProperty({ description: "Liquid; default: the project's own text" })
  @IsText({ max: MAX_TEMPLATE })
  text?: string;

  @OptionalProperty({ description: "Liquid; default: the project's own HTML" })
  @IsText({ max: MAX_TEMPLATE })
  html?: string;
}

@Example({ kind: 'reset', to: 'ada@example.com', language: 'en' })
export class TestMailDto extends MailPreviewDto {
  @ApiProperty({ format: 'email', maxLength: MAX_EMAIL, example: 'ada@example.com' })
  @IsText({ min: 1, max: MAX_EMAIL })
  to!: string;
}

export class ListFailedMailsQuery {
  @OptionalProperty({ description: 'Default: 100' })
  @WholeNumber(1, 1_000)
  limit?: number;
}

const ID = 'k3v9x0a1b2c3d4e5f6g7';
const CREATED = '2026-01-01T08:00:00.000Z';

/** An undeliverable mail of any project. */
@Example({
  project_id: ID,
  project_slug: 'acme',
  id: UUID_EXAMPLE,
  kind: 'reset',
  recipient: 'ada@example.com',
  created_at: CREATED,
  attempts: 8,
  last_error: '550 no such mailbox',
})
export class FailedMailDetailResponse {
  @ApiProperty() readonly project_id!: string;
  @ApiProperty() readonly project_slug!: string;
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty() readonly kind!: string;
  @ApiProperty() readonly recipient!: string;
  @ApiProperty({ type: String, format: 'date-time' }) readonly created_at!: Date;
  @ApiProperty({ type: 'integer', minimum: 0 }) readonly attempts!: number;
  @ApiProperty({ type: String, nullable: true }) readonly last_error!: string | null;
}

@Example({ id: UUID_EXAMPLE, queued: true })
export class QueuedMail {
  @ApiProperty({ format: 'uuid' }) readonly id!: string;
  @ApiProperty({ example: true }) readonly queued!: boolean;
}
