/** Bodies of the endpoints for mail previews and test mails. */
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { LANGUAGE_TAG } from '../../../common/text/language-tag';
import { Example } from '../../../http/docs/example.decorator';
import { MAX_EMAIL } from '../../../identity/email-address';
import { MAIL_KINDS, type MailKind } from '../../mail/mail-kinds';
import { IsText } from '../../../identity/http/checks';
import { OptionalProperty } from '../../../http/input/optional-property.decorator';

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
