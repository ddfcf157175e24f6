/** Responses about what a project does at the moment and did lately, as types and as OpenAPI schemas. */
import { ApiProperty } from '@nestjs/swagger';
import { Example } from '../http/docs/example.decorator';
import { SIZE } from '../http/docs/documented-types';
import { SampleRange, STEPS } from '../observe/samples/sample.repository';

export const RANGES = Object.keys(STEPS) as SampleRange[];

const MS = { type: Number, minimum: 0, nullable: true } as const;

class Sample {
  @ApiProperty({ format: 'date-time', description: 'The beginning of its time' }) readonly at!: string;
  @ApiProperty({ ...SIZE, description: 'Requests that ended in this time, refused ones included' })
  readonly requests!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 400 to 499' }) readonly refused!: number;
  @ApiProperty({ ...SIZE, description: 'Those with a status from 500' }) readonly errors!: number;
  @ApiProperty({ ...MS, description: 'Milliseconds that half of the requests took at most; an estimate' })
  readonly p50_ms!: number | null;
  @ApiProperty({ ...MS, description: 'Milliseconds that 99 of 100 requests took at most; an estimate' })
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
  @ApiProperty({ type: 'integer', minimum: 1, description: 'Seconds of each sample' })
  readonly step_seconds!: number;
  @ApiProperty({ type: [Sample], description: 'Oldest first; times without a request have none' })
  readonly samples!: readonly Sample[];
}
