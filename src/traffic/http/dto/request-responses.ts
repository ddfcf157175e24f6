/** Responses about the current and recent requests of a project, as types and as OpenAPI schemas. */
import { SampleRange, STEPS } from '../../samples/sample.repository';
import * as f from '../../../http/model/fields';

export const RANGES = Object.keys(STEPS) as SampleRange[];

class Sample extends f.model({
  at: f.timeText('Start of the interval'),
  requests: f.size('Requests that finished in the interval, including refused ones'),
  refused: f.size('Those with a status from 400 to 499'),
  errors: f.size('Those with a status from 500'),
  p50_ms: f.nullable.number('Median duration in milliseconds; an estimate', { minimum: 0, example: 12.5 }),
  p99_ms: f.nullable.number('99th percentile of the duration in milliseconds; an estimate', {
    minimum: 0,
    example: 12.5,
  }),
  bytes: f.size('Bytes of the responses'),
  database_bytes: f.nullable.size(
    'Bytes of the database; null if they were not measured, as on another server',
  ),
}) {}

export class ProjectSamples extends f.model({
  range: f.choice(RANGES, { example: 'hour' }),
  step_seconds: f.whole('Length of a sample in seconds', { minimum: 1, example: 60 }),
  samples: f.list(Sample, 'Oldest first; intervals without requests are left out'),
}) {}
