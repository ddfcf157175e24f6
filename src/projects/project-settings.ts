/** What a project may configure (DECISIONS.md 2, 4, 5, 6), with defaults. Stored sparse: only what was set. */
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  NotContains,
  NotEquals,
  ValidateIf,
} from 'class-validator';

const DAY = 86_400;

/** Null takes a setting back to its default. */
const Optional = (): PropertyDecorator =>
  ValidateIf((_object, value) => value !== undefined && value !== null);

/** A sparse set of settings as the admin API takes it. */
export class ProjectSettingsInput {
  /** Turns row-level security on for new tables in `public`. */
  @Optional() @IsBoolean() auto_rls?: boolean | null;

  /** Schemas of the table REST; the first is the default one. */
  @Optional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  @Matches(/^(?!(auth|pg_.*|information_schema)$)[^\0]{1,63}$/, {
    each: true,
    message: 'exposed_schemas must name schemas other than auth and the system ones',
  })
  exposed_schemas?: string[] | null;

  /** Rows that one table REST answer holds at the most. */
  @Optional() @IsInt() @Min(1) max_rows?: number | null;

  /** Milliseconds a statement of a table REST or storage request may run. */
  @Optional() @IsInt() @Min(1) @Max(3_600_000) statement_timeout?: number | null;

  /** A function that runs before each table REST request, `schema.name` or `name`. */
  @Optional() @IsString() @MaxLength(127) pre_request?: string | null;

  @Optional()
  @IsArray()
  @ArrayMaxSize(50)
  @IsString({ each: true })
  @NotEquals('auth', { each: true })
  extra_search_path?: string[] | null;

  /** Serves application/vnd.pgrst.plan. */
  @Optional() @IsBoolean() plan_enabled?: boolean | null;

  @Optional() @IsBoolean() signup_enabled?: boolean | null;

  /** A sign-in needs a verified e-mail address. */
  @Optional() @IsBoolean() email_verification_required?: boolean | null;

  /** Seconds. */
  @Optional() @IsInt() @Min(60) @Max(DAY) access_token_lifetime?: number | null;

  /** Seconds without a refresh after which a session ends. */
  @Optional() @IsInt() @Min(300) @Max(365 * DAY) refresh_token_lifetime?: number | null;

  /** Never below 6 (SPEC.md 8). */
  @Optional() @IsInt() @Min(6) @Max(72) password_min_length?: number | null;

  /** New passwords must not be among the most common ones. */
  @Optional() @IsBoolean() refuse_common_passwords?: boolean | null;

  /** Previews show PDF files in the browser instead of offering them for saving. */
  @Optional() @IsBoolean() preview_pdf_inline?: boolean | null;

  /** Only these domains may sign up; empty: any. */
  @Optional()
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsString({ each: true })
  @NotContains('@', { each: true })
  allowed_email_domains?: string[] | null;

  /** Page that the reset mail links to, with `?token=` added; default: Plinth's own page. */
  @Optional()
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] })
  reset_redirect_url?: string | null;

  /** Page that the verification mail links to. */
  @Optional()
  @IsUrl({ require_tld: false, require_protocol: true, protocols: ['http', 'https'] })
  verify_redirect_url?: string | null;

  /** Mail templates by kind: {subject, text, html}. Checked by the mail renderer. */
  @Optional() @IsObject() mail_templates?: Record<
    string,
    { subject?: string; text?: string; html?: string }
  > | null;

  /** Overrides the plan's storage rate. */
  @Optional() @IsInt() @Min(1) @Max(10_000_000) storage_requests_per_minute?: number | null;

  /** Bytes; a bucket may set less, the install's MAX_FILE_SIZE is the ceiling. */
  @Optional() @IsInt() @Min(1) max_file_size?: number | null;

  /** Bytes of all files together; default: the plan's. */
  @Optional() @IsInt() @Min(1) @Max(Number.MAX_SAFE_INTEGER) storage_quota_bytes?: number | null;

  /** Number of files; default: the plan's. */
  @Optional() @IsInt() @Min(1) @Max(Number.MAX_SAFE_INTEGER) storage_quota_files?: number | null;

  @IsOptional() @IsString() @MaxLength(10) locale?: string | null;
}

export interface ProjectSettings {
  readonly auto_rls: boolean;
  readonly exposed_schemas: readonly string[];
  readonly max_rows: number | null;
  readonly statement_timeout: number;
  readonly pre_request: string | null;
  readonly extra_search_path: readonly string[];
  readonly plan_enabled: boolean;
  readonly signup_enabled: boolean;
  readonly email_verification_required: boolean;
  readonly access_token_lifetime: number;
  readonly refresh_token_lifetime: number;
  readonly password_min_length: number;
  readonly refuse_common_passwords: boolean;
  readonly preview_pdf_inline: boolean;
  readonly allowed_email_domains: readonly string[];
  readonly reset_redirect_url: string | null;
  readonly verify_redirect_url: string | null;
  readonly mail_templates: Readonly<Record<string, { subject?: string; text?: string; html?: string }>>;
  readonly storage_requests_per_minute: number | null;
  readonly max_file_size: number | null;
  readonly storage_quota_bytes: number | null;
  readonly storage_quota_files: number | null;
  readonly locale: string;
}

export const DEFAULT_SETTINGS: ProjectSettings = Object.freeze({
  auto_rls: true,
  exposed_schemas: ['public'],
  max_rows: null,
  statement_timeout: 30_000,
  pre_request: null,
  extra_search_path: ['public', 'extensions'],
  plan_enabled: false,
  signup_enabled: true,
  email_verification_required: false,
  access_token_lifetime: 3_600,
  refresh_token_lifetime: 30 * DAY,
  password_min_length: 6,
  refuse_common_passwords: false,
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
