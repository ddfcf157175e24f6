/** What a project may configure (DECISIONS.md 2, 4, 5, 6), with defaults. Stored sparse: only what was set. */
import { ApiProperty } from '@nestjs/swagger';
import { ArrayNotEmpty, IsIn, IsObject, Matches, NotContains, NotEquals, ValidateBy } from 'class-validator';
import { isJsonObject } from '../common/text/json';
import { LANGUAGE_TAG } from '../common/text/language-tag';
import {
  FlagSetting,
  IntegerSetting,
  ListSetting,
  OptionalSetting,
  TextSetting,
  UrlSetting,
} from './setting.decorators';

const DAY = 86_400;

/** Nobody's; those of users who have set up a second factor; everybody's. */
export const SECOND_FACTOR_RULES = ['never', 'enrolled', 'always'] as const;
export type SecondFactorRule = (typeof SECOND_FACTOR_RULES)[number];

/** Templates of mails by kind. */
export const MAIL_TEMPLATES_SCHEMA = {
  type: 'object',
  additionalProperties: {
    type: 'object',
    properties: { subject: { type: 'string' }, text: { type: 'string' }, html: { type: 'string' } },
  },
} as const;

const LONGEST_TIMEOUT = 3_600_000;
const MOST_ROLES = 50;

/** Milliseconds by role. */
export const TIMEOUTS_SCHEMA = {
  type: 'object',
  maxProperties: MOST_ROLES,
  additionalProperties: { type: 'integer', minimum: 1, maximum: LONGEST_TIMEOUT },
} as const;

function isTimeoutByRole(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const timeouts = Object.values(value);
  const isTimeout = (each: unknown): boolean =>
    Number.isInteger(each) && Number(each) >= 1 && Number(each) <= LONGEST_TIMEOUT;
  return timeouts.length <= MOST_ROLES && timeouts.every(isTimeout);
}

/** A sparse set of settings as the admin API takes it. */
export class ProjectSettingsInput {
  @FlagSetting('Turns row-level security on for new tables in `public`')
  auto_rls?: boolean | null;

  @ListSetting('Schemas of the table REST; the first is the default one', 50, { minItems: 1 })
  @ArrayNotEmpty()
  @Matches(/^(?!(auth|pg_.*|information_schema)$)[^\0]{1,63}$/, {
    each: true,
    message: 'exposed_schemas must name schemas other than auth and the system ones',
  })
  exposed_schemas?: string[] | null;

  @IntegerSetting('Rows that one table REST answer holds at the most', 1)
  max_rows?: number | null;

  @IntegerSetting('Milliseconds a statement of a table REST or storage request may run', 1, LONGEST_TIMEOUT)
  statement_timeout?: number | null;

  @OptionalSetting('The same for requests that run as a role, by its name', TIMEOUTS_SCHEMA)
  @ValidateBy({
    name: 'isTimeoutByRole',
    validator: {
      validate: isTimeoutByRole,
      defaultMessage: () =>
        'role_statement_timeouts must give at most 50 roles an integer from 1 to 3600000 each',
    },
  })
  role_statement_timeouts?: Record<string, number> | null;

  @TextSetting('A function that runs before each table REST request: `schema.name` or `name`', 127)
  pre_request?: string | null;

  @ListSetting('Added to the search path of requests', 50)
  @NotEquals('auth', { each: true })
  extra_search_path?: string[] | null;

  @FlagSetting('Serves application/vnd.pgrst.plan')
  plan_enabled?: boolean | null;

  @FlagSetting('Anybody may sign up')
  signup_enabled?: boolean | null;

  @FlagSetting('A sign-in needs a verified e-mail address')
  email_verification_required?: boolean | null;

  @IntegerSetting('Seconds', 60, DAY)
  access_token_lifetime?: number | null;

  @IntegerSetting('Seconds without a refresh after which a session ends', 300, 365 * DAY)
  refresh_token_lifetime?: number | null;

  // Never below 6 (SPEC.md 8).
  @IntegerSetting('Characters of a password', 6, 72)
  password_min_length?: number | null;

  @FlagSetting('New passwords must not be among the most common ones')
  refuse_common_passwords?: boolean | null;

  @OptionalSetting('Whose sessions of one factor are refused by table REST and storage', {
    enum: SECOND_FACTOR_RULES,
  })
  @IsIn(SECOND_FACTOR_RULES)
  mfa_required?: SecondFactorRule | null;

  @FlagSetting('Previews show PDF files in the browser instead of offering them for saving')
  preview_pdf_inline?: boolean | null;

  @ListSetting('Only these domains may sign up; empty: any', 1_000)
  @NotContains('@', { each: true })
  allowed_email_domains?: string[] | null;

  @UrlSetting("Page that the reset mail links to, with `?token=` added; default: Plinth's own page")
  reset_redirect_url?: string | null;

  @UrlSetting('Page that the verification mail links to')
  verify_redirect_url?: string | null;

  // Looked into by MailTemplateCheck.
  @OptionalSetting('Mail templates by kind', MAIL_TEMPLATES_SCHEMA)
  @IsObject()
  mail_templates?: Record<string, { subject?: string; text?: string; html?: string }> | null;

