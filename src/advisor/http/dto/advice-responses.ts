/** The advisor's responses, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { Severity, SEVERITIES } from '../../advice-check';
import { type Reason, REASONS } from '../../reasons';
import { CHECK_NAMES, SkippedCheck } from '../../advisor.service';

class DismissalResponse {
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
  @ApiProperty({ example: 'platform-admin' }) readonly actor!: string;
}

class AdviceResponse {
  @ApiProperty({
    example: 'rls_off-4a5b0c3f9d2e1a77',
    description: 'Stable while the same problem persists with the same object',
  })
  readonly id!: string;
  @ApiProperty({ enum: CHECK_NAMES }) readonly check!: string;
  @ApiProperty({
    enum: SEVERITIES,
    description:
      '`critical`: data is exposed, or writes will soon fail. `warning`: should be fixed. `info`: may be intended.',
  })
  readonly severity!: Severity;
  @ApiProperty({ type: [String], description: 'The object: schema and name, then what belongs to it' })
  readonly object!: readonly string[];
  @ApiProperty({ description: 'What is wrong and what it leads to' }) readonly why!: string;
  @ApiProperty({ enum: Object.keys(REASONS), description: 'The text of `why`, for translations' })
  readonly reason!: Reason;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The values in `why`',
  })
  readonly values!: Readonly<Record<string, string>>;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'SQL that fixes it, to be run as the owner. Review it first; each statement needs its own call. Null if the fix requires a decision.',
  })
  readonly sql!: string | null;
  @ApiProperty({ type: DismissalResponse, nullable: true, description: 'Null unless it was dismissed' })
  readonly dismissed!: DismissalResponse | null;
}

class SkippedResponse implements SkippedCheck {
  @ApiProperty({ enum: CHECK_NAMES }) readonly check!: string;
  @ApiProperty() readonly reason!: string;
}

@Example({
  advice: [
    {
      id: 'rls_off-4a5b0c3f9d2e1a77',
      check: 'rls_off',
      severity: 'critical',
      object: ['public', 'notes'],
      why: 'Row-level security is off, and client roles have privileges on the table: everybody with the anon key can read or write its rows.',
      reason: 'rls_off_open',
      values: {},
      sql: 'alter table "public"."notes" enable row level security;',
      dismissed: { at: '2026-01-31T12:00:00.000Z', actor: 'ada@example.com' },
    },
  ],
  skipped: [],
  truncated: [],
})
export class ProjectAdvice {
  @ApiProperty({ type: [AdviceResponse], description: 'The most severe first; dismissed advice is included' })
  readonly advice!: readonly AdviceResponse[];
  @ApiProperty({ type: [SkippedResponse], description: 'Checks that failed, or took too long' })
  readonly skipped!: readonly SkippedResponse[];
  @ApiProperty({ type: [String], description: 'Checks with more than the 50 findings they report' })
  readonly truncated!: readonly string[];
}

@Example({ id: 'rls_off-4a5b0c3f9d2e1a77', dismissed: true })
export class AdviceDismissed {
  @ApiProperty() readonly id!: string;
  @ApiProperty({ description: 'The current state' }) readonly dismissed!: boolean;
}
