/** Responses about what a project does at the moment and did lately, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../../../http/docs/example.decorator';
import { SIZE } from '../../../http/docs/documented-types';
import { SampleRange, STEPS } from '../../samples/sample.repository';

export const RANGES = Object.keys(STEPS) as SampleRange[];

const MS = { type: Number, minimum: 0, nullable: true } as const;

class Sample {
  @ApiProperty({ format: 'date-time', description: 'Start of the interval' }) readonly at!: string;
  @ApiProperty({ ...SIZE, description: 'Requests that finished in the interval, including refused ones' })
  readonly requests!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 400 to 499' }) readonly refused!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 500' }) readonly errors!: number;
  @ApiProperty({ ...MS, description: 'Median duration in milliseconds; an estimate' })
  readonly p50_ms!: number | null;
  @ApiProperty({ ...MS, description: '99th percentile of the duration in milliseconds; an estimate' })
  readonly p99_ms!: number | null;
  @ApiProperty({ ...SIZE, description: 'Bytes of the responses' }) readonly bytes!: number;
  @ApiProperty({
    ...SIZE,
    nullable: true,
    description: 'Bytes of the database; null if they were not measured, as on another server',
  })
  readonly database_bytes!: number | null;
}

@Example({
  range: 'hour',
  step_seconds: 60,
  samples: [
    {
      at: '2026-01-01T08:00:00.000Z',
      requests: 1200,
      refused: 3,
      errors: 0,
      p50_ms: 1.4,
      p99_ms: 12.5,
      bytes: 482_000,
      database_bytes: 9_437_184,
    },
  ],
})
export class ProjectSamples {
  @ApiProperty({ enum: RANGES }) readonly range!: SampleRange;
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Length of a sample in seconds' })
  readonly step_seconds!: number;
  @ApiProperty({ type: [Sample], description: 'Oldest first; intervals without requests are left out' })
  readonly samples!: readonly Sample[];
}
