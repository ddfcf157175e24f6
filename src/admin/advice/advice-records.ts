/** The advisor's responses, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../http/docs/example.decorator';
import { Severity, SEVERITIES } from './advice-check';
import { CHECK_NAMES, SkippedCheck } from './advisor.service';

class DismissalRecord {
  @ApiProperty({ format: 'date-time' }) readonly at!: string;
  @ApiProperty({ example: 'platform-admin' }) readonly actor!: string;
}

class AdviceRecord {
  @ApiProperty({
    example: 'rls_off-4a5b0c3f9d2e1a77',
    description: 'The same as long as the same is found about the same object',
  })
  readonly id!: string;
  @ApiProperty({ enum: CHECK_NAMES }) readonly check!: string;
  @ApiProperty({
    enum: SEVERITIES,
    description:
      '`critical`: data is open, or writes will soon fail. `warning`: mend it. `info`: look at it, it may be right.',
  })
  readonly severity!: Severity;
  @ApiProperty({ type: [String], description: 'The object: schema and name, then what belongs to it' })
  readonly object!: readonly string[];
  @ApiProperty({ description: 'What is wrong and what it causes' }) readonly why!: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'SQL for the owner that mends it. Read it before you run it; each statement needs a call of its own. Null where that takes a decision.',
  })
  readonly sql!: string | null;
  @ApiProperty({ type: DismissalRecord, nullable: true, description: 'Null unless it was dismissed' })
  readonly dismissed!: DismissalRecord | null;
}

class SkippedRecord implements SkippedCheck {
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
      sql: 'alter table "public"."notes" enable row level security;',
      dismissed: { at: '2026-01-31T12:00:00.000Z', actor: 'ada@example.com' },
    },
  ],
  skipped: [],
  truncated: [],
})
export class ProjectAdvice {
  @ApiProperty({ type: [AdviceRecord], description: 'The most severe first; dismissed advice is included' })
  readonly advice!: readonly AdviceRecord[];
  @ApiProperty({ type: [SkippedRecord], description: 'Checks that failed, or took too long' })
  readonly skipped!: readonly SkippedRecord[];
  @ApiProperty({ type: [String], description: 'Checks that found more than the 50 that they report' })
  readonly truncated!: readonly string[];
}

@Example({ id: 'rls_off-4a5b0c3f9d2e1a77', dismissed: true })
export class AdviceDismissed {
  @ApiProperty() readonly id!: string;
  @ApiProperty({ description: 'The present state' }) readonly dismissed!: boolean;
}