  @IntegerSetting("Overrides the plan's storage rate", 1, 10_000_000)
  storage_requests_per_minute?: number | null;

  @IntegerSetting("Bytes; a bucket may set less, the install's MAX_FILE_SIZE is the ceiling", 1)
  max_file_size?: number | null;

  @IntegerSetting('Bytes of all files together; default: no limit', 1)
  storage_quota_bytes?: number | null;

  @IntegerSetting('Number of files; default: no limit', 1)
  storage_quota_files?: number | null;

  @TextSetting('Language of mails to who states no preference: a tag such as `de` or `pt-BR`', 30)
  @Matches(LANGUAGE_TAG, { message: 'locale must be a language tag such as de or pt-BR' })
  locale?: string | null;
}

/** All settings, defaults filled in. */
export class ProjectSettings {
  @ApiProperty() readonly auto_rls!: boolean;
  @ApiProperty({ type: [String] }) readonly exposed_schemas!: readonly string[];
  @ApiProperty({ type: 'integer', format: 'int64', nullable: true }) readonly max_rows!: number | null;
  @ApiProperty({ type: 'integer' }) readonly statement_timeout!: number;
  @ApiProperty(TIMEOUTS_SCHEMA) readonly role_statement_timeouts!: Readonly<Record<string, number>>;
  @ApiProperty({ type: String, nullable: true }) readonly pre_request!: string | null;
  @ApiProperty({ type: [String] }) readonly extra_search_path!: readonly string[];
  @ApiProperty() readonly plan_enabled!: boolean;
  @ApiProperty() readonly signup_enabled!: boolean;
  @ApiProperty() readonly email_verification_required!: boolean;
  @ApiProperty({ type: 'integer' }) readonly access_token_lifetime!: number;
  @ApiProperty({ type: 'integer' }) readonly refresh_token_lifetime!: number;
  @ApiProperty({ type: 'integer' }) readonly password_min_length!: number;
  @ApiProperty() readonly refuse_common_passwords!: boolean;
  @ApiProperty({ enum: SECOND_FACTOR_RULES }) readonly mfa_required!: SecondFactorRule;
  @ApiProperty() readonly preview_pdf_inline!: boolean;
  @ApiProperty({ type: [String] }) readonly allowed_email_domains!: readonly string[];
  @ApiProperty({ type: String, nullable: true }) readonly reset_redirect_url!: string | null;
  @ApiProperty({ type: String, nullable: true }) readonly verify_redirect_url!: string | null;
  @ApiProperty(MAIL_TEMPLATES_SCHEMA) readonly mail_templates!: Readonly<
    Record<string, { subject?: string; text?: string; html?: string }>
  >;
  @ApiProperty({ type: 'integer', nullable: true }) readonly storage_requests_per_minute!: number | null;
  @ApiProperty({ type: 'integer', format: 'int64', nullable: true }) readonly max_file_size!: number | null;
  @ApiProperty({ type: 'integer', format: 'int64', nullable: true }) readonly storage_quota_bytes!:
    number | null;
  @ApiProperty({ type: 'integer', format: 'int64', nullable: true }) readonly storage_quota_files!:
    number | null;
  @ApiProperty() readonly locale!: string;
}

export const DEFAULT_SETTINGS: ProjectSettings = Object.freeze({
  auto_rls: true,
  exposed_schemas: ['public'],
  max_rows: null,
  statement_timeout: 30_000,
  role_statement_timeouts: {},
  pre_request: null,
  extra_search_path: ['public', 'extensions'],
  plan_enabled: false,
  signup_enabled: true,
  email_verification_required: false,
  access_token_lifetime: 3_600,
  refresh_token_lifetime: 30 * DAY,
  password_min_length: 6,
  refuse_common_passwords: false,
  mfa_required: 'enrolled',
  preview_pdf_inline: false,
  allowed_email_domains: [],
  reset_redirect_url: null,
  verify_redirect_url: null,
  mail_templates: {},
  storage_requests_per_minute: null,
  max_file_size: null,
  storage_quota_bytes: null,
  storage_quota_files: null,
  locale: 'en',
});

/** Milliseconds a statement of a request may run that runs as a role. */
export function statementTimeout(settings: ProjectSettings, role: string): number {
  const { role_statement_timeouts: byRole, statement_timeout: otherwise } = settings;
  return Object.hasOwn(byRole, role) ? (byRole[role] as number) : otherwise;
}

/** Fills the gaps of stored settings with the defaults. */
export function effectiveSettings(stored: ProjectSettingsInput): ProjectSettings {
  const set = Object.entries(stored).filter(([, value]) => value !== null && value !== undefined);
  return Object.freeze({ ...DEFAULT_SETTINGS, ...Object.fromEntries(set) });
}

/** Applies a sparse change: null removes a setting. */
export function mergeSettings(
  stored: ProjectSettingsInput,
  change: ProjectSettingsInput,
): ProjectSettingsInput {
  const merged = Object.entries({ ...stored, ...definedOnly(change) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

function definedOnly(change: ProjectSettingsInput): ProjectSettingsInput {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}
